import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { stopClock } from '../helpers/time.js';
import {
  at,
  failure,
  listAt,
  offsetOf,
  offsets,
  plain,
  post,
  requestReceived,
  sandboxWith,
  stream,
  streamToEnd,
  variantOf,
  variants,
} from './client.js';
import { creation, creationsOf, readUpdates, sandboxWithThree, tail, updatesPath, upTo } from './requests.js';

/** Reads a list without an end, with this idle time. */
const listTail = (sandbox: Sandbox, idleMs: number, query = '') =>
  post(sandbox, `${updatesPath}?stream_idle_timeout_ms=${idleMs}${query}`, tail);

describe('an open-ended list of updates', () => {
  it('ends after its idle time with the existing updates, and each element postpones that', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false });
    const reply = listTail(sandbox, 1_000);
    await clock.hasTimer();
    for (let sent = 0; sent < 3; sent++) {
      await clock.advance(600);
      sandbox.append(creation());
    }
    await clock.advance(1_000);
    expect(offsets(await reply)).toEqual([1, 2, 3]);
    sandbox.configure({ listWaitTimeMs: 60 });
    const byDefault = post(sandbox, updatesPath, tail);
    await clock.hasTimer();
    await clock.advance(60);
    expect(offsets(await byDefault)).toEqual([1, 2, 3]);
  });

  it('has updates that are appended meanwhile, and ends at once at its limit', async () => {
    const sandbox = await sandboxWith();
    const reply = listTail(sandbox, 10_000, '&limit=2');
    await requestReceived(sandbox);
    sandbox.append(creation());
    sandbox.append(creation());
    expect(offsets(await reply)).toEqual([1, 2]);
  });

  it('is a 503 in plain text after the request timeout', async () => {
    const sandbox = await sandboxWith({ requestTimeoutMs: 60 });
    const expected = plain(503, 'The server was not able to produce a timely response');
    expect(await listTail(sandbox, 5_000)).toMatchObject(expected);
  });

  it('ends with an error if its token expires before the next element', async () => {
    let expired = false;
    const sandbox = await sandboxWith({ checkToken: () => !expired });
    const reply = listTail(sandbox, 10_000);
    await requestReceived(sandbox);
    expired = true;
    sandbox.append(creation());
    expect(await reply).toMatchObject(failure(409, 'ACCESS_TOKEN_EXPIRED', { errorCategory: 2 }));
  });
});

/** Reads the first elements of a stream without an end: as a list, or as the messages of a WebSocket. */
const readers = {
  list: async (sandbox: Sandbox, count: number, beginExclusive = 0) => {
    const path = `${updatesPath}?limit=${count}&stream_idle_timeout_ms=10000`;
    return listAt((await post(sandbox, path, { ...tail, beginExclusive })).json);
  },
  stream: async (sandbox: Sandbox, count: number, beginExclusive = 0) =>
    (await stream(sandbox, { ...tail, beginExclusive })).received(count),
};

describe.each(['list', 'stream'] as const)('the checkpoints of a %s', (kind) => {
  const read = readers[kind];

  it('are at the ledger end, also without updates, with the record time of each synchronizer', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    const recordTime = '2026-07-24T10:00:00.123456Z';
    sandbox.append({ Transaction: { value: { recordTime, events: [{ CreatedEvent: {} }] } } });
    sandbox.advance(4);
    const elements = await read(sandbox, 2);
    expect(elements.map(variantOf)).toEqual(['Transaction', 'OffsetCheckpoint']);
    expect(at(elements, 1, 'update', 'OffsetCheckpoint', 'value')).toEqual({
      offset: 5,
      synchronizerTimes: [{ synchronizerId: sandbox.synchronizers[0], recordTime }],
    });
    expect((await read(sandbox, 1, 5)).map(offsetOf)).toEqual([5]);
  });

  it.each([
    ['3.4', 'Transaction'],
    ['3.5', 'OffsetCheckpoint'],
  ] as const)('are sent 500 ms after its start since 3.5, and not before: %s has a %s', async (profile, second) => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ profile });
    const elements = read(sandbox, 2);
    await clock.hasTimer();
    await clock.advance(499);
    sandbox.append(creation());
    await clock.hasTimer();
    await clock.advance(1);
    if (second === 'Transaction') sandbox.append(creation());
    expect((await elements).map(variantOf)).toEqual(['Transaction', second]);
  });

  it('are sent when it is idle, in each release, and again only after the ledger end has advanced', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ profile: '3.4', idleCheckpointMs: 20 });
    sandbox.append(creation());
    const reading = read(sandbox, 4);
    for (const change of [() => sandbox.advance(2), () => undefined, () => sandbox.append(creation())]) {
      await clock.hasTimer();
      await clock.advance(300);
      await clock.hasTimer();
      change();
    }
    const elements = await reading;
    expect(elements.map(variantOf)).toEqual(['Transaction', 'OffsetCheckpoint', 'OffsetCheckpoint', 'Transaction']);
    expect(elements.map(offsetOf)).toEqual([1, 1, 3, 4]);
  });

  it('are sent early also after one of an idle stream', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ idleCheckpointMs: 2_000, earlyCheckpointMs: 2_500 });
    const elements = read(sandbox, 2);
    await clock.hasTimer();
    await clock.advance(2_000);
    await clock.hasTimer();
    sandbox.advance(1);
    await clock.hasTimer();
    // the next one of an idle stream would come much later
    await clock.advance(500);
    expect((await elements).map(offsetOf)).toEqual([0, 1]);
  });

  it('are postponed by each element', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 1_000 });
    const elements = read(sandbox, 5);
    for (let sent = 1; sent <= 4; sent++) {
      await clock.hasTimer();
      await clock.advance(600);
      sandbox.append(creation());
    }
    await clock.hasTimer();
    await clock.advance(1_000);
    expect((await elements).map(variantOf).indexOf('OffsetCheckpoint')).toBe(4);
  });
});

describe('the checkpoints of a list', () => {
  it('are sent once, and not after its idle time', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false });
    sandbox.append(creation(), creation());
    for (const [idleCheckpointMs, checkpoints] of [[20, ['OffsetCheckpoint']] as const, [false, []] as const]) {
      sandbox.configure({ idleCheckpointMs });
      const idle = listTail(sandbox, 60);
      await clock.hasTimer();
      await clock.advance(20 + 60);
      expect(variants(await idle)).toEqual(['Transaction', 'Transaction', ...checkpoints]);
    }
  });

  it('keep a list from becoming idle, and are never sent with an end', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 60 });
    const reply = listTail(sandbox, 90, '&limit=2');
    await clock.hasTimer();
    await clock.advance(149);
    sandbox.append(creation());
    expect(variants(await reply)).toEqual(['OffsetCheckpoint', 'Transaction']);
    sandbox.configure({ earlyCheckpointMs: 0, idleCheckpointMs: 0 });
    expect(variants(await readUpdates(sandbox))).toEqual(['Transaction']);
  });
});

describe('a stream of updates', () => {
  it('follows the first message and ignores further ones', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    client.socket.send(JSON.stringify({ ...tail, beginExclusive: 99 }));
    client.socket.send('nonsense');
    await client.received(3);
    sandbox.append(creation());
    await client.received(4);
    expect(offsets(client)).toEqual([1, 2, 3, 4]);
    expect(sandbox.requests[0]?.body).toEqual(tail);
  });

  it('has no limit, waits for its client, and buffers nothing beyond the connection', async () => {
    let received = 0;
    let checked = 0;
    let lead = 0;
    const checkToken = () => {
      checked += 1;
      lead = Math.max(lead, checked - received);
      return true;
    };
    const sandbox = await sandboxWith({ checkToken, maxListElements: 2 });
    // much more than the kernel's buffers of a connection hold
    sandbox.append(...creationsOf(80, { createArgument: { note: 'x'.repeat(1_000_000) } }));
    const client = await stream(sandbox, undefined);
    client.socket.on('message', () => (received += 1));
    client.socket.send(JSON.stringify(upTo(80)));
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    expect(checked).toBeGreaterThanOrEqual(80);
    expect(lead).toBeLessThan(40);
  });

  /** Calls `happen` before the second update is sent. */
  const beforeSecond = (sandbox: Sandbox, happen: () => void) => {
    const body = (element: unknown) => {
      if (offsetOf(element) === 2) happen();
      return element;
    };
    sandbox.fault({ kind: 'rewrite', body }, { path: updatesPath });
  };

  it.each([
    ['with an end', upTo(3)],
    ['without an end', tail],
  ])('%s is cut off when the ledger is restored', async (_, request) => {
    const sandbox = await sandboxWithThree();
    beforeSecond(sandbox, () => {
      sandbox.restore(1);
      sandbox.append(creation());
    });
    const client = await stream(sandbox, request);
    if (request === tail) await client.received(2);
    sandbox.append(creation(), creation());
    expect(await client.closed).toBe(1011);
    expect(offsets(client)).toEqual([1, 2]);
  });

  it('ends with an error when updates that it has not sent are pruned', async () => {
    const sandbox = await sandboxWithThree();
    sandbox.append(creation());
    beforeSecond(sandbox, () => {
      sandbox.prune(4);
    });
    const client = await streamToEnd(sandbox, upTo(4));
    expect(client.messages.slice(0, 2).map(offsetOf)).toEqual([1, 2]);
    const cause = 'Updates request from 3 to 4 precedes pruned offset 4';
    const error = { code: 'PARTICIPANT_PRUNED_DATA_ACCESSED', cause, context: { earliest_offset: '4' } };
    expect(client.messages.slice(2)).toMatchObject([error]);
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['of another type', JSON.stringify({ ...tail, beginExclusive: 'first' })],
    ['bytes', new TextEncoder().encode(JSON.stringify(tail))],
  ])('that is requested with %s has an internal error', async (_, body) => {
    const client = await stream(await sandboxWithThree(), undefined);
    client.socket.send(body);
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

  it('has the trace of the client in its error, since 3.5', async () => {
    const sandbox = await sandboxWith();
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const error = async () => (await streamToEnd(sandbox, { ...tail, beginExclusive: 9 }, { headers })).messages;
    expect(await error()).toMatchObject([{ code: 'OFFSET_AFTER_LEDGER_END', traceId: 'ab'.repeat(16) }]);
    sandbox.configure({ profile: '3.4' });
    expect(await error()).toMatchObject([{ traceId: expect.not.stringContaining('abab') }]);
  });
});
