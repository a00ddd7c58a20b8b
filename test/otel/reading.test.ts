import { context, createContextKey, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, take, tap, toArray } from 'rxjs';
import { acsDelta, createLedger, ledgerEffects, memoryStore, type Update } from '../../src/index.js';
import { createTracedLedger } from '../../src/otel/index.js';
import { cantonError, type SandboxOptions } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { until } from '../helpers/servers.js';
import { sdk, withContexts } from './support.js';

const start = sandboxes();
const contexts = withContexts();
beforeEach(contexts.enable);
afterEach(contexts.disable);

const updateFormat = acsDelta({ parties: 'any' });
const flats = '/v2/updates/flats';

async function given(updates: number, options: SandboxOptions = {}) {
  const sandbox = await start(options);
  if (updates > 0) sandbox.generate(updates, { seed: 7 });
  const telemetry = sdk();
  const ledger = createTracedLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }, telemetry);
  const tracer = telemetry.tracerProvider.getTracer('test');
  const bounded = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat };
  return { sandbox, telemetry, ledger, tracer, bounded };
}

/** Of offsets, that some kind is there. */
const sum = (all: readonly { readonly value: number }[]): number => all.reduce((total, { value }) => total + value, 0);

describe('a feed', () => {
  it('has a span for each poll, with what was asked for and what came', async () => {
    const { ledger, bounded, telemetry, sandbox } = await given(50);
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
    expect(polls[1]?.attributes['canton.updates.begin_exclusive']).toBe(
      polls[0]?.attributes['canton.updates.last_offset'],
    );
    expect(polls.map(({ kind, status }) => [kind, status.code])).toEqual(
      polls.map(() => [SpanKind.CLIENT, SpanStatusCode.UNSET]),
    );
  });

  it('has traces of its own, linked to the span in which it was subscribed', async () => {
    const { ledger, bounded, telemetry, tracer } = await given(50);
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
    // what the subscriber does is still in the subscriber's own span
    expect(new Set(active)).toEqual(new Set([span]));
  });

  it('asks in the trace of its span, in which nobody else traces the same request', async () => {
    const { sandbox, telemetry } = await given(5);
    // as the instrumentations of fetch do
    const suppressing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
    const isSuppressed = (): boolean => context.active().getValue(suppressing) === true;
    const headers: unknown[] = [];
    const active: unknown[] = [];
    const suppressed: boolean[] = [];
    const fetched: typeof fetch = async (input, init) => {
      headers.push(input instanceof Request ? input.headers.get('traceparent') : undefined);
      active.push(trace.getActiveSpan()?.spanContext().spanId);
      const answer = await fetch(input, init);
      suppressed.push(isSuppressed());
      return answer;
    };
    const after: unknown[] = [];
    const ledger = createTracedLedger({ baseUrl: sandbox.url, fetch: fetched }, telemetry);
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

  it('has one span for each request, with a token that is refused at first as well', async () => {
    const { sandbox, telemetry } = await given(5, { checkToken: (token) => token === 'token-2' });
    let asked = 0;
    const token = () => Promise.resolve(`token-${Math.min(2, (asked += 1))}`);
    const ledger = createTracedLedger({ baseUrl: sandbox.url, token }, telemetry);
    await lastValueFrom(ledger.ledgerEnd());
    expect(
      telemetry.spans('GET /v2/state/ledger-end').map(({ attributes }) => attributes['http.response.status_code']),
    ).toEqual([401, 200]);
    expect(await telemetry.exported()).not.toContain('token-');
  });

  it('has one span for a request whose subscriber leaves with the answer', async () => {
    const { ledger, telemetry } = await given(5);
    await lastValueFrom(ledger.ledgerEnd().pipe(take(1)));
    expect(telemetry.spans().map(({ attributes }) => attributes['canton_rx.result'])).toEqual(['answered']);
    expect(await telemetry.measured('canton_rx.request.duration')).toMatchObject([{ value: 1 }]);
  });

  it('tells a request that was not answered in time from one that was left', async () => {
    const { sandbox, telemetry } = await given(5);
    sandbox.fault({ kind: 'hang' }, { path: '/v2/state/ledger-end' });
    const ledger = createTracedLedger({ baseUrl: sandbox.url, requestTimeoutMs: 50 }, telemetry);
    expect(await lastValueFrom(ledger.ledgerEnd()).catch((error: unknown) => error)).toMatchObject({
      _tag: 'RequestTimeoutError',
    });
    expect(
      telemetry.spans().map(({ attributes }) => [attributes['error.type'], attributes['canton_rx.result']]),
    ).toEqual([['RequestTimeoutError', 'failed']]);
  });

  it('tells of each failure and each retry, and of what the participant teaches', async () => {
    const { sandbox, ledger, bounded, telemetry } = await given(60, { maxListElements: 20 });
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

  it('counts what it emits, by variant and synchronizer, as does another at the same time', async () => {
    const { ledger, telemetry, sandbox } = await given(300);
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

  it('that goes on tells how far it is behind, and nothing once nobody is subscribed', async () => {
    // a poll of each is answered by nothing, and so none of them asks twice
    const { ledger, telemetry, sandbox } = await given(30, { earlyCheckpointMs: false });
    const feed = observe(ledger.updates({ beginExclusive: 0, updateFormat }, { maxPageSize: 10 }));
    const other = observe(ledger.updates({ beginExclusive: 0, updateFormat }));
    await until(() => sandbox.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query).length >= 2);
    const begun = Date.now();
    const before = await telemetry.measured();
    const over = Date.now();
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
      expect(value).toBeGreaterThanOrEqual(Math.max(0, begun - recordedAt) / 1_000);
      expect(value).toBeLessThanOrEqual(Math.max(0, over - recordedAt) / 1_000);
    }
    feed.subscription.unsubscribe();
    other.subscription.unsubscribe();
    const after = await telemetry.measured();
    const gauges = after.filter(({ name }) => name.startsWith('canton_rx.lag.') || name === 'canton_rx.feeds.active');
    expect(gauges.map(({ value }) => value)).toEqual(gauges.map(() => 0));
    expect(gauges.length).toBe(2 + lag.length);
    // the polls that were waiting
    const aborted = telemetry.spans('poll updates').filter(({ attributes }) => {
      return attributes['canton_rx.result'] === 'aborted';
    });
    expect(aborted).toHaveLength(2);
    expect(aborted.map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.UNSET]);
  });

  it('is measured from when a provider is registered, also when it has begun before', async () => {
    const sandbox = await start();
    sandbox.generate(10, { seed: 7 });
    const ledger = createTracedLedger({ baseUrl: sandbox.url });
    let polls = 0;
    ledger.diagnostics$.subscribe(({ _tag }) => (polls += _tag === 'PollSent' ? 1 : 0));
    const reading$ = ledger.updates({ beginExclusive: 0, updateFormat }, { idleTimeoutMs: 50 });
    const feed = observe(reading$);
    const named = { name: 'late', store: memoryStore(), idleTimeoutMs: 50 };
    const processor = observe(ledger.process({ beginExclusive: 0, updateFormat }, () => undefined, named));
    const over = observe(reading$);
    await until(() => over.values.length > 0 && feed.values.length > 0 && processor.values.length > 0);
    over.subscription.unsubscribe();
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

  it('has the error of a page that does not decode on the span of its poll, with what came', async () => {
    const { ledger, telemetry, sandbox } = await given(10);
    const spoilt = () => [{ update: { Transaction: { value: { offset: 1, updateId: 7 } } } }];
    sandbox.fault({ kind: 'rewrite', body: spoilt }, { path: flats, times: 2 });
    sandbox.fault({ kind: 'rewrite', body: () => ({ updates: [] }) }, { path: flats, after: 2 });
    const bounded = { beginExclusive: 0, endInclusive: 1, updateFormat };
    const first = observe(ledger.updates(bounded));
    await until(() => first.error !== undefined);
    const second = observe(ledger.updates(bounded, { onInvalid: 'emit' }));
    await until(() => second.completed);
    const third = observe(ledger.updates(bounded));
    await until(() => third.error !== undefined);
    expect([first.error, third.error]).toMatchObject([{ _tag: 'DecodeError' }, { _tag: 'DecodeError' }]);
    const polls = telemetry.spans('poll updates');
    const failed = { 'canton_rx.result': 'failed', 'error.type': 'DecodeError', 'http.response.status_code': 200 };
    expect(polls.map(({ attributes }) => attributes)).toMatchObject([
      { ...failed, 'canton.updates.count': 1 },
      { 'canton_rx.result': 'answered', 'canton.updates.count': 1 },
      failed,
    ]);
    expect(polls.map(({ status }) => status.code)).toEqual([
      SpanStatusCode.ERROR,
      SpanStatusCode.UNSET,
      SpanStatusCode.ERROR,
    ]);
    expect(sum(await telemetry.measured('canton_rx.polls'))).toBe(3);
  });

  it('has the error of a ledger end that does not decode on its span', async () => {
    const { ledger, telemetry, sandbox } = await given(10);
    sandbox.fault({ kind: 'rewrite', body: () => ({ offset: 'seven' }) }, { path: '/v2/state/ledger-end' });
    const asked = observe(ledger.ledgerEnd());
    await until(() => asked.error !== undefined);
    expect(telemetry.spans().map(({ attributes, status }) => [status.code, attributes['error.type']])).toEqual([
      [SpanStatusCode.ERROR, 'DecodeError'],
    ]);
  });

  it('that fails is counted, and so is what does not decode', async () => {
    const { ledger, telemetry, sandbox } = await given(10);
    const spoilt = () => [{ update: { Transaction: { value: { offset: 1, updateId: 7 } } } }];
    sandbox.fault({ kind: 'rewrite', body: spoilt }, { path: flats, times: 2 });
    const bounded = { beginExclusive: 0, endInclusive: 1, updateFormat };
    const failed = observe(ledger.updates(bounded));
    await until(() => failed.error !== undefined);
    const emitted = observe(ledger.updates(bounded, { onInvalid: 'emit' }));
    await until(() => emitted.completed);
    expect(failed.error).toMatchObject({ _tag: 'DecodeError' });
    expect(emitted.values).toMatchObject([{ _tag: 'InvalidUpdate' }]);
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
});

const synchronizerOf = (update: Update): string =>
  update._tag === 'OffsetCheckpoint' || update._tag === 'UnknownUpdate' ? 'undefined' : String(update.synchronizerId);
