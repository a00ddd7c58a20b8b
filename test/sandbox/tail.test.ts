import { describe, expect, it } from '@jest/globals';
import { at, offsets, post, requestReceived, sandboxWith, variants } from './client.js';
import { creation, everything } from './requests.js';
import { stopClock, until } from '../helpers/time.js';

const body = { beginExclusive: 0, updateFormat: everything };

describe('an open-ended list of updates', () => {
  it('ends after its idle time with the existing updates', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: false });
    sandbox.append(creation());
    expect(offsets(await post(sandbox, '/v2/updates?stream_idle_timeout_ms=50', body))).toEqual([1]);
    sandbox.configure({ listWaitTimeMs: 60 });
    const before = Date.now();
    expect(offsets(await post(sandbox, '/v2/updates', body))).toEqual([1]);
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
  });

  it('has updates that are appended meanwhile, and ends at once at its limit', async () => {
    const sandbox = await sandboxWith();
    const reply = post(sandbox, '/v2/updates?limit=2&stream_idle_timeout_ms=10000', body);
    await requestReceived(sandbox);
    sandbox.append(creation());
    sandbox.append(creation());
    expect(offsets(await reply)).toEqual([1, 2]);
  });

  it('is kept open by each element', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false });
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=1000', body);
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
    const reply = await post(sandbox, '/v2/updates?stream_idle_timeout_ms=5000', body);
    expect(reply).toMatchObject({ status: 503, type: 'text/plain; charset=UTF-8' });
    expect(reply.text).toMatch(/^The server was not able to produce a timely response/);
  });

  it('is released when the client disconnects', async () => {
    const sandbox = await sandboxWith();
    const client = new AbortController();
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=10000', body, { signal: client.signal });
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
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=10000', body);
    await requestReceived(sandbox);
    expired = true;
    sandbox.append(creation());
    expect(await reply).toMatchObject({ status: 409, json: { code: 'ACCESS_TOKEN_EXPIRED', errorCategory: 2 } });
  });
});

describe('checkpoints', () => {
  it('are sent once, at the ledger end, with the record time of each synchronizer', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    sandbox.append({
      Transaction: { value: { recordTime: '2026-07-24T10:00:00.123456Z', events: [{ CreatedEvent: {} }] } },
    });
    sandbox.advance(4);
    const reply = await post(sandbox, '/v2/updates?stream_idle_timeout_ms=100', body);
    expect(variants(reply)).toEqual(['Transaction', 'OffsetCheckpoint']);
    expect(at(reply.json, 1, 'update', 'OffsetCheckpoint', 'value')).toEqual({
      offset: 5,
      synchronizerTimes: [{ synchronizerId: sandbox.synchronizers[0], recordTime: '2026-07-24T10:00:00.123456Z' }],
    });
  });

  it('may have the begin offset, and count for the limit', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    sandbox.advance(3);
    const tail = { ...body, beginExclusive: 3 };
    const reply = await post(sandbox, '/v2/updates?limit=1&stream_idle_timeout_ms=10000', tail);
    expect(variants(reply)).toEqual(['OffsetCheckpoint']);
    expect(offsets(reply)).toEqual([3]);
  });

  it('are sent on an idle list, in each release, and again only after the ledger end has advanced', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ profile: '3.4', idleCheckpointMs: 20 });
    sandbox.append(creation());
    const reply = post(sandbox, '/v2/updates?limit=4&stream_idle_timeout_ms=10000', body);
    await clock.hasTimer();
    await clock.advance(300);
    sandbox.advance(2);
    await clock.advance(300);
    sandbox.append(creation());
    const all = await reply;
    expect(variants(all)).toEqual(['Transaction', 'OffsetCheckpoint', 'OffsetCheckpoint', 'Transaction']);
    expect(offsets(all)).toEqual([1, 1, 3, 4]);
  });

  it('are postponed by each element, and not sent after the idle time of the list', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 1_000 });
    const reply = post(sandbox, '/v2/updates?limit=3&stream_idle_timeout_ms=10000', body);
    await clock.hasTimer();
    for (let sent = 0; sent < 2; sent++) {
      await clock.advance(600);
      sandbox.append(creation());
    }
    await clock.advance(1_000);
    expect(variants(await reply)).toEqual(['Transaction', 'Transaction', 'OffsetCheckpoint']);
    for (const [idleCheckpointMs, checkpoints] of [[20, ['OffsetCheckpoint']] as const, [false, []] as const]) {
      sandbox.configure({ idleCheckpointMs });
      const idle = post(sandbox, '/v2/updates?stream_idle_timeout_ms=60', body);
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
    const reply = post(sandbox, '/v2/updates?stream_idle_timeout_ms=10', body);
    await clock.hasTimer();
    await clock.advance(10);
    await reply;
    await clock.advance(50);
    expect(checked).toBe(1);
  });

  it('keep a list from becoming idle', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 60 });
    const reply = post(sandbox, '/v2/updates?limit=2&stream_idle_timeout_ms=90', body);
    await clock.hasTimer();
    await clock.advance(149);
    sandbox.append(creation());
    expect(variants(await reply)).toEqual(['OffsetCheckpoint', 'Transaction']);
  });

  it('are never sent with an end, and not early in 3.4', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 1 });
    sandbox.append(creation());
    const bounded = { ...body, endInclusive: 1 };
    expect(variants(await post(sandbox, '/v2/updates', bounded))).toEqual(['Transaction']);
    const old = await sandboxWith({ profile: '3.4' });
    expect(variants(await post(old, '/v2/updates?stream_idle_timeout_ms=600', body))).toEqual([]);
  });
});
