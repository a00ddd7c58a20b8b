import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, creation, everything, post, sandboxWith } from './support.js';
import { stoppedClock } from './stoppedClock.js';
import { connectionOf, stream, type Client } from './webSockets.js';

const tail = { beginExclusive: 0, updateFormat: everything };
const upTo = (endInclusive: number) => ({ ...tail, endInclusive });

const variantOf = (message: unknown) => Object.keys(Object(at(message, 'update')) as object)[0];
const offsetOf = (message: unknown) => at(message, 'update', variantOf(message) ?? '', 'value', 'offset');
const offsets = ({ messages }: Client) => messages.map(offsetOf);
const variants = ({ messages }: Client) => messages.map(variantOf);

async function sandboxWithThree(): Promise<Sandbox> {
  const sandbox = await sandboxWith();
  sandbox.append(creation(), creation(), creation());
  return sandbox;
}

describe('a stream of updates', () => {
  it('with an end is a message for each element, and then closed without another', async () => {
    const sandbox = await sandboxWithThree();
    for (const path of ['/v2/updates', '/v2/updates/flats']) {
      const client = await stream(sandbox, upTo(3), { path });
      expect(await client.closed).toBe(1000);
      expect(client.messages).toEqual((await post(sandbox, path, upTo(3))).json);
      expect(client.messages).toHaveLength(3);
    }
  });

  it('has no limit, whatever the one of lists is', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(...Array.from({ length: 300 }, () => creation()));
    const client = await stream(sandbox, upTo(300));
    expect(await client.closed).toBe(1000);
    expect(client.messages).toHaveLength(300);
  });

  it('may come in descending order, and be empty', async () => {
    const sandbox = await sandboxWithThree();
    const descending = await stream(sandbox, { ...upTo(3), beginExclusive: 1, descendingOrder: true });
    expect(await descending.closed).toBe(1000);
    expect(offsets(descending)).toEqual([3, 2]);
    const empty = await stream(sandbox, { ...upTo(3), beginExclusive: 3 });
    expect(await empty.closed).toBe(1000);
    expect(empty.texts).toEqual([]);
  });

  it('without an end has what is appended meanwhile, at once', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.has(3);
    sandbox.append(creation(), creation());
    await client.has(5);
    sandbox.append(creation());
    await client.has(6);
    expect(offsets(client)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('is that of the first message: further ones are ignored', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    client.socket.send(JSON.stringify({ ...tail, beginExclusive: 99 }));
    client.socket.send('nonsense');
    await client.has(3);
    sandbox.append(creation());
    await client.has(4);
    expect(offsets(client)).toEqual([1, 2, 3, 4]);
    expect(sandbox.requests[0]?.body).toEqual(tail);
  });

  it('waits for a slow client, and holds no more for it than the connection does', async () => {
    let sent = 0;
    const sandbox = await sandboxWith({ checkToken: () => (sent += 1) > 0 });
    const templateArguments = { note: 'x'.repeat(200_000) };
    sandbox.append(...Array.from({ length: 200 }, () => creation({ createArgument: templateArguments })));
    const client = await stream(sandbox, upTo(200));
    client.socket.pause();
    let before = -1;
    while (sent > before) {
      before = sent;
      await after(50);
    }
    expect(sent).toBeLessThan(100);
    client.socket.resume();
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  it('ends with an error when what it has not sent yet is pruned', async () => {
    const sandbox = await sandboxWith();
    const body = (element: unknown) => {
      if (offsetOf(element) === 2) sandbox.prune(4);
      return element;
    };
    sandbox.append(creation(), creation(), creation(), creation());
    sandbox.fault({ kind: 'rewrite', body });
    const client = await stream(sandbox, upTo(4));
    expect(await client.closed).toBe(1000);
    expect(client.messages.slice(0, 2).map(offsetOf)).toEqual([1, 2]);
    expect(client.messages.slice(2)).toMatchObject([
      {
        code: 'PARTICIPANT_PRUNED_DATA_ACCESSED',
        cause: 'Updates request from 3 to 4 precedes pruned offset 4',
        context: { earliest_offset: '4' },
      },
    ]);
  });

  it('without an end is let go of when the client leaves', async () => {
    let checked = 0;
    const sandbox = await sandboxWith({ checkToken: () => (checked += 1) > 0, idleCheckpointMs: 10 });
    const client = await stream(sandbox, tail);
    await client.has(1);
    client.socket.terminate();
    while (sandbox.requests[0]?.aborted !== true) await after(1);
    const before = checked;
    sandbox.append(creation());
    await after(30);
    expect(checked).toBe(before);
  });
});

describe('the error of a stream', () => {
  it.each([
    ['a begin after the ledger end', { beginExclusive: 9 }, 'OFFSET_AFTER_LEDGER_END'],
    ['an end after the ledger end', { endInclusive: 9 }, 'OFFSET_AFTER_LEDGER_END'],
    ['a negative begin', { beginExclusive: -1 }, 'NEGATIVE_OFFSET'],
    ['no end that could be first', { descendingOrder: true }, 'DESCENDING_ORDER_MISSING_END'],
    ['no format', { updateFormat: null }, 'INVALID_ARGUMENT'],
  ])('for %s is the body of the HTTP error as the one message, and then closed', async (_, wrong, code) => {
    const sandbox = await sandboxWithThree();
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const body = { ...tail, ...wrong };
    const client = await stream(sandbox, body, { headers });
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([{ code, traceId: 'ab'.repeat(16) }]);
    expect(client.messages).toEqual([(await post(sandbox, '/v2/updates', body, { headers })).json]);
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['of another type', { ...tail, beginExclusive: 'first' }],
    ['bytes', new TextEncoder().encode(JSON.stringify(tail))],
  ])('for a request that is %s is an internal error', async (_, body) => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, undefined);
    client.socket.send(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
    expect(await client.closed).toBe(1000);
    expect(client.messages).toEqual([
      {
        code: 'LEDGER_API_INTERNAL_ERROR',
        cause: expect.stringMatching(/^Invalid value for: body \(/),
        correlationId: null,
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
        context: {},
        resources: [],
        errorCategory: 4,
        grpcCodeValue: 13,
        retryInfo: null,
        definiteAnswer: false,
      },
    ]);
  });

  it('tells no trace of the client in 3.4', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const client = await stream(sandbox, { ...tail, beginExclusive: 9 }, { headers });
    await client.closed;
    expect(client.messages).toMatchObject([{ traceId: expect.not.stringContaining('abab') }]);
  });

  it('tells in 3.6 that the older path is disabled, whatever was asked, unless it is enabled', async () => {
    const sandbox = await sandboxWith({ profile: '3.6' });
    sandbox.append(creation());
    const path = '/v2/updates/flats';
    const client = await stream(sandbox, 'nonsense', { path });
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([{ code: 'DEPRECATED_API_DISABLED', errorCategory: 9, grpcCodeValue: 9 }]);
    sandbox.configure({ deprecatedApis: true });
    const enabled = await stream(sandbox, upTo(1), { path });
    expect(await enabled.closed).toBe(1000);
    expect(offsets(enabled)).toEqual([1]);
  });
});

describe('the checkpoints of a stream', () => {
  it('come early from 3.5 on, and may equal the begin', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    sandbox.append({
      Transaction: { value: { recordTime: '2026-07-24T10:00:00.123456Z', events: [{ CreatedEvent: {} }] } },
    });
    sandbox.advance(4);
    const client = await stream(sandbox, tail);
    await client.has(2);
    expect(variants(client)).toEqual(['Transaction', 'OffsetCheckpoint']);
    expect(at(client.messages, 1, 'update', 'OffsetCheckpoint', 'value')).toEqual({
      offset: 5,
      synchronizerTimes: [{ synchronizerId: sandbox.synchronizers[0], recordTime: '2026-07-24T10:00:00.123456Z' }],
    });
    const late = await stream(sandbox, { ...tail, beginExclusive: 5 });
    await late.has(1);
    expect(offsets(late)).toEqual([5]);
  });

  it('come early no sooner than they are set to, and by default in 3.5 alone', async () => {
    const begun = Date.now();
    const [recent, older] = await Promise.all([sandboxWith(), sandboxWith({ profile: '3.4' })]);
    const [client, none] = await Promise.all([stream(recent, tail), stream(older, tail)]);
    await client.has(1);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(495);
    await after(30);
    expect(none.texts).toEqual([]);
  });

  it('come on an idle stream, once for each offset', async () => {
    const sandbox = await sandboxWith({ profile: '3.4', idleCheckpointMs: 20 });
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await client.has(2);
    await after(300);
    sandbox.advance(2);
    await client.has(3);
    await after(300);
    sandbox.append(creation());
    await client.has(4);
    expect(variants(client)).toEqual(['Transaction', 'OffsetCheckpoint', 'OffsetCheckpoint', 'Transaction']);
    expect(offsets(client)).toEqual([1, 1, 3, 4]);
  });

  it('come early also if one has come on the idle stream before', async () => {
    const clock = stoppedClock();
    const sandbox = await sandboxWith({ idleCheckpointMs: 2_000, earlyCheckpointMs: 2_500 });
    const client = await stream(sandbox, tail);
    await clock.isWaitedFor();
    await clock.pass(2_000);
    await client.has(1);
    await clock.isWaitedFor();
    sandbox.advance(1);
    await clock.isWaitedFor();
    // the next one of an idle stream would come much later
    await clock.pass(500);
    await client.has(2);
    expect(offsets(client)).toEqual([0, 1]);
  });

  it('are put off by each element', async () => {
    const clock = stoppedClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 1_000 });
    const client = await stream(sandbox, tail);
    for (let sent = 1; sent <= 4; sent++) {
      await clock.isWaitedFor();
      await clock.pass(300);
      sandbox.append(creation());
      await client.has(sent);
    }
    await clock.isWaitedFor();
    await clock.pass(1_000);
    await client.has(5);
    expect(variants(client).indexOf('OffsetCheckpoint')).toBe(4);
  });

  it('never come with an end', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 0, idleCheckpointMs: 1 });
    sandbox.append(creation());
    const client = await stream(sandbox, upTo(1));
    await client.closed;
    expect(variants(client)).toEqual(['Transaction']);
  });
});

describe('a restart, and a close', () => {
  it.each(['restart', 'close'] as const)('ends WebSockets at once and without a close frame: %s', async (end) => {
    const sandbox = await sandboxWith();
    const [asked, silent] = await Promise.all([stream(sandbox, tail), stream(sandbox, undefined)]);
    while (sandbox.requests.every(({ body }) => body === undefined)) await after(1);
    const closed = Promise.all([asked.closed, silent.closed]);
    const begun = Date.now();
    await sandbox[end]();
    expect(await closed).toEqual([1006, 1006]);
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(sandbox.requests.map(({ status, aborted }) => [status, aborted])).toEqual([
      [101, false],
      [101, false],
    ]);
  });

  it('lets WebSockets come back to the same port', async () => {
    const sandbox = await sandboxWithThree();
    const lost = await stream(sandbox, tail);
    await lost.has(3);
    await sandbox.restart();
    const client = await stream(sandbox, { ...tail, beginExclusive: 2 });
    await client.has(1);
    expect(offsets(client)).toEqual([3]);
  });
});

describe('the end of a WebSocket', () => {
  it('that the client asks for before its request comes at once', async () => {
    const sandbox = await sandboxWith();
    const client = await stream(sandbox, undefined);
    client.socket.close(1001);
    expect(await client.closed).toBe(1001);
    while (sandbox.requests[0]?.aborted !== true) await after(1);
  });

  it('that the client asks for during an endless stream does not come, and elements still do', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.has(3);
    client.socket.close();
    await after(30);
    expect(client.socket.readyState).toBe(client.socket.CLOSING);
    sandbox.append(creation());
    await once(client.socket, 'message');
    expect(offsets(client)).toEqual([1, 2, 3, 4]);
    expect(sandbox.requests[0]?.aborted).toBe(false);
    client.socket.terminate();
    while (sandbox.requests[0]?.aborted !== true) await after(1);
  });

  it('that the client asks for during a bounded stream comes with the end of that', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...Array.from({ length: 500 }, () => creation()));
    const client = await stream(sandbox, upTo(500));
    client.socket.close();
    expect(await client.closed).toBe(1000);
    expect(client.messages).toHaveLength(500);
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('comes at once after a mistake in the protocol', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.has(3);
    const closes = once(client.socket, 'close');
    // a text that is no UTF-8, in a masked frame
    connectionOf(client).write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]));
    expect((await closes)[0]).toBe(1007);
  });
});
