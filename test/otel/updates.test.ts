import { context, createContextKey, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, lastValueFrom, take, tap, toArray } from 'rxjs';
import { createLedger, ledgerEffects, type Update } from '../../src/index.js';
import { liveContracts, partiesOf } from '../../src/contracts/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { ledgerWith, sdk, sum, tracedLedger, updateFormat, withContexts } from './support.js';

const start = sandboxes();
withContexts();

const flats = '/v2/updates/flats';

describe('the rights of users', () => {
  // a service for many users reads those of each: a name in a metric would be another series for each of them
  it('are one span name and one series of metrics, however many users there are', async () => {
    const { ledger, telemetry } = tracedLedger(await start(), 0);
    for (const userId of ['ann', 'bob/1'])
      await lastValueFrom(
        partiesOf(ledger, { userId }).pipe(
          take(1),
          catchError(() => EMPTY),
        ),
        { defaultValue: undefined },
      );
    const template = '/v2/users/{user-id}/rights';
    expect(telemetry.spans().map(({ name }) => name)).toEqual([`GET ${template}`, `GET ${template}`]);
    expect(telemetry.attributes(undefined, 'url.template')).toEqual([template, template]);
    const durations = await telemetry.measured('canton_rx.request.duration');
    expect(durations.map(({ attributes }) => attributes['url.template'])).toEqual([template]);
    expect(durations.map(({ value }) => value)).toEqual([2]);
  });
});

describe('a feed', () => {
  it('has a span for each poll, with its range, its limit and the number of its elements', async () => {
    const { ledger, bounded, telemetry, sandbox } = tracedLedger(await start(), 50);
    await lastValueFrom(ledger.updates(bounded, { maxPageSize: 30, parallelRanges: 1 }).pipe(toArray()));
    const polls = telemetry.spans('poll updates');
    expect(polls.map(({ attributes }) => attributes)).toMatchObject([
      {
        'http.request.method': 'POST',
        'url.full': `${sandbox.url}${flats}?limit=30`,
        'url.template': flats,
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(sandbox.url).port),
        'http.response.status_code': 200,
        'canton.updates.begin_exclusive': 0,
        'canton.updates.end_inclusive': sandbox.ledgerEnd,
        'canton.updates.limit': 30,
        'canton.updates.count': 30,
      },
      { 'canton.updates.limit': 30, 'canton.updates.end_inclusive': sandbox.ledgerEnd },
    ]);
    // the request begins with the last update, as a proof
    expect(polls[1]?.attributes['canton.updates.begin_exclusive']).toBe(
      Number(polls[0]?.attributes['canton.updates.last_offset']) - 1,
    );
    expect(polls.map(({ kind, status }) => [kind, status.code])).toEqual(
      polls.map(() => [SpanKind.CLIENT, SpanStatusCode.UNSET]),
    );
  });

  it('is a trace of its own for each poll, linked to the span that was active at the subscription', async () => {
    const { ledger, bounded, telemetry, tracer } = tracedLedger(await start(), 50);
    const span = tracer.startSpan('caller');
    const active: unknown[] = [];
    await context.with(trace.setSpan(context.active(), span), () =>
      lastValueFrom(
        ledger.updates(bounded, { maxPageSize: 20 }).pipe(
          tap(() => {
            active.push(trace.getActiveSpan());
          }),
        ),
      ),
    );
    const polls = telemetry.spans();
    expect(polls.length).toBeGreaterThan(2);
    expect(new Set(polls.map((poll) => poll.spanContext().traceId)).size).toBe(polls.length);
    for (const poll of polls) {
      expect(poll.parentSpanContext).toBeUndefined();
      expect(poll.links.map((link) => link.context)).toEqual([span.spanContext()]);
    }
    // the subscriber still runs in its own span
    expect(new Set(active)).toEqual(new Set([span]));
  });

  it('sends the context of its span, in which instrumentations of fetch create no second span', async () => {
    const { sandbox, telemetry } = tracedLedger(await start(), 5);
    // the key that instrumentations of fetch read
    const suppressTracing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
    const isSuppressed = (): boolean => context.active().getValue(suppressTracing) === true;
    const headers: unknown[] = [];
    const active: unknown[] = [];
    const suppressed: boolean[] = [];
    const recordingFetch: typeof fetch = async (input, init) => {
      headers.push(input instanceof Request ? input.headers.get('traceparent') : undefined);
      active.push(trace.getActiveSpan()?.spanContext().spanId);
      const answer = await fetch(input, init);
      suppressed.push(isSuppressed());
      return answer;
    };
    const after: unknown[] = [];
    const ledger = ledgerWith({ baseUrl: sandbox.url, fetch: recordingFetch }, telemetry);
    const feed$ = ledger.updates({ beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat });
    await lastValueFrom(
      feed$.pipe(
        tap(() => {
          after.push(isSuppressed(), trace.getActiveSpan());
        }),
      ),
    );
    after.push(isSuppressed(), trace.getActiveSpan());
    const polls = telemetry.spans().map((span) => span.spanContext());
    expect(polls.length).toBeGreaterThan(0);
    expect(headers).toEqual(polls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
    expect(active).toEqual(polls.map(({ spanId }) => spanId));
    expect(new Set(suppressed)).toEqual(new Set([true]));
    expect(new Set(after)).toEqual(new Set([false, undefined]));
  });

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
    const ledger = ledgerWith({ baseUrl: sandbox.url });
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
    sandbox.fault({ kind: 'rewrite', body: () => [{ update: 7 }] }, { path: flats, after: 2 });
    const bounded = { beginExclusive: 0, endInclusive: 1, updateFormat };
    const all = (options: object = {}) => lastValueFrom(ledger.updates(bounded, options).pipe(toArray()));
    await expect(all()).rejects.toMatchObject({ _tag: 'DecodeError' });
    expect(await all({ onUndecodable: 'emit' })).toMatchObject([{ _tag: 'UndecodedUpdate' }]);
    await expect(all()).rejects.toMatchObject({ _tag: 'DecodeError' });
    const polls = telemetry.spans('poll updates');
    const failed = { 'canton_rx.result': 'failed', 'error.type': 'DecodeError', 'http.response.status_code': 200 };
    expect(polls.map(({ attributes }) => attributes)).toMatchObject([
      { ...failed, 'canton.updates.count': 1 },
      { 'canton_rx.result': 'answered', 'canton.updates.count': 1 },
      failed,
    ]);
    const { ERROR, UNSET } = SpanStatusCode;
    expect(polls.map(({ status }) => status.code)).toEqual([ERROR, UNSET, ERROR]);
    expect(sum(await telemetry.measured('canton_rx.polls'))).toBe(3);
    expect(await telemetry.measured('canton_rx.decode.failures')).toMatchObject([{ value: 3 }]);
    expect(await telemetry.measured('canton_rx.feed.failures')).toMatchObject([
      { attributes: { 'error.type': 'DecodeError' }, value: 2 },
    ]);
    sandbox.prune(5);
    await expect(lastValueFrom(ledger.updates({ beginExclusive: 0, updateFormat }))).rejects.toMatchObject({
      _tag: 'PrunedError',
    });
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

describe('a single request', () => {
  it('has one span for each request, the one with a refused token included', async () => {
    const { sandbox, telemetry } = tracedLedger(await start({ checkToken: (token) => token === 'token-2' }), 5);
    let calls = 0;
    const token = () => Promise.resolve(`token-${Math.min(2, (calls += 1))}`);
    const ledger = ledgerWith({ baseUrl: sandbox.url, token }, telemetry);
    await lastValueFrom(ledger.ledgerEnd());
    expect(telemetry.attributes('GET /v2/state/ledger-end', 'http.response.status_code')).toEqual([401, 200]);
    expect(await telemetry.exported()).not.toContain('token-');
  });

  it('has one span where the subscriber unsubscribes when it receives the answer', async () => {
    const { ledger, telemetry } = tracedLedger(await start(), 5);
    await lastValueFrom(ledger.ledgerEnd().pipe(take(1)));
    expect(telemetry.attributes(undefined, 'canton_rx.result')).toEqual(['answered']);
    expect(await telemetry.measured('canton_rx.request.duration')).toMatchObject([{ value: 1 }]);
  });

  it.each([
    ['times out', { kind: 'hang' }, 'RequestTimeoutError'],
    ['does not decode', { kind: 'rewrite', body: () => ({ offset: 'seven' }) }, 'DecodeError'],
  ] as const)('has an error where it %s, unlike one that is unsubscribed', async (_, fault, type) => {
    const { sandbox, telemetry } = tracedLedger(await start(), 5);
    sandbox.fault(fault, { path: '/v2/state/ledger-end' });
    const ledger = ledgerWith({ baseUrl: sandbox.url, requestTimeoutMs: 200 }, telemetry);
    await expect(lastValueFrom(ledger.ledgerEnd())).rejects.toMatchObject({ _tag: type });
    expect(
      telemetry
        .spans()
        .map(({ attributes, status }) => [attributes['error.type'], attributes['canton_rx.result'], status.code]),
    ).toEqual([[type, 'failed', SpanStatusCode.ERROR]]);
  });
});

const synchronizerOf = (update: Update): string =>
  update._tag === 'OffsetCheckpoint' || update._tag === 'UnknownUpdate' ? 'undefined' : String(update.synchronizerId);
