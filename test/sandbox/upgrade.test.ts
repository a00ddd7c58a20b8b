import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turnOfTheLoop, setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { afterDisconnect, openSocket, rejectedUpgrade, stream } from './webSockets.js';
import { creation, tail } from './requests.js';
import { connectTo, get, post, sandboxWith, send } from './client.js';
import { stopClock, until } from '../helpers/time.js';

const protocol = 'daml.ws.auth';

/** Sends the text of a request over a TCP connection, and returns all that is received until the server closes it. */
async function raw(sandbox: Sandbox, ...lines: readonly string[]): Promise<string> {
  const socket = connectTo(sandbox);
  socket.write(lines.join('\r\n'));
  return text(socket);
}

describe('an upgrade', () => {
  it('gets the one subprotocol, offered or not', async () => {
    const sandbox = await sandboxWith();
    const client = await stream(sandbox, undefined, { protocols: ['other', protocol] });
    expect(client.socket.protocol).toBe(protocol);
    const bare = openSocket(sandbox, { protocols: [] });
    const [error] = (await once(bare, 'error')) as [Error];
    expect(error.message).toBe('Server sent a subprotocol but none was requested');
  });

  it.each([
    ['an unknown path', '/v2/nothing', {}, 404],
    ['a path that is no stream', '/v2/state/ledger-end', {}, 200],
    ['a path for POST alone', '/v2/updates/update-by-id', {}, 405],
    ['a path that the interface has not', '/v2/updates', { interfaceOnly: true }, 404],
    ['a path that 3.7 has removed', '/v2/updates/flats', { profile: '3.7' as const }, 404],
    ['the one path of updates in the interface', '/v2/updates/flats', { interfaceOnly: true }, 405],
  ])('of %s is ignored, and the request is served', async (_, path, options, status) => {
    const sandbox = await sandboxWith(options);
    const plain = await get(sandbox, path);
    expect(await rejectedUpgrade(sandbox, { path })).toMatchObject({ status, type: plain.type, text: plain.text });
    expect(sandbox.requests).toMatchObject([{ method: 'GET', path, status }, { status }]);
  });

  it('is required for a stream', async () => {
    const sandbox = await sandboxWith();
    for (const path of ['/v2/updates', '/v2/updates/flats']) {
      const expected = { status: 400, type: 'text/plain; charset=UTF-8', text: 'Expected WebSocket Upgrade request' };
      expect(await get(sandbox, path)).toMatchObject(expected);
      expect(await send(sandbox, path, { method: 'PUT' })).toMatchObject({ status: 405 });
    }
    const keyless = ['GET /v2/updates HTTP/1.1', 'Host: x', 'Connection: upgrade, close', 'Upgrade: websocket', '', ''];
    expect(await raw(sandbox, ...keyless)).toMatch(/^HTTP\/1.1 400 [^]*Expected WebSocket Upgrade request$/);
  });

  it('with invalid subprotocols is rejected', async () => {
    const sandbox = await sandboxWith();
    const key = Buffer.alloc(16).toString('base64');
    const lines = ['GET /v2/updates HTTP/1.1', 'Host: x', 'Connection: upgrade', 'Upgrade: websocket'];
    const rest = ['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Protocol: a,,b', '', ''];
    expect(await raw(sandbox, ...lines, ...rest)).toMatch(/^HTTP\/1.1 400 /);
    expect(sandbox.requests).toMatchObject([{ status: 400, aborted: false }]);
  });

  it('to another protocol is ignored, and the request and the next one are served with their bodies', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    const { port } = new URL(sandbox.url);
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    const body = JSON.stringify({ ...tail, endInclusive: 1, note: 'ü'.repeat(100_000) });
    for (let sent = 0; sent < 2; sent++) {
      const asking = request({ port, host: '127.0.0.1', path: '/v2/updates?limit=1', method: 'POST', headers });
      asking.end(body);
      const [response] = (await once(asking, 'response')) as [NodeJS.ReadableStream & { readonly statusCode: number }];
      expect(response.statusCode).toBe(200);
      expect(JSON.parse(await text(response))).toHaveLength(1);
    }
    const both = ['GET /v2/state/ledger-end HTTP/1.1', 'Host: x', 'Connection: upgrade', 'Upgrade: h2c', '', ''];
    const last = ['GET /v2/version HTTP/1.1', 'Host: x', 'Connection: close', '', ''];
    expect(await raw(sandbox, ...both, ...last)).toMatch(/^HTTP\/1.1 200 [^]*{"offset":1}HTTP\/1.1 200 [^]*"version"/);
  });
});

describe('the token of a WebSocket', () => {
  const options = { checkToken: (token: string | undefined) => token === 'good' };
  const refused = { code: 'NA', errorCategory: -1, grpcCodeValue: 16 };

  it.each([
    ['as a bearer', { headers: { authorization: 'Bearer good' } }],
    ['in the first subprotocol', { protocols: ['jwt.token.good', protocol] }],
    ['as a bearer, which wins', { headers: { authorization: 'Bearer good' }, protocols: ['jwt.token.bad', protocol] }],
  ])('is read %s', async (_, how) => {
    const sandbox = await sandboxWith(options);
    sandbox.append(creation());
    const client = await stream(sandbox, tail, how);
    expect(await client.received(1)).toMatchObject([{ update: {} }]);
    expect(client.socket.protocol).toBe(protocol);
    expect(sandbox.requests).toMatchObject([{ authorized: true, status: 101 }]);
    expect(JSON.stringify(sandbox.requests)).not.toContain('good');
  });

  it.each([
    ['is missing', {}, false],
    ['is not good', { headers: { authorization: 'Bearer bad' } }, true],
    ['is not in the first subprotocol', { protocols: [protocol, 'jwt.token.good'] }, false],
    [
      'is beaten by a bearer',
      { headers: { authorization: 'Bearer bad' }, protocols: ['jwt.token.good', protocol] },
      true,
    ],
  ])('that %s is rejected by the only message, as over HTTP', async (_, how, authorized) => {
    const sandbox = await sandboxWith(options);
    const client = await stream(sandbox, tail, how);
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([refused]);
    expect(sandbox.requests).toMatchObject([{ authorized, status: 101, aborted: false }]);
    const { json } = await post(sandbox, '/v2/updates', tail);
    expect(client.messages).toEqual([{ ...Object(json), traceId: expect.any(String) } as unknown]);
  });

  it('may be rejected by a 401 to the upgrade', async () => {
    const sandbox = await sandboxWith({ ...options, webSocketRefusal: 'handshake' });
    const answer = await rejectedUpgrade(sandbox, { protocols: ['jwt.token.bad', protocol] });
    expect(answer).toMatchObject({ status: 401, type: 'application/json' });
    expect(JSON.parse(answer.text)).toMatchObject(refused);
    expect(sandbox.requests).toMatchObject([{ authorized: true, status: 401, aborted: false }]);
    const client = await stream(sandbox, undefined, { protocols: ['jwt.token.good', protocol] });
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  it('that is empty is a 400', async () => {
    const sandbox = await sandboxWith();
    const answer = await rejectedUpgrade(sandbox, { headers: { authorization: 'Bearer ' } });
    expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=UTF-8' });
  });

  it('that expires ends the stream before the next element, which is not sent', async () => {
    let expired = false;
    const sandbox = await sandboxWith({ checkToken: () => !expired, earlyCheckpointMs: false });
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await client.received(1);
    expired = true;
    client.socket.ping();
    await once(client.socket, 'pong');
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    sandbox.append(creation());
    expect(await client.closed).toBe(1000);
    expect(client.messages.slice(1)).toMatchObject([
      { code: 'ACCESS_TOKEN_EXPIRED', cause: 'JWT token has expired', errorCategory: 2, grpcCodeValue: 10 },
    ]);
  });

  it('that expires is noticed before a checkpoint too', async () => {
    const clock = stopClock();
    let expired = false;
    const sandbox = await sandboxWith({ checkToken: () => !expired, earlyCheckpointMs: 500 });
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await client.received(1);
    expired = true;
    await clock.hasTimer();
    await clock.advance(500);
    expect(await client.closed).toBe(1000);
    expect(client.messages.slice(1)).toMatchObject([{ code: 'ACCESS_TOKEN_EXPIRED' }]);
  });
});

describe('an idle WebSocket', () => {
  it('is disconnected, with or without a request', async () => {
    const sandbox = await sandboxWith({ webSocketIdleMs: 60, earlyCheckpointMs: false });
    const before = Date.now();
    const clients = await Promise.all([stream(sandbox, tail), stream(sandbox, undefined)]);
    expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual([1006, 1006]);
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
    await afterDisconnect();
    expect(sandbox.requests).toMatchObject([{ aborted: false }, { aborted: false }]);
  });

  it('is kept open by pings and elements, for the idle time after the last one, and is never pinged', async () => {
    const idleMs = 1_000;
    const sandbox = await sandboxWith({ webSocketIdleMs: idleMs, earlyCheckpointMs: false });
    let lastAt = performance.now();
    const client = await stream(sandbox, tail);
    let pings = 0;
    client.socket.on('ping', () => (pings += 1));
    for (const what of ['pong', 'pong', 'pong', 'message', 'message', 'message']) {
      // if this process stalls for longer, the disconnection is earlier and correct
      if ((await Promise.race([after(400, 'open'), client.closed])) !== 'open') break;
      const at = performance.now();
      const answered = once(client.socket, what);
      // socket timers count from the last time that the event loop read the clock, which is before this line
      await turnOfTheLoop();
      if (what === 'pong') client.socket.ping();
      else sandbox.append(creation());
      if (typeof (await Promise.race([answered, client.closed])) === 'number') break;
      lastAt = at;
    }
    expect(await client.closed).toBe(1006);
    // if the second did not keep it open, it would be disconnected 200 ms after it
    expect(performance.now() - lastAt).toBeGreaterThanOrEqual(idleMs - 10);
    expect(pings).toBe(0);
  });

  it('gets pongs for its pings', async () => {
    const client = await stream(await sandboxWith(), tail);
    client.socket.ping('alive?');
    expect(String((await once(client.socket, 'pong'))[0])).toBe('alive?');
  });
});

describe('the log of requests', () => {
  it('has the upgrade, its first message, and whether the client disconnected first', async () => {
    const sandbox = await sandboxWith();
    const left = await stream(sandbox, tail, { path: '/v2/updates?note=1' });
    await until(() => sandbox.requests[0]?.body !== undefined);
    expect(sandbox.requests).toEqual([
      expect.objectContaining({
        method: 'GET',
        path: '/v2/updates',
        query: { note: '1' },
        status: 101,
        body: tail,
        authorized: false,
        aborted: false,
      }),
    ]);
    left.socket.terminate();
    await until(() => sandbox.requests[0]?.aborted === true);
    const ended = await stream(sandbox, { ...tail, beginExclusive: 9 });
    await ended.closed;
    expect(sandbox.requests[1]).toMatchObject({ status: 101, aborted: false });
  });
});
