import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, listAt, offsetOf, offsets, post, requestReceived, sandboxWith, variantOf, variants } from './client.js';
import { creation, readUpdates, tail } from './requests.js';
import { stream } from './webSockets.js';
import { stopClock, until } from '../helpers/time.js';

describe('an open-ended list of updates', () => {
  it('ends after its idle time with the existing updates', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: false });
    sandbox.append(creation());
    expect(offsets(await post(sandbox, '/v2/updates?stream_idle_timeout_ms=50', tail))).toEqual([1]);
    sandbox.configure({ listWaitTimeMs: 60 });
    const before = Date.now();
    expect(offsets(await post(sandbox, '/v2/updates', tail))).toEqual([1]);
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
  });

  it('has updates that are appended meanwhile, and ends at once at its limit', async () => {
    const sandbox = await sandboxWith();
    const reply = post(sandbox, '/v2/updates?limit=2&stream_idle_timeout_ms=10000', tail);
    await requestReceived(sandbox);
    sandbox.append(creation());
    sandbox.append(creation());
    expect(offsets(await reply)).toEqual([1, 2]);
  });

  it('is kept open by each element', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false });
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=1000', tail);
    await clock.hasTimer();
    for (let sent = 0; sent < 3; sent++) {
      await clock.advance(600);
      sandbox.append(creation());
    }
    await clock.advance(1_000);
    expect(offsets(await reply)).toEqual([1, 2, 3]);
  });

  it('is a 503 in plain text after the request timeout', async () => {
    const sandbox = await sandboxWith({ requestTimeoutMs: 60 });
    const reply = await post(sandbox, '/v2/updates?stream_idle_timeout_ms=5000', tail);
    expect(reply).toMatchObject({ status: 503, type: 'text/plain; charset=UTF-8' });
    expect(reply.text).toMatch(/^The server was not able to produce a timely response/);
  });

  it('is released when the client disconnects', async () => {
    const sandbox = await sandboxWith();
    const client = new AbortController();
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=10000', tail, { signal: client.signal });
    await requestReceived(sandbox);
    client.abort();
    await expect(reply).rejects.toThrow();
    await until(() => sandbox.requests[0]?.aborted === true);
    sandbox.append(creation());
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it('ends with an error if its token expires before the next element', async () => {
    let expired = false;
    const sandbox = await sandboxWith({ checkToken: () => !expired });
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=10000', tail);
    await requestReceived(sandbox);
    expired = true;
    sandbox.append(creation());
    expect(await reply).toMatchObject({ status: 409, json: { code: 'ACCESS_TOKEN_EXPIRED', errorCategory: 2 } });
  });
});

/** Reads the first elements of a stream without an end: as a list, or as the messages of a WebSocket. */
const readers = {
  list: async (sandbox: Sandbox, count: number, beginExclusive = 0) => {
    const path = `/v2/updates?limit=${count}&stream_idle_timeout_ms=10000`;
    return listAt((await post(sandbox, path, { ...tail, beginExclusive })).json);
  },
  stream: async (sandbox: Sandbox, count: number, beginExclusive = 0) =>
    (await stream(sandbox, { ...tail, beginExclusive })).received(count),
};

describe.each(['list', 'stream'] as const)('the checkpoints of a %s', (kind) => {
  const read = readers[kind];

  it('are at the ledger end, with the record time of each synchronizer', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    sandbox.append({
      Transaction: { value: { recordTime: '2026-07-24T10:00:00.123456Z', events: [{ CreatedEvent: {} }] } },
    });
    sandbox.advance(4);
    const elements = await read(sandbox, 2);
    expect(elements.map(variantOf)).toEqual(['Transaction', 'OffsetCheckpoint']);
    expect(at(elements, 1, 'update', 'OffsetCheckpoint', 'value')).toEqual({
      offset: 5,
      synchronizerTimes: [{ synchronizerId: sandbox.synchronizers[0], recordTime: '2026-07-24T10:00:00.123456Z' }],
    });
  });

  it('may have the begin offset', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    sandbox.advance(3);
    expect((await read(sandbox, 1, 3)).map(offsetOf)).toEqual([3]);
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
      const idle = post(sandbox, '/v2/updates?stream_idle_timeout_ms=60', tail);
      await clock.hasTimer();
      await clock.advance(20 + 60);
      expect(variants(await idle)).toEqual(['Transaction', 'Transaction', ...checkpoints]);
    }
  });

  it('are released with their list', async () => {
    const clock = stopClock();
    let checked = 0;
    const checkToken = () => (checked += 1) > 0;
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 30, checkToken });
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=10', tail);
    await clock.hasTimer();
    await clock.advance(10);
    await reply;
    await clock.advance(50);
    expect(checked).toBe(1);
  });

  it('keep a list from becoming idle', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 60 });
    const reply = post(sandbox, '/v2/updates?limit=2&stream_idle_timeout_ms=90', tail);
    await clock.hasTimer();
    await clock.advance(149);
    sandbox.append(creation());
    expect(variants(await reply)).toEqual(['OffsetCheckpoint', 'Transaction']);
  });

  it('are never sent with an end', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 1 });
    sandbox.append(creation());
    expect(variants(await readUpdates(sandbox))).toEqual(['Transaction']);
  });
});
