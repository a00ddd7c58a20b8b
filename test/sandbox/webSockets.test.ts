import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turnOfTheLoop, setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { cantonError, type Fault, type FaultSocket, type Sandbox } from '../../src/sandbox/index.js';
import { stopClock, until } from '../helpers/time.js';
import {
  aborted,
  afterDisconnect,
  at,
  connectionOf,
  connectTo,
  get,
  offsets,
  openSocket,
  plain,
  post,
  protocol,
  rejectedUpgrade,
  requestReceived,
  sandboxWith,
  send,
  stream,
  streamToEnd,
  jsonType,
} from './client.js';
import { creation, creationsOf, flatsPath, sandboxWithThree, tail, updatesPath, upTo } from './requests.js';

/** Sends the text of requests over a TCP connection, and returns all that is received until the server closes it. */
async function raw(sandbox: Sandbox, ...lines: readonly string[]): Promise<string> {
  const socket = connectTo(sandbox);
  socket.write(lines.join('\r\n'));
  return text(socket);
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('an upgrade', () => {
  it('gets the one subprotocol, offered or not', async () => {
    const sandbox = await sandboxWith();
    const client = await stream(sandbox, undefined, { protocols: ['other', protocol] });
    expect(client.socket.protocol).toBe(protocol);
    const [error] = (await once(openSocket(sandbox, { protocols: [] }), 'error')) as [Error];
    expect(error.message).toBe('Server sent a subprotocol but none was requested');
  });

  it.each([
    ['an unknown path', '/v2/nothing', {}, 404],
    ['a path that is no stream', '/v2/state/ledger-end', {}, 200],
    ['a path for POST alone', '/v2/updates/update-by-id', {}, 405],
    ['a path that the interface has not', updatesPath, { interfaceOnly: true }, 404],
    ['a path that 3.7 has removed', flatsPath, { profile: '3.7' as const }, 404],
    ['the one path of updates in the interface', flatsPath, { interfaceOnly: true }, 405],
  ])('of %s is ignored, and the request is served', async (_, path, options, status) => {
    const sandbox = await sandboxWith(options);
    const served = await get(sandbox, path);
    expect(await rejectedUpgrade(sandbox, { path })).toMatchObject({ status, type: served.type, text: served.text });
    expect(sandbox.requests).toMatchObject([{ method: 'GET', path, status }, { status }]);
  });

  it('is required for a stream', async () => {
    const sandbox = await sandboxWith();
    for (const path of [updatesPath, flatsPath]) {
      expect(await get(sandbox, path)).toMatchObject({
        status: 404,
        json: { errors: [expect.stringContaining(`HttpMethod(GET)`)], ledgerApiError: null },
      });
      expect((await send(sandbox, path, { method: 'PUT' })).status).toBe(405);
    }
    const keyless = [
      'GET /v2/updates HTTP/1.1',
      'Host: localhost',
      'Connection: upgrade, close',
      'Upgrade: websocket',
      '',
      '',
    ];
    expect(await raw(sandbox, ...keyless)).toMatch(/^HTTP\/1.1 404 [^]*HttpMethod\(GET\)/);
  });

  it('with invalid subprotocols is rejected', async () => {
    const sandbox = await sandboxWith();
    const key = Buffer.alloc(16).toString('base64');
    const lines = ['GET /v2/updates HTTP/1.1', 'Host: localhost', 'Connection: upgrade', 'Upgrade: websocket'];
    const rest = ['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Protocol: a,,b', '', ''];
    expect(await raw(sandbox, ...lines, ...rest)).toMatch(/^HTTP\/1.1 400 /);
    expect(sandbox.requests).toMatchObject([{ status: 400, aborted: false }]);
  });

  it('to another protocol is ignored, and the request and the next one are served with their bodies', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    const { port } = new URL(sandbox.url);
    const upgrade = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    const headers = { ...jsonType, ...upgrade };
    const body = JSON.stringify({ ...upTo(1), note: 'ü'.repeat(100_000) });
    for (let sent = 0; sent < 2; sent++) {
      const asking = request({ port, host: '127.0.0.1', path: `${updatesPath}?limit=1`, method: 'POST', headers });
      asking.end(body);
      const [response] = (await once(asking, 'response')) as [NodeJS.ReadableStream];
      expect(JSON.parse(await text(response))).toHaveLength(1);
    }
    const both = [
      'GET /v2/state/ledger-end HTTP/1.1',
      'Host: localhost',
      'Connection: upgrade',
      'Upgrade: h2c',
      '',
      '',
    ];
    const last = ['GET /v2/version HTTP/1.1', 'Host: localhost', 'Connection: close', '', ''];
    expect(await raw(sandbox, ...both, ...last)).toMatch(/^HTTP\/1.1 200 [^]*{"offset":1}HTTP\/1.1 200 [^]*"version"/);
  });
});

describe('the token of a WebSocket', () => {
  const options = { checkToken: (token: string | undefined) => token === 'good' };
  const refused = { code: 'NA', errorCategory: -1, grpcCodeValue: 16 };
  const good = ['jwt.token.good', protocol];

  it.each([
    ['as a bearer', { headers: bearer('good') }],
    ['in the first subprotocol', { protocols: good }],
    ['as a bearer, which wins', { headers: bearer('good'), protocols: ['jwt.token.bad', protocol] }],
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
    ['is not good', { headers: bearer('bad') }, true],
    ['is not in the first subprotocol', { protocols: good.toReversed() }, false],
    ['is beaten by a bearer', { headers: bearer('bad'), protocols: good }, true],
  ])('that %s is rejected by the only message, as over HTTP', async (_, how, authorized) => {
    const sandbox = await sandboxWith(options);
    const { messages } = await streamToEnd(sandbox, tail, how);
    expect(messages).toMatchObject([refused]);
    expect(sandbox.requests).toMatchObject([{ authorized, status: 101, aborted: false }]);
    const { json } = await post(sandbox, updatesPath, tail);
    expect(messages).toEqual([{ ...Object(json), traceId: expect.any(String) } as unknown]);
  });

  it('may be rejected by a 401 to the upgrade, and an empty one is a 400', async () => {
    const sandbox = await sandboxWith({ ...options, webSocketRefusal: 'handshake' });
    const answer = await rejectedUpgrade(sandbox, { protocols: ['jwt.token.bad', protocol] });
    expect(answer).toMatchObject({ status: 401, type: 'application/json' });
    expect(JSON.parse(answer.text)).toMatchObject(refused);
    expect(sandbox.requests).toMatchObject([{ authorized: true, status: 401, aborted: false }]);
    const client = await stream(sandbox, undefined, { protocols: good });
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    expect(await rejectedUpgrade(sandbox, { headers: bearer('') })).toMatchObject(plain(400));
  });

  it.each(['element', 'checkpoint'])(
    'that expires ends the stream before the next %s, which is not sent',
    async (next) => {
      const clock = stopClock();
      let expired = false;
      const earlyCheckpointMs = next === 'checkpoint' ? 500 : false;
      const sandbox = await sandboxWith({ checkToken: () => !expired, earlyCheckpointMs });
      sandbox.append(creation());
      const client = await stream(sandbox, tail);
      await client.received(1);
      expired = true;
      client.socket.ping();
      await once(client.socket, 'pong');
      expect(client.socket.readyState).toBe(client.socket.OPEN);
      await clock.hasTimer();
      if (next === 'checkpoint') await clock.advance(500);
      else sandbox.append(creation());
      expect(await client.closed).toBe(1000);
      expect(client.messages.slice(1)).toMatchObject([
        { code: 'ACCESS_TOKEN_EXPIRED', cause: 'JWT token has expired', errorCategory: 2, grpcCodeValue: 10 },
      ]);
    },
  );
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
    const idleMs = 300;
    const sandbox = await sandboxWith({ webSocketIdleMs: idleMs, earlyCheckpointMs: false });
    let lastAt = performance.now();
    const client = await stream(sandbox, tail);
    let pings = 0;
    client.socket.on('ping', () => (pings += 1));
    for (const what of ['pong', 'pong', 'pong', 'message', 'message', 'message']) {
      // if this process stalls for longer, the disconnection is earlier and correct
      if ((await Promise.race([after(120, 'open'), client.closed])) !== 'open') break;
      const sentAt = performance.now();
      const answered = once(client.socket, what);
      // socket timers count from the last time that the event loop read the clock, which is before this line
      await turnOfTheLoop();
      if (what === 'pong') client.socket.ping();
      else sandbox.append(creation());
      if (typeof (await Promise.race([answered, client.closed])) === 'number') break;
      lastAt = sentAt;
    }
    expect(await client.closed).toBe(1006);
    // if the second did not keep it open, it would be disconnected 60 ms after it
    expect(performance.now() - lastAt).toBeGreaterThanOrEqual(idleMs - 10);
    expect(pings).toBe(0);
  });
});

describe('the log of requests', () => {
  it('has the upgrade, its first message, and whether the client disconnected first', async () => {
    const sandbox = await sandboxWith();
    const left = await stream(sandbox, tail, { path: `${updatesPath}?note=1` });
    await requestReceived(sandbox);
    const request = { method: 'GET', path: updatesPath, query: { note: '1' }, body: tail, authorized: false };
    expect(sandbox.requests).toEqual([expect.objectContaining({ ...request, status: 101, aborted: false })]);
    left.socket.terminate();
    await aborted(sandbox);
    await streamToEnd(sandbox, { ...tail, beginExclusive: 9 });
    expect(sandbox.requests[1]).toMatchObject({ status: 101, aborted: false });
  });
});

describe('the end of a WebSocket', () => {
  it.each(['restart', 'close'] as const)('follows a %s at once, without a close frame', async (end) => {
    const sandbox = await sandboxWithThree();
    const [active, silent] = await Promise.all([stream(sandbox, tail), stream(sandbox, undefined)]);
    await active.received(3);
    const begun = Date.now();
    await sandbox[end]();
    expect(await Promise.all([active.closed, silent.closed])).toEqual([1006, 1006]);
    expect(Date.now() - begun).toBeLessThan(10_000);
    const logged = { status: 101, aborted: false };
    expect(sandbox.requests).toMatchObject([logged, logged]);
    if (end === 'close') return;
    const again = await stream(sandbox, { ...tail, beginExclusive: 2 });
    await again.received(1);
    expect(offsets(again)).toEqual([3]);
  });

  it('that the client requests before its first message follows at once', async () => {
    const sandbox = await sandboxWith();
    const client = await stream(sandbox, undefined);
    client.socket.close(1001);
    expect(await client.closed).toBe(1001);
    await aborted(sandbox);
  });

  it('that the client requests during an endless stream does not follow, and elements still do', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.received(3);
    client.socket.close();
    sandbox.append(creation());
    await once(client.socket, 'message');
    expect(client.socket.readyState).toBe(client.socket.CLOSING);
    expect(offsets(client)).toEqual([1, 2, 3, 4]);
    expect(sandbox.requests[0]?.aborted).toBe(false);
    client.socket.terminate();
    await aborted(sandbox);
  });

  it('that the client requests during a bounded stream follows the end of the stream', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creationsOf(500));
    const client = await stream(sandbox, upTo(500));
    client.socket.close();
    expect(await client.closed).toBe(1000);
    expect(client.messages).toHaveLength(500);
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('follows a protocol error at once', async () => {
    const client = await stream(await sandboxWithThree(), tail);
    await client.received(3);
    // a text that is not UTF-8, in a masked frame
    connectionOf(client).write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]));
    expect(await client.closed).toBe(1007);
  });
});

async function faulty(...faults: readonly Fault[]): Promise<Sandbox> {
  const sandbox = await sandboxWithThree({ earlyCheckpointMs: false });
  for (const fault of faults) sandbox.fault(fault);
  return sandbox;
}

describe('a fault of a WebSocket', () => {
  it('rejects the upgrade', async () => {
    const body = cantonError('SERVICE_NOT_RUNNING');
    const sandbox = await faulty({ kind: 'socket', how: 'refuse', status: 503, body });
    const answer = { status: 503, type: 'application/json', text: JSON.stringify(body) };
    expect(await rejectedUpgrade(sandbox)).toMatchObject(answer);
    expect(sandbox.requests).toMatchObject([{ method: 'GET', path: updatesPath, status: 503, aborted: false }]);
    await streamToEnd(sandbox, upTo(3));
  });

  it.each([
    [{ how: 'close' }, 1000, [], ''],
    [{ how: 'close', code: 1001, reason: 'going away', elements: 2 }, 1001, [1, 2], 'going away'],
    [{ how: 'close', code: 1011, elements: 3 }, 1011, [1, 2, 3], ''],
    [{ how: 'cut' }, 1006, [], ''],
    [{ how: 'cut', elements: 2 }, 1006, [1, 2], ''],
    [{ how: 'cut', elements: 4 }, 1000, [1, 2, 3], ''],
  ] as const)('ends it after the given number of elements: %j', async (how, code, seen, reason) => {
    const fault: FaultSocket = { kind: 'socket', ...how };
    // the last of them has no effect, because the stream ends before
    for (const body of fault.how === 'cut' && fault.elements === 4 ? [upTo(3)] : [tail, upTo(3)]) {
      const sandbox = await faulty(fault);
      const client = await stream(sandbox, body);
      const closes = once(client.socket, 'close');
      expect(await client.closed).toBe(code);
      expect(String((await closes)[1])).toBe(reason);
      expect(offsets(client)).toEqual(seen);
      await afterDisconnect();
      expect(sandbox.requests).toMatchObject([{ status: 101, body, aborted: false }]);
    }
  });

  it('resets its connection', async () => {
    const client = await stream(await faulty({ kind: 'socket', how: 'cut', elements: 1 }), tail);
    const [error] = (await once(connectionOf(client), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(offsets(client)).toEqual([1]);
  });

  it('sends an error, as JSON or as any text, and closes it', async () => {
    const body = cantonError('STALE_STREAM_AUTHORIZATION');
    const sandbox = await faulty(
      { kind: 'socket', how: 'error', body, elements: 1 },
      { kind: 'socket', how: 'error', body: '{"update":' },
    );
    const update = expect.objectContaining({ update: expect.anything() });
    expect((await streamToEnd(sandbox, tail)).messages).toEqual([update, body]);
    expect((await streamToEnd(sandbox, tail)).texts).toEqual(['{"update":']);
  });

  it('silences it until the client disconnects: no element, pong, close frame or idle timeout', async () => {
    const sandbox = await faulty({ kind: 'socket', how: 'silence', elements: 2 });
    // long enough for the stream to begin on a slow machine
    sandbox.configure({ webSocketIdleMs: 500, idleCheckpointMs: 5 });
    const client = await stream(sandbox, tail);
    await client.received(2);
    let pongs = 0;
    client.socket.on('pong', () => (pongs += 1));
    client.socket.ping();
    sandbox.append(creation());
    client.socket.close();
    // a WebSocket that is idle from now on is disconnected after this one would have been
    const idle = await stream(sandbox, undefined);
    expect(await idle.closed).toBe(1006);
    expect(client.socket.readyState).toBe(client.socket.CLOSING);
    expect([offsets(client), pongs]).toEqual([[1, 2], 0]);
    expect(sandbox.requests[0]).toMatchObject({ status: 101, aborted: false });
    client.socket.terminate();
    await aborted(sandbox);
  });

  it('counts and applies to upgrades only', async () => {
    const sandbox = await faulty();
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 503 }, { path: updatesPath, after: 1, times: 2 });
    expect((await post(sandbox, updatesPath, upTo(3))).status).toBe(200);
    expect((await get(sandbox, updatesPath)).status).toBe(404);
    await streamToEnd(sandbox, upTo(3));
    expect((await post(sandbox, updatesPath, upTo(3))).status).toBe(200);
    expect((await rejectedUpgrade(sandbox)).status).toBe(503);
    expect((await rejectedUpgrade(sandbox)).status).toBe(503);
    await stream(sandbox, upTo(3));
  });
});

describe('a fault of requests', () => {
  it('with a status rejects an upgrade', async () => {
    const sandbox = await faulty({ kind: 'status', status: 502, body: '<html>', contentType: 'text/html' });
    expect(await rejectedUpgrade(sandbox)).toEqual({ status: 502, type: 'text/html', text: '<html>' });
    expect((await post(sandbox, updatesPath, upTo(3))).status).toBe(200);
  });

  it.each(['before', 'after'] as const)('with a reset, %s the processing, resets an upgrade', async (when) => {
    const sandbox = await faulty({ kind: 'reset', when });
    const [error] = (await once(openSocket(sandbox), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(sandbox.requests).toMatchObject([{ path: updatesPath, aborted: false }]);
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it.each(['the client disconnects', 'the sandbox is closed'])(
    'that hangs leaves an upgrade open until %s',
    async (end) => {
      const sandbox = await faulty({ kind: 'hang' });
      const socket = openSocket(sandbox);
      const failed = once(socket, 'error');
      await until(() => sandbox.requests.length > 0);
      // the next request overtakes it
      expect((await get(sandbox, updatesPath)).status).toBe(404);
      expect(socket.readyState).toBe(socket.CONNECTING);
      expect(sandbox.requests[0]?.aborted).toBe(false);
      const isClosed = end === 'the sandbox is closed';
      if (isClosed) await sandbox.close();
      else socket.terminate();
      await failed;
      await until(() => sandbox.requests[0]?.aborted === !isClosed);
    },
  );

  it('that rewrites changes each message, including errors, and one that fails closes with 1011', async () => {
    const sandbox = await faulty();
    let sent = 0;
    const body = (message: unknown): unknown => ({ ...Object(message), note: (sent += 1) });
    sandbox.fault({ kind: 'rewrite', body }, { times: 2 });
    const client = await streamToEnd(sandbox, upTo(3));
    expect(offsets(client)).toEqual([1, 2, 3]);
    expect(client.messages.map((message) => at(message, 'note'))).toEqual([1, 2, 3]);
    const failed = await streamToEnd(sandbox, { ...tail, beginExclusive: 9 });
    expect(failed.messages).toMatchObject([{ code: 'OFFSET_AFTER_LEDGER_END', note: 4 }]);
    sandbox.fault({ kind: 'rewrite', body: () => JSON.parse('secret') as unknown });
    const broken = await stream(sandbox, upTo(3));
    expect(await broken.closed).toBe(1011);
    expect(broken.texts).toEqual([]);
  });

  it.each([
    [{ kind: 'delay', ms: 5 }],
    [{ kind: 'body', body: '' }],
    [{ kind: 'truncate', bytes: 0 }],
    [{ kind: 'stall', bytes: 0 }],
    [{ kind: 'lie', about: 'hash' }],
    [{ kind: 'commitLate', ms: 5 }],
  ] as const)('that applies to responses only waits for a request: %j', async (fault) => {
    const sandbox = await faulty();
    sandbox.fault(fault, { after: 1 });
    sandbox.fault({ kind: 'status', status: 418 }, { after: 2 });
    expect(offsets(await streamToEnd(sandbox, upTo(3)))).toEqual([1, 2, 3]);
    // the other fault counted the upgrade, this one did not
    expect((await post(sandbox, updatesPath, upTo(3))).status).toBe(200);
    expect((await rejectedUpgrade(sandbox)).status).toBe(418);
  });
});
