import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { cantonError, type Fault, type FaultSocket, type Sandbox } from '../../src/sandbox/index.js';
import { at, creation, everything, get, post, sandboxWith } from './support.js';
import { begin, connectionOf, noticed, refusal, stream, type Client } from './webSockets.js';

const tail = { beginExclusive: 0, updateFormat: everything };
const bounded = { ...tail, endInclusive: 3 };
const path = '/v2/updates';

const offsets = ({ messages }: Client) =>
  messages.map((message) => at(message, 'update', 'Transaction', 'value', 'offset'));

async function sandboxWithThree(...faults: readonly Fault[]): Promise<Sandbox> {
  const sandbox = await sandboxWith({ earlyCheckpointMs: false });
  sandbox.append(creation(), creation(), creation());
  for (const fault of faults) sandbox.fault(fault);
  return sandbox;
}

describe('a fault of a WebSocket', () => {
  it('refuses the upgrade', async () => {
    const body = cantonError('SERVICE_NOT_RUNNING');
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'refuse', status: 503, body });
    const answer = await refusal(sandbox);
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
  ] as const)('ends it after as many elements as it says: %j', async (how, code, seen, reason) => {
    for (const body of [tail, bounded]) {
      const fault: FaultSocket = { kind: 'socket', ...how };
      const sandbox = await sandboxWithThree(fault);
      const client = await stream(sandbox, body);
      const closes = once(client.socket, 'close');
      expect(await client.closed).toBe(code);
      expect(String((await closes)[1])).toBe(reason);
      expect(offsets(client)).toEqual(seen);
      await noticed();
      expect(sandbox.requests).toMatchObject([{ status: 101, body, aborted: false }]);
    }
  });

  it('cuts it off by a reset', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'cut', elements: 1 });
    const client = await stream(sandbox, tail);
    const [error] = (await once(connectionOf(client), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(offsets(client)).toEqual([1]);
  });

  it('tells an error, as JSON or as any text, and closes', async () => {
    const body = cantonError('STALE_STREAM_AUTHORIZATION');
    const sandbox = await sandboxWithThree(
      { kind: 'socket', how: 'error', body, elements: 1 },
      { kind: 'socket', how: 'error', body: '{"update":' },
    );
    const told = await stream(sandbox, tail);
    expect(await told.closed).toBe(1000);
    expect(told.messages).toEqual([expect.objectContaining({ update: expect.anything() }), body]);
    const torn = await stream(sandbox, tail);
    expect(await torn.closed).toBe(1000);
    expect(torn.texts).toEqual(['{"update":']);
  });

  it('has it fall silent: no element, no pong, no close, nor an end of idleness, until the client leaves', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'silence', elements: 2 });
    // long enough for it to begin on a busy machine
    sandbox.configure({ webSocketIdleMs: 1_000, idleCheckpointMs: 5 });
    const client = await stream(sandbox, tail);
    await client.has(2);
    let pongs = 0;
    client.socket.on('pong', () => (pongs += 1));
    client.socket.ping();
    sandbox.append(creation());
    client.socket.close();
    await after(1_300);
    expect(client.socket.readyState).toBe(client.socket.CLOSING);
    expect([offsets(client), pongs]).toEqual([[1, 2], 0]);
    expect(sandbox.requests).toMatchObject([{ status: 101, aborted: false }]);
    client.socket.terminate();
    while (sandbox.requests[0]?.aborted !== true) await after(1);
  });

  it('has it fall silent until the sandbox is closed', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'silence' });
    const client = await stream(sandbox, tail);
    while (sandbox.requests[0]?.body === undefined) await after(1);
    await sandbox.close();
    expect(await client.closed).toBe(1006);
    expect(sandbox.requests).toMatchObject([{ status: 101, aborted: false }]);
  });

  it('does no harm to a stream that ends before', async () => {
    const sandbox = await sandboxWithThree({ kind: 'socket', how: 'cut', elements: 4 });
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual([1, 2, 3]);
  });

  it('is used up and counted by upgrades alone', async () => {
    const sandbox = await sandboxWithThree();
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 503 }, { path, after: 1, times: 2 });
    expect((await post(sandbox, path, bounded)).status).toBe(200);
    expect((await get(sandbox, path)).status).toBe(400);
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect((await post(sandbox, path, bounded)).status).toBe(200);
    expect((await refusal(sandbox)).status).toBe(503);
    expect((await refusal(sandbox)).status).toBe(503);
    await stream(sandbox, bounded);
  });
});

describe('a fault of requests', () => {
  it('with a status refuses an upgrade', async () => {
    const sandbox = await sandboxWithThree({ kind: 'status', status: 502, body: '<html>', contentType: 'text/html' });
    expect(await refusal(sandbox)).toEqual({ status: 502, type: 'text/html', text: '<html>' });
    expect((await post(sandbox, path, bounded)).status).toBe(200);
  });

  it.each(['before', 'after'] as const)('with a reset, %s the work, resets an upgrade', async (when) => {
    const sandbox = await sandboxWithThree({ kind: 'reset', when });
    const [error] = (await once(begin(sandbox), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(sandbox.requests).toMatchObject([{ path, aborted: false }]);
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it('that hangs does not answer an upgrade, until the client leaves', async () => {
    const sandbox = await sandboxWithThree({ kind: 'hang' });
    const socket = begin(sandbox);
    while (sandbox.requests.length === 0) await after(1);
    await after(20);
    expect(socket.readyState).toBe(socket.CONNECTING);
    expect(sandbox.requests[0]?.aborted).toBe(false);
    socket.terminate();
    while (sandbox.requests[0]?.aborted !== true) await after(1);
  });

  it('that hangs ends with the sandbox', async () => {
    const sandbox = await sandboxWithThree({ kind: 'hang' });
    const failed = once(begin(sandbox), 'error');
    while (sandbox.requests.length === 0) await after(1);
    await sandbox.close();
    await failed;
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('that rewrites makes each message over, an error too', async () => {
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

  it('that cannot rewrite closes with 1011', async () => {
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
  ] as const)('that only an answer can have waits for a request: %j', async (fault) => {
    const sandbox = await sandboxWithThree();
    sandbox.fault(fault, { after: 1 });
    sandbox.fault({ kind: 'status', status: 418 }, { after: 2 });
    const client = await stream(sandbox, bounded);
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual([1, 2, 3]);
    // the other fault counted the upgrade, this one did not
    expect((await post(sandbox, path, bounded)).status).toBe(200);
    expect((await refusal(sandbox)).status).toBe(418);
  });
});
