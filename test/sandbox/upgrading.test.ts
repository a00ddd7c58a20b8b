import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turnOfTheLoop, setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { creation, everything, get, post, sandboxWith, send } from './support.js';
import { stoppedClock } from './stoppedClock.js';
import { begin, noticed, refusal, stream } from './webSockets.js';

const tail = { beginExclusive: 0, updateFormat: everything };
const protocol = 'daml.ws.auth';

/** All that comes back for the text of a request over a bare connection that the server closes. */
async function raw(sandbox: Sandbox, ...lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
  socket.write(lines.join('\r\n'));
  return text(socket);
}

describe('an upgrade', () => {
  it('is answered with the one subprotocol, offered or not', async () => {
    const sandbox = await sandboxWith();
    const client = await stream(sandbox, undefined, { protocols: ['other', protocol] });
    expect(client.socket.protocol).toBe(protocol);
    const bare = begin(sandbox, { protocols: [] });
    const [error] = (await once(bare, 'error')) as [Error];
    expect(error.message).toBe('Server sent a subprotocol but none was requested');
  });

  it.each([
    ['an unknown path', '/v2/nothing', {}, 404],
    ['a path that is no stream', '/v2/state/ledger-end', {}, 200],
    ['a path for POST alone', '/v2/updates/update-by-id', {}, 405],
    ['a path that the interface has not', '/v2/updates', { interfaceOnly: true }, 404],
    ['the one path of updates in the interface', '/v2/updates/flats', { interfaceOnly: true }, 405],
  ])('of %s is answered as if it had not been asked for', async (_, path, options, status) => {
    const sandbox = await sandboxWith(options);
    const plain = await get(sandbox, path);
    expect(await refusal(sandbox, { path })).toMatchObject({ status, type: plain.type, text: plain.text });
    expect(sandbox.requests).toMatchObject([{ method: 'GET', path, status }, { status }]);
  });

  it('has to be asked for to get a stream', async () => {
    const sandbox = await sandboxWith();
    for (const path of ['/v2/updates', '/v2/updates/flats']) {
      const expected = { status: 400, type: 'text/plain; charset=UTF-8', text: 'Expected WebSocket Upgrade request' };
      expect(await get(sandbox, path)).toMatchObject(expected);
      expect(await send(sandbox, path, { method: 'PUT' })).toMatchObject({ status: 405 });
    }
    const keyless = ['GET /v2/updates HTTP/1.1', 'Host: x', 'Connection: upgrade, close', 'Upgrade: websocket', '', ''];
    expect(await raw(sandbox, ...keyless)).toMatch(/^HTTP\/1.1 400 [^]*Expected WebSocket Upgrade request$/);
  });

  it('with subprotocols that are none is refused', async () => {
    const sandbox = await sandboxWith();
    const key = Buffer.alloc(16).toString('base64');
    const lines = ['GET /v2/updates HTTP/1.1', 'Host: x', 'Connection: upgrade', 'Upgrade: websocket'];
    const rest = ['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Protocol: a,,b', '', ''];
    expect(await raw(sandbox, ...lines, ...rest)).toMatch(/^HTTP\/1.1 400 /);
    expect(sandbox.requests).toMatchObject([{ status: 400, aborted: false }]);
  });

  it('to another protocol is ignored, and the request served with its body, and the next one too', async () => {
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
  ])('comes %s', async (_, how) => {
    const sandbox = await sandboxWith(options);
    sandbox.append(creation());
    const client = await stream(sandbox, tail, how);
    expect(await client.has(1)).toMatchObject([{ update: {} }]);
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
  ])('that %s is refused by the one message, as over HTTP', async (_, how, authorized) => {
    const sandbox = await sandboxWith(options);
    const client = await stream(sandbox, tail, how);
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([refused]);
    expect(sandbox.requests).toMatchObject([{ authorized, status: 101, aborted: false }]);
    const { json } = await post(sandbox, '/v2/updates', tail);
    expect(client.messages).toEqual([{ ...Object(json), traceId: expect.any(String) } as unknown]);
  });

  it('may be refused by a 401 to the upgrade', async () => {
    const sandbox = await sandboxWith({ ...options, webSocketRefusal: 'handshake' });
    const answer = await refusal(sandbox, { protocols: ['jwt.token.bad', protocol] });
    expect(answer).toMatchObject({ status: 401, type: 'application/json' });
    expect(JSON.parse(answer.text)).toMatchObject(refused);
    expect(sandbox.requests).toMatchObject([{ authorized: true, status: 401, aborted: false }]);
    const client = await stream(sandbox, undefined, { protocols: ['jwt.token.good', protocol] });
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  it('that is empty is a 400', async () => {
    const sandbox = await sandboxWith();
    const answer = await refusal(sandbox, { headers: { authorization: 'Bearer ' } });
    expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=UTF-8' });
  });

  it('that is over ends the stream before the next element, which does not come', async () => {
    let expired = false;
    const sandbox = await sandboxWith({ checkToken: () => !expired, earlyCheckpointMs: false });
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await client.has(1);
    expired = true;
    await after(20);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    sandbox.append(creation());
    expect(await client.closed).toBe(1000);
    expect(client.messages.slice(1)).toMatchObject([
      { code: 'ACCESS_TOKEN_EXPIRED', cause: 'JWT token has expired', errorCategory: 2, grpcCodeValue: 10 },
    ]);
  });

  it('that is over is noticed by a checkpoint too', async () => {
    const clock = stoppedClock();
    let expired = false;
    const sandbox = await sandboxWith({ checkToken: () => !expired, earlyCheckpointMs: 500 });
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await client.has(1);
    expired = true;
    await clock.isWaitedFor();
    await clock.pass(500);
    expect(await client.closed).toBe(1000);
    expect(client.messages.slice(1)).toMatchObject([{ code: 'ACCESS_TOKEN_EXPIRED' }]);
  });
});

describe('a WebSocket that is idle', () => {
  it('is cut off, with a request or without', async () => {
    const sandbox = await sandboxWith({ webSocketIdleMs: 60, earlyCheckpointMs: false });
    const before = Date.now();
    const clients = await Promise.all([stream(sandbox, tail), stream(sandbox, undefined)]);
    expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual([1006, 1006]);
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
    await noticed();
    expect(sandbox.requests).toMatchObject([{ aborted: false }, { aborted: false }]);
  });

  it('is kept by pings and by elements, for as long after the last of them; it is never pinged', async () => {
    const idleMs = 1_000;
    const sandbox = await sandboxWith({ webSocketIdleMs: idleMs, earlyCheckpointMs: false });
    let lastAt = performance.now();
    const client = await stream(sandbox, tail);
    let pings = 0;
    client.socket.on('ping', () => (pings += 1));
    for (const what of ['pong', 'pong', 'pong', 'message', 'message', 'message']) {
      // a machine that stands still for longer has it cut earlier, and rightly
      if ((await Promise.race([after(400, 'open'), client.closed])) !== 'open') break;
      const at = performance.now();
      const answered = once(client.socket, what);
      // the timers of sockets count from when the event loop has last looked at the clock, which it does before this
      await turnOfTheLoop();
      if (what === 'pong') client.socket.ping();
      else sandbox.append(creation());
      if (typeof (await Promise.race([answered, client.closed])) === 'number') break;
      lastAt = at;
    }
    expect(await client.closed).toBe(1006);
    // by what does not keep it it would be cut 200 ms behind the second
    expect(performance.now() - lastAt).toBeGreaterThanOrEqual(idleMs - 10);
    expect(pings).toBe(0);
  });

  it('has its pings answered', async () => {
    const client = await stream(await sandboxWith(), tail);
    client.socket.ping('alive?');
    expect(String((await once(client.socket, 'pong'))[0])).toBe('alive?');
  });
});

describe('the log of requests', () => {
  it('has the upgrade, its first message, and whether the client left first', async () => {
    const sandbox = await sandboxWith();
    const left = await stream(sandbox, tail, { path: '/v2/updates?note=1' });
    while (sandbox.requests[0]?.body === undefined) await after(1);
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
    while (!sandbox.requests[0].aborted) await after(1);
    const ended = await stream(sandbox, { ...tail, beginExclusive: 9 });
    await ended.closed;
    expect(sandbox.requests[1]).toMatchObject({ status: 101, aborted: false });
  });
});
