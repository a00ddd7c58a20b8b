import { metrics, SpanStatusCode } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, take, toArray } from 'rxjs';
import { createLedger, ledgerEffects, type Update } from '../../src/index.js';
import { liveContracts } from '../../src/contracts/index.js';
import { createTracedLedger } from '../../src/otel/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { sdk, sum, tracedLedger, updateFormat, withContexts } from './support.js';

const start = sandboxes();
const contexts = withContexts();
beforeEach(contexts.enable);
afterEach(contexts.disable);

const flats = '/v2/updates/flats';

describe('a feed', () => {
  it('measures each failure, each retry and the page limit of the participant', async () => {
    const { sandbox, ledger, bounded, telemetry } = tracedLedger(await start({ maxListElements: 20 }), 60);
    sandbox.fault({ kind: 'status', status: 503, body: cantonError('SERVICE_NOT_RUNNING') }, { path: flats });
    sandbox.fault({ kind: 'status', status: 502, body: 'the words of a proxy' }, { path: flats });
    sandbox.fault({ kind: 'reset' }, { path: flats });
    const updates = await lastValueFrom(ledger.updates(bounded, { parallelRanges: 1 }).pipe(toArray()));
    const plain$ = createLedger({ baseUrl: sandbox.url }).updates(bounded, { maxPageSize: 10 });
    expect(updates).toEqual(await lastValueFrom(plain$.pipe(toArray())));
    const failed = telemetry.spans('poll updates').filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual([
      'SERVICE_NOT_RUNNING',
      '502',
      'ECONNRESET',
      ...Array<string>(4).fill('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED'),
    ]);
    expect(failed.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([
      503,
      502,
      undefined,
      ...Array<number>(4).fill(413),
    ]);
    const retries = await telemetry.measured('canton_rx.retries');
    expect(retries.map(({ attributes, value }) => [attributes['error.type'], value])).toEqual([
      ['SERVICE_NOT_RUNNING', 1],
      ['502', 1],
      ['ECONNRESET', 1],
    ]);
    expect(await telemetry.measured('canton_rx.page_limit')).toMatchObject([{ value: 12, unit: '{update}' }]);
    const polls = await telemetry.measured('canton_rx.polls');
    expect(sum(polls.filter(({ attributes }) => attributes['canton_rx.result'] === 'failed'))).toBe(7);
    expect(sum(polls)).toBe(telemetry.spans('poll updates').length);
    expect(sum(await telemetry.measured('canton_rx.request.duration'))).toBe(telemetry.spans().length);
    expect(await telemetry.exported()).not.toContain('the words of');
  });

  it('counts its updates by variant and synchronizer, together with those of concurrent feeds', async () => {
    const { ledger, telemetry, sandbox } = tracedLedger(await start(), 300);
    const request = {
      beginExclusive: 0,
      endInclusive: sandbox.ledgerEnd,
      updateFormat: ledgerEffects({ parties: 'any', topology: true }),
    };
    const all = await Promise.all([
      lastValueFrom(ledger.updates(request).pipe(toArray())),
      lastValueFrom(ledger.updates(request, { maxPageSize: 17 }).pipe(toArray())),
      lastValueFrom(ledger.updates(request).pipe(take(100), toArray())),
    ]);
    const expected = new Map<string, number>();
    for (const update of all.flat()) {
      const key = `${update._tag} ${synchronizerOf(update)}`;
      expected.set(key, (expected.get(key) ?? 0) + 1);
    }
    const measured = await telemetry.measured('canton_rx.updates');
    const counted = measured.map(({ attributes, value }): [string, number] => [
      `${String(attributes['canton.update.variant'])} ${String(attributes['canton.synchronizer.id'])}`,
      value,
    ]);
    expect(new Map(counted)).toEqual(expected);
    expect(counted.length).toBeGreaterThan(3);
  });

  it('without an end measures its lag, which is 0 after it is unsubscribed', async () => {
    // without a checkpoint a poll stays open, so each feed has exactly one
    const { ledger, telemetry, sandbox } = tracedLedger(await start({ earlyCheckpointMs: false }), 30);
    const feed = observe(ledger.updates({ beginExclusive: 0, updateFormat }, { maxPageSize: 10 }));
    const other = observe(ledger.updates({ beginExclusive: 0, updateFormat }));
    await until(() => sandbox.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query).length >= 2);
    const startedAt = Date.now();
    const before = await telemetry.measured();
    const endedAt = Date.now();
    const only = (name: string) => before.filter((one) => one.name === name);
    expect(only('canton_rx.feeds.active')).toMatchObject([{ attributes: {}, value: 2 }]);
    expect(only('canton_rx.lag.offsets')).toMatchObject([{ attributes: {}, value: 0, unit: '{offset}' }]);
    const lag = only('canton_rx.lag.record_time');
    const newest = new Map<string, number>();
    for (const update of feed.values) {
      if ('recordTime' in update) newest.set(synchronizerOf(update), Date.parse(update.recordTime));
    }
    expect(new Set(lag.map(({ attributes }) => attributes['canton.synchronizer.id']))).toEqual(new Set(newest.keys()));
    for (const { attributes, value, unit } of lag) {
      const recordedAt = newest.get(String(attributes['canton.synchronizer.id'])) ?? 0;
      expect(unit).toBe('s');
      expect(value).toBeGreaterThanOrEqual(Math.max(0, startedAt - recordedAt) / 1_000);
      expect(value).toBeLessThanOrEqual(Math.max(0, endedAt - recordedAt) / 1_000);
    }
    feed.subscription.unsubscribe();
    other.subscription.unsubscribe();
    const after = await telemetry.measured();
    const gauges = after.filter(({ name }) => name.startsWith('canton_rx.lag.') || name === 'canton_rx.feeds.active');
    expect(gauges.map(({ value }) => value)).toEqual(gauges.map(() => 0));
    expect(gauges.length).toBe(2 + lag.length);
    // the polls that were open
    const aborted = telemetry.spans('poll updates').filter(({ attributes }) => {
      return attributes['canton_rx.result'] === 'aborted';
    });
    expect(aborted).toHaveLength(2);
    expect(aborted.map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.UNSET]);
  });

  it('is measured after a provider is registered, even if it started before', async () => {
    const sandbox = await start();
    sandbox.generate(10, { seed: 7 });
    const ledger = createTracedLedger({ baseUrl: sandbox.url });
    let polls = 0;
    ledger.diagnostics$.subscribe(({ _tag }) => (polls += _tag === 'PollSent' ? 1 : 0));
    const request = { beginExclusive: 0, updateFormat };
    const reading$ = ledger.updates(request, { idleTimeoutMs: 50 });
    const feed = observe(reading$);
    const processed = updatesFeed(ledger, request, { idleTimeoutMs: 50 });
    const processor = observe(processFeed(processed, () => undefined, { name: 'late', store: memoryStore() }));
    const ended = observe(reading$);
    await until(() => ended.values.length > 0 && feed.values.length > 0 && processor.values.length > 0);
    ended.subscription.unsubscribe();
    const { meterProvider, measured } = sdk();
    metrics.setGlobalMeterProvider(meterProvider);
    try {
      sandbox.generate(3, { variants: ['Transaction'] });
      const before = polls;
      await until(() => polls > before + 8);
      const active = await measured('canton_rx.feeds.active');
      expect(active.map(({ attributes, value }) => [attributes['canton_rx.processor.name'], value]).sort()).toEqual([
        [undefined, 1],
        ['late', 1],
      ]);
      expect(sum(await measured('canton_rx.updates'))).toBeGreaterThan(0);
      expect((await measured('canton_rx.lag.record_time')).length).toBeGreaterThan(0);
      feed.subscription.unsubscribe();
      processor.subscription.unsubscribe();
      expect((await measured('canton_rx.feeds.active')).map(({ value }) => value)).toEqual([0, 0]);
    } finally {
      metrics.disable();
      feed.subscription.unsubscribe();
      processor.subscription.unsubscribe();
    }
  });

  it('that fails is counted, as are updates that do not decode and gaps', async () => {
    const { ledger, telemetry, sandbox } = tracedLedger(await start(), 10);
    const invalidPage = () => [{ update: { Transaction: { value: { offset: 1, updateId: 7 } } } }];
    sandbox.fault({ kind: 'rewrite', body: invalidPage }, { path: flats, times: 2 });
    const bounded = { beginExclusive: 0, endInclusive: 1, updateFormat };
    const failed = observe(ledger.updates(bounded));
    await until(() => failed.error !== undefined);
    const emitted = observe(ledger.updates(bounded, { onUndecodable: 'emit' }));
    await until(() => emitted.completed);
    expect(failed.error).toMatchObject({ _tag: 'DecodeError' });
    expect(emitted.values).toMatchObject([{ _tag: 'UndecodedUpdate' }]);
    expect(await telemetry.measured('canton_rx.decode.failures')).toMatchObject([{ value: 2 }]);
    expect(await telemetry.measured('canton_rx.feed.failures')).toMatchObject([
      { attributes: { 'error.type': 'DecodeError' }, value: 1 },
    ]);
    sandbox.prune(5);
    const pruned = observe(ledger.updates({ beginExclusive: 0, updateFormat }));
    await until(() => pruned.error !== undefined);
    expect(await telemetry.measured('canton_rx.gaps')).toMatchObject([
      { attributes: { 'error.type': 'PrunedError' }, value: 1 },
    ]);
  });

  it('of a live view is counted as well', async () => {
    const { ledger, telemetry, sandbox } = tracedLedger(await start(), 10);
    sandbox.fault({ kind: 'status', status: 503, body: cantonError('SERVICE_NOT_RUNNING') }, { path: flats });
    const states$ = liveContracts(ledger, { parties: [sandbox.hostedParty('alice')] }).state$;
    const states = observe(states$);
    await until(() => states.values.some(({ connection }) => connection.status === 'retrying'));
    await until(() => states.values.at(-1)?.data === 'live');
    states.subscription.unsubscribe();
    expect(await telemetry.measured('canton_rx.retries')).toMatchObject([
      { attributes: { 'error.type': 'SERVICE_NOT_RUNNING' }, value: 1 },
    ]);
  });
});

const synchronizerOf = (update: Update): string =>
  update._tag === 'OffsetCheckpoint' || update._tag === 'UnknownUpdate' ? 'undefined' : String(update.synchronizerId);
