import { context, createContextKey, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, take, tap, toArray } from 'rxjs';
import { createTracedLedger } from '../../src/otel/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { sum, tracedLedger, updateFormat, withContexts } from './support.js';

const start = sandboxes();
const contexts = withContexts();
beforeEach(contexts.enable);
afterEach(contexts.disable);

const flats = '/v2/updates/flats';

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
    expect(polls[1]?.attributes['canton.updates.begin_exclusive']).toBe(
      polls[0]?.attributes['canton.updates.last_offset'],
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
    const ledger = createTracedLedger({ baseUrl: sandbox.url, fetch: recordingFetch }, telemetry);
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

  it('has the error of a page that does not decode, with the number of its elements', async () => {
    const { ledger, telemetry, sandbox } = tracedLedger(await start(), 10);
    const invalidPage = () => [{ update: { Transaction: { value: { offset: 1, updateId: 7 } } } }];
    sandbox.fault({ kind: 'rewrite', body: invalidPage }, { path: flats, times: 2 });
    sandbox.fault({ kind: 'rewrite', body: () => ({ updates: [] }) }, { path: flats, after: 2 });
    const bounded = { beginExclusive: 0, endInclusive: 1, updateFormat };
    const first = observe(ledger.updates(bounded));
    await until(() => first.error !== undefined);
    const second = observe(ledger.updates(bounded, { onUndecodable: 'emit' }));
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
});

describe('a single request', () => {
  it('has one span for each request, the one with a refused token included', async () => {
    const { sandbox, telemetry } = tracedLedger(await start({ checkToken: (token) => token === 'token-2' }), 5);
    let calls = 0;
    const token = () => Promise.resolve(`token-${Math.min(2, (calls += 1))}`);
    const ledger = createTracedLedger({ baseUrl: sandbox.url, token }, telemetry);
    await lastValueFrom(ledger.ledgerEnd());
    expect(
      telemetry.spans('GET /v2/state/ledger-end').map(({ attributes }) => attributes['http.response.status_code']),
    ).toEqual([401, 200]);
    expect(await telemetry.exported()).not.toContain('token-');
  });

  it('has one span where the subscriber unsubscribes when it receives the answer', async () => {
    const { ledger, telemetry } = tracedLedger(await start(), 5);
    await lastValueFrom(ledger.ledgerEnd().pipe(take(1)));
    expect(telemetry.spans().map(({ attributes }) => attributes['canton_rx.result'])).toEqual(['answered']);
    expect(await telemetry.measured('canton_rx.request.duration')).toMatchObject([{ value: 1 }]);
  });

  it('has an error where it times out, unlike one that is unsubscribed', async () => {
    const { sandbox, telemetry } = tracedLedger(await start(), 5);
    sandbox.fault({ kind: 'hang' }, { path: '/v2/state/ledger-end' });
    const ledger = createTracedLedger({ baseUrl: sandbox.url, requestTimeoutMs: 50 }, telemetry);
    expect(await lastValueFrom(ledger.ledgerEnd()).catch((error: unknown) => error)).toMatchObject({
      _tag: 'RequestTimeoutError',
    });
    expect(
      telemetry.spans().map(({ attributes }) => [attributes['error.type'], attributes['canton_rx.result']]),
    ).toEqual([['RequestTimeoutError', 'failed']]);
  });

  it('has the error of a ledger end that does not decode', async () => {
    const { ledger, telemetry, sandbox } = tracedLedger(await start(), 10);
    sandbox.fault({ kind: 'rewrite', body: () => ({ offset: 'seven' }) }, { path: '/v2/state/ledger-end' });
    const seen = observe(ledger.ledgerEnd());
    await until(() => seen.error !== undefined);
    expect(telemetry.spans().map(({ attributes, status }) => [status.code, attributes['error.type']])).toEqual([
      [SpanStatusCode.ERROR, 'DecodeError'],
    ]);
  });
});
