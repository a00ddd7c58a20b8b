import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { cantonError, type Fault, type FaultSocket, type Sandbox } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { afterDisconnect, connectionOf, offsets, openSocket, rejectedUpgrade, stream } from './webSockets.js';
import { at, get, post, sandboxWith } from './client.js';
import { creation, tail, upTo } from './requests.js';

const bounded = upTo(3);
const path = '/v2/updates';

async function sandboxWithThree(...faults: readonly Fault[]): Promise<Sandbox> {
  const sandbox = await sandboxWith({ earlyCheckpointMs: false });
  sandbox.append(creation(), creation(), creation());
  for (const fault of faults) sandbox.fault(fault);
  return sandbox;
}

describe('a fault of a WebSocket', () => {
  it('rejects the upgrade', async () => {
    const body = cantonError('SERVICE_NOT_RUNNING');
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'refuse', status: 503, body });
    const answer = await rejectedUpgrade(sandbox);
    expect(answer).toMatchObject({ status: 503, type: 'application/json', text: JSON.stringify(body) });
    expect(sandbox.requests).toMatchObject([{ method: 'GET', path, status: 503, aborted: false }]);
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
  });

  it.each([
    [{ how: 'close' }, 1000, [], ''],
    [{ how: 'close', code: 1001, reason: 'going away', elements: 2 }, 1001, [1, 2], 'going away'],
    [{ how: 'close', code: 1011, elements: 3 }, 1011, [1, 2, 3], ''],
    [{ how: 'cut' }, 1006, [], ''],
    [{ how: 'cut', elements: 2 }, 1006, [1, 2], ''],
  ] as const)('ends it after the given number of elements: %j', async (how, code, seen, reason) => {
    for (const body of [tail, bounded]) {
      const fault: FaultSocket = { kind: 'socket', ...how };
      const sandbox = await sandboxWithThree(fault);
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
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'cut', elements: 1 });
    const client = await stream(sandbox, tail);
    const [error] = (await once(connectionOf(client), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(offsets(client)).toEqual([1]);
  });

  it('sends an error, as JSON or as any text, and closes it', async () => {
    const body = cantonError('STALE_STREAM_AUTHORIZATION');
    const sandbox = await sandboxWithThree(
      { kind: 'socket', how: 'error', body, elements: 1 },
      { kind: 'socket', how: 'error', body: '{"update":' },
    );
    const client = await stream(sandbox, tail);
    expect(await client.closed).toBe(1000);
    expect(client.messages).toEqual([expect.objectContaining({ update: expect.anything() }), body]);
    const torn = await stream(sandbox, tail);
    expect(await torn.closed).toBe(1000);
    expect(torn.texts).toEqual(['{"update":']);
  });

  it('silences it until the client disconnects: no element, pong, close frame or idle timeout', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'silence', elements: 2 });
    // long enough for the stream to begin on a slow machine
    sandbox.configure({ webSocketIdleMs: 1_000, earlyCheckpointMs: false, idleCheckpointMs: 5 });
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
    await until(() => sandbox.requests[0]?.aborted === true);
  });

  it('silences it until the sandbox is closed', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'silence' });
    const client = await stream(sandbox, tail);
    await until(() => sandbox.requests[0]?.body !== undefined);
    await sandbox.close();
    expect(await client.closed).toBe(1006);
    expect(sandbox.requests).toMatchObject([{ status: 101, aborted: false }]);
  });

  it('does not harm a stream that ends before', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'cut', elements: 4 });
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual([1, 2, 3]);
  });

  it('counts and applies to upgrades only', async () => {
    const sandbox = await sandboxWithThree();
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 503 }, { path, after: 1, times: 2 });
    expect((await post(sandbox, path, bounded)).status).toBe(200);
    expect((await get(sandbox, path)).status).toBe(400);
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect((await post(sandbox, path, bounded)).status).toBe(200);
    expect((await rejectedUpgrade(sandbox)).status).toBe(503);
    expect((await rejectedUpgrade(sandbox)).status).toBe(503);
    await stream(sandbox, bounded);
  });
});

describe('a fault of requests', () => {
  it('with a status rejects an upgrade', async () => {
    const sandbox = await sandboxWithThree({ kind: 'status', status: 502, body: '<html>', contentType: 'text/html' });
    expect(await rejectedUpgrade(sandbox)).toEqual({ status: 502, type: 'text/html', text: '<html>' });
    expect((await post(sandbox, path, bounded)).status).toBe(200);
  });

  it.each(['before', 'after'] as const)('with a reset, %s the processing, resets an upgrade', async (when) => {
    const sandbox = await sandboxWithThree({ kind: 'reset', when });
    const [error] = (await once(openSocket(sandbox), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(sandbox.requests).toMatchObject([{ path, aborted: false }]);
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it('that hangs leaves an upgrade without a response until the client disconnects', async () => {
    const sandbox = await sandboxWithThree({ kind: 'hang' });
    const socket = openSocket(sandbox);
    await until(() => sandbox.requests.length > 0);
    // the next request overtakes it
    expect((await get(sandbox, path)).status).toBe(400);
    expect(socket.readyState).toBe(socket.CONNECTING);
    expect(sandbox.requests[0]?.aborted).toBe(false);
    socket.terminate();
    await until(() => sandbox.requests[0]?.aborted === true);
  });

  it('that hangs ends when the sandbox is closed', async () => {
    const sandbox = await sandboxWithThree({ kind: 'hang' });
    const failed = once(openSocket(sandbox), 'error');
    await until(() => sandbox.requests.length > 0);
    await sandbox.close();
    await failed;
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('that rewrites changes each message, including errors', async () => {
    const sandbox = await sandboxWithThree();
    let sent = 0;
    const body = (message: unknown): unknown => ({ ...Object(message), note: (sent += 1) });
    sandbox.fault({ kind: 'rewrite', body }, { times: 2 });
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual([1, 2, 3]);
    expect(client.messages.map((message) => at(message, 'note'))).toEqual([1, 2, 3]);
    const failed = await stream(sandbox, { ...tail, beginExclusive: 9 });
    expect(await failed.closed).toBe(1000);
    expect(failed.messages).toMatchObject([{ code: 'OFFSET_AFTER_LEDGER_END', note: 4 }]);
  });

  it('whose rewrite fails closes with 1011', async () => {
    const body = () => JSON.parse('secret') as unknown;
    const sandbox = await sandboxWithThree({ kind: 'rewrite', body });
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1011);
    expect(client.texts).toEqual([]);
  });

  it.each([
    [{ kind: 'delay', ms: 5 }],
    [{ kind: 'body', body: '' }],
    [{ kind: 'truncate', bytes: 0 }],
    [{ kind: 'stall', bytes: 0 }],
    [{ kind: 'lie', about: 'hash' }],
    [{ kind: 'commitLate', ms: 5 }],
  ] as const)('that applies to responses only waits for a request: %j', async (fault) => {
    const sandbox = await sandboxWithThree();
    sandbox.fault(fault, { after: 1 });
    sandbox.fault({ kind: 'status', status: 418 }, { after: 2 });
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual([1, 2, 3]);
    // the other fault counted the upgrade, this one did not
    expect((await post(sandbox, path, bounded)).status).toBe(200);
    expect((await rejectedUpgrade(sandbox)).status).toBe(418);
  });
});
