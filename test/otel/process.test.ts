import { context, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import { describe, expect, it } from '@jest/globals';
import { concat, defer, EMPTY, lastValueFrom, NEVER, of, tap, throwError, toArray, type Observable } from 'rxjs';
import { ledgerEffects } from '../../src/index.js';
import { linkTo, type Telemetry, traceHandler } from '../../src/otel/index.js';
import {
  type CheckpointStore,
  type Handler,
  handleParked,
  memoryStore,
  processFeed,
  updatesFeed,
  type Work,
  type HandlerResult,
} from '../../src/process/index.js';
import { observe } from '../helpers/observe.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';
import { ledgerWith, sdk, withContexts } from './support.js';

const start = sandboxes();
withContexts();

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

/** A traced ledger of a sandbox whose updates were submitted in one trace, each in a span with the number of its offset. */
async function setUp(updates: number, options: Telemetry = {}) {
  const sandbox = await start();
  for (let offset = 1; offset <= updates; offset++) {
    const traceparent = `00-${traceId}-${offset.toString(16).padStart(16, '0')}-01`;
    sandbox.append({
      Transaction: { value: { events: [{ CreatedEvent: {} }], traceContext: { traceparent, tracestate: null } } },
    });
  }
  const telemetry = sdk();
  const ledger = ledgerWith({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }, { ...telemetry, ...options });
  const request = {
    beginExclusive: 0,
    endInclusive: sandbox.ledgerEnd,
    updateFormat: ledgerEffects({ parties: 'any' }),
  };
  const feed = updatesFeed(ledger, request);
  const tracer = telemetry.tracerProvider.getTracer('test');
  const spans = () => telemetry.spans('process update');
  return { sandbox, telemetry, ledger, request, feed, tracer, spans };
}

const handlers: readonly (readonly [string, (work: () => void) => HandlerResult])[] = [
  [
    'returns a value',
    (work) => {
      work();
    },
  ],
  [
    'returns a promise',
    async (work) => {
      await Promise.resolve();
      work();
    },
  ],
  [
    'returns an observable',
    (work) =>
      concat(
        of(1, 2),
        defer(() => {
          work();
          return EMPTY;
        }),
      ),
  ],
  [
    'returns an async iterable',
    async function* (work) {
      yield await Promise.resolve(1);
      work();
    },
  ],
];

describe.each(handlers)('a handler that %s', (_, handle) => {
  it('runs in a trace of its own, linked to the traces of the update and of the processor', async () => {
    const { feed, tracer, telemetry, spans } = await setUp(3);
    const active: (Span | undefined)[] = [];
    const after: (Span | undefined)[] = [];
    const processor = tracer.startSpan('processor');
    await context.with(trace.setSpan(context.active(), processor), () =>
      lastValueFrom(
        processFeed(feed, () => handle(() => active.push(trace.getActiveSpan()))).pipe(
          tap(() => after.push(trace.getActiveSpan())),
        ),
      ),
    );
    expect(spans()).toHaveLength(3);
    expect(active.map((span) => span?.spanContext().spanId)).toEqual(spans().map((span) => span.spanContext().spanId));
    expect(new Set(after)).toEqual(new Set([processor]));
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(3);
    spans().forEach((span, index) => {
      expect(span.kind).toBe(SpanKind.CONSUMER);
      expect(span.parentSpanContext).toBeUndefined();
      expect(span.links.map((link) => [link.context.traceId, link.context.spanId])).toEqual([
        [traceId, (index + 1).toString(16).padStart(16, '0')],
        [processor.spanContext().traceId, processor.spanContext().spanId],
      ]);
      expect(span.attributes).toMatchObject({ 'canton.offset': index + 1, 'canton.update.variant': 'Transaction' });
      expect(span.status.code).toBe(SpanStatusCode.UNSET);
    });
    expect(await telemetry.measured('canton_rx.updates')).toMatchObject([
      { attributes: { 'canton.update.variant': 'Transaction' }, value: 3 },
    ]);
  });
});

const words = 'the words of the handler';
const failures: readonly (readonly [string, 'skip' | 'park' | 'stop', () => HandlerResult])[] = [
  [
    'throws',
    'skip',
    () => {
      throw new RangeError(words);
    },
  ],
  ['rejects', 'park', () => Promise.reject(new RangeError(words))],
  ['errors', 'stop', () => throwError(() => new RangeError(words))],
];

it.each(failures)(
  'a handler that %s has its failures measured, and what follows: %s',
  async (_, onHandlerFailure, fail) => {
    const { feed, telemetry, spans } = await setUp(3);
    const handler = ({ offset }: Work) => (offset === 2 ? fail() : undefined);
    const options = { name: 'balances', store: memoryStore(), onHandlerFailure };
    const handlerRetry = { baseDelayMs: 1, maxDelayMs: 50, giveUpAfterMs: 300 };
    const seen = observe(processFeed(feed, handler, { ...options, handlerRetry }));
    await until(() => seen.completed || seen.error !== undefined);
    const failed = spans().filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.length).toBeGreaterThan(1);
    expect(new Set(failed.map(({ attributes }) => attributes['canton.offset']))).toEqual(new Set([2]));
    const name = { 'canton_rx.processor.name': 'balances' };
    const processor = { ...name, 'error.type': 'RangeError' };
    expect(failed[0]?.attributes).toMatchObject(processor);
    expect(failed.map(({ status, events }) => [status.message, events.length])).toEqual(
      failed.map(() => [undefined, 0]),
    );
    // the last failure is not followed by a retry
    expect(await telemetry.measured('canton_rx.handler.failures')).toMatchObject([
      { attributes: processor, value: failed.length - 1 },
    ]);
    expect(await telemetry.exported()).not.toContain('the words of');
    if (onHandlerFailure === 'stop') {
      expect(seen.error).toMatchObject({ _tag: 'HandlerError', cause: { message: words } });
      expect(await telemetry.measured('canton_rx.feed.failures')).toMatchObject([
        { attributes: { ...name, 'error.type': 'HandlerError' }, value: 1 },
      ]);
      return;
    }
    expect(seen.values.at(-1)).toMatchObject({ offset: 3 });
    const left = onHandlerFailure === 'skip' ? 'canton_rx.updates.skipped' : 'canton_rx.updates.parked';
    expect(await telemetry.measured(left)).toEqual([{ name: left, unit: '{update}', attributes: processor, value: 1 }]);
    expect(await telemetry.measured('canton_rx.updates')).toMatchObject([{ value: 2 }]);
  },
);

describe('a processor', () => {
  it('of batches has a span for each batch, linked to the traces of its updates', async () => {
    const { feed, telemetry } = await setUp(5);
    const batches: number[][] = [];
    await lastValueFrom(
      processFeed(feed, (updates) => void batches.push(updates.map(({ offset }) => offset)), {
        batch: { size: 3, withinMs: 0 },
      }),
    );
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    const spans = telemetry.spans('process updates');
    expect(spans.map(({ links }) => links.map((link) => Number.parseInt(link.context.spanId, 16)))).toEqual(batches);
    expect(spans.map(({ attributes }) => attributes['canton.updates.count'])).toEqual([3, 2]);
    expect(spans[0]?.attributes).toMatchObject({ 'canton.offset': 1, 'canton.updates.last_offset': 3 });
    expect(await telemetry.measured('canton_rx.updates')).toMatchObject([{ value: 5 }]);
  });

  it('without handler spans still counts its updates', async () => {
    const { feed, telemetry, spans } = await setUp(3, { handlerSpans: false });
    await lastValueFrom(processFeed(feed, () => Promise.resolve()));
    expect(spans()).toEqual([]);
    expect(await telemetry.measured('canton_rx.updates')).toMatchObject([{ value: 3 }]);
  });

  it('measures the lag of its commits, not of its requests', async () => {
    const { ledger, request, telemetry, sandbox } = await setUp(10);
    const endless = { beginExclusive: 0, updateFormat: request.updateFormat };
    const name = 'balances';
    let release: () => void = () => undefined;
    const handled: number[] = [];
    const seen = observe(
      processFeed(
        updatesFeed(ledger, endless),
        ({ offset }) => {
          handled.push(offset);
          return offset === 4 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
        },
        { name, store: memoryStore(), commitEvery: { updates: 1 } },
      ),
    );
    await until(() => handled.includes(4));
    const attributes = { 'canton_rx.processor.name': name };
    expect(await telemetry.measured('canton_rx.lag.offsets')).toMatchObject([{ attributes, value: 7 }]);
    const before = Date.now();
    const [lag] = await telemetry.measured('canton_rx.lag.record_time');
    const after = Date.now();
    const third = sandbox.updates[2];
    const recordTime = third !== undefined && 'Transaction' in third ? third.Transaction.value.recordTime : '';
    const recordedAt = Date.parse(recordTime);
    expect(lag?.value).toBeGreaterThanOrEqual(Math.max(0, before - recordedAt) / 1_000);
    expect(lag?.value).toBeLessThanOrEqual(Math.max(0, after - recordedAt) / 1_000);
    release();
    await until(() => seen.values.at(-1)?.offset === 10);
    expect(await telemetry.measured('canton_rx.lag.offsets')).toMatchObject([{ attributes, value: 0 }]);
    seen.subscription.unsubscribe();
    expect(await telemetry.measured('canton_rx.feeds.active')).toMatchObject([{ attributes, value: 0 }]);
  });

  it('that is unsubscribed ends and counts the running call of its handler', async () => {
    const { feed, telemetry, spans } = await setUp(3);
    let release: () => void = () => undefined;
    const store: CheckpointStore = memoryStore();
    let handling = 0;
    const seen = observe(
      processFeed(
        feed,
        () => {
          handling += 1;
          return new Promise<void>((resolve) => (release = resolve));
        },
        { name: 'balances', store },
      ),
    );
    await until(() => handling === 1);
    seen.subscription.unsubscribe();
    expect(spans()).toEqual([]);
    release();
    await until(() => spans().length === 1);
    expect(await telemetry.measured('canton_rx.updates')).toMatchObject([{ value: 1 }]);
  });

  it('that is unsubscribed ends the running call of a handler that it aborts, and does not count it', async () => {
    const { feed, telemetry, spans } = await setUp(3);
    let handling = 0;
    const seen = observe(
      processFeed(feed, () => {
        handling += 1;
        return NEVER;
      }),
    );
    await until(() => handling === 1);
    seen.subscription.unsubscribe();
    expect(spans()).toHaveLength(1);
    expect(await telemetry.measured('canton_rx.updates')).toEqual([]);
  });

  it('with invalid options throws at once', async () => {
    const { ledger, request, feed } = await setUp(0);
    expect(() => processFeed(feed, () => undefined, { name: 'balances' } as never)).toThrow(TypeError);
    expect(() => ledger.updates(request, { maxPageSize: 0 })).toThrow(TypeError);
  });
});

describe('traceHandler', () => {
  it('runs the handler of parked updates in a span, linked to the traces of the update and of the caller', async () => {
    const { feed, telemetry, tracer } = await setUp(2, { handlerSpans: false });
    const store = memoryStore();
    const poison = { name: 'balances', store, onHandlerFailure: 'park', handlerRetry: { giveUpAfterMs: 0 } } as const;
    const failing = (): Observable<never> => throwError(() => new Error('the handler failed'));
    await lastValueFrom(processFeed(feed, failing, poison));
    const active: (Span | undefined)[] = [];
    const updates: Work[] = [];
    const handler = traceHandler((update) => {
      updates.push(update);
      active.push(trace.getActiveSpan());
      return update.offset === 2 ? failing() : undefined;
    }, telemetry);
    const span = tracer.startSpan('replay');
    const unparked = await context.with(trace.setSpan(context.active(), span), () =>
      lastValueFrom(handleParked(store, 'balances', handler).pipe(toArray())),
    );
    expect(unparked.map(({ isHandled }) => isHandled)).toEqual([true, false]);
    const spans = telemetry.spans('process update');
    expect(spans.map((one) => one.links)).toMatchObject(
      updates.map((update) => [linkTo(update), { context: span.spanContext() }]),
    );
    expect(spans.map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.ERROR]);
    expect(active.map((one) => one?.spanContext().spanId)).toEqual(spans.map((one) => one.spanContext().spanId));
  });

  it('keeps the preparation of the handler, which the processor waits for', async () => {
    const { feed } = await setUp(2);
    const calls: unknown[] = [];
    const own: Handler = Object.assign((update: Work) => void calls.push(update.offset), {
      prepare: () => of('table').pipe(tap((name) => calls.push(name))),
    });
    const options = { name: 'balances', store: memoryStore() };
    await lastValueFrom(processFeed(feed, traceHandler(own), options));
    expect(calls).toEqual(['table', 1, 2]);
    expect(traceHandler(() => undefined)).not.toHaveProperty('prepare');
  });
});

describe('the metrics of a processor with a name', () => {
  it('have its role, its cursor, and how long its handler and its commits take', async () => {
    const { sandbox, telemetry, ledger, request } = await setUp(3);
    const attributes = { 'canton_rx.processor.name': 'balances' };
    const value = async (name: string, more = {}): Promise<number | undefined> =>
      (await telemetry.measured(`canton_rx.${name}`)).find(
        (it) => JSON.stringify(it.attributes) === JSON.stringify({ ...attributes, ...more }),
      )?.value;
    const role = (name: string) => value('processor.role', { 'canton_rx.processor.role': name });
    const feed = updatesFeed(ledger, { ...request, endInclusive: undefined });
    const store = memoryStore();
    const runs = [1, 2].map(() => observe(processFeed(feed, () => undefined, { name: 'balances', store })));
    const [leader, standby] = runs;
    await until(() => leader?.values.at(-1)?.offset === sandbox.ledgerEnd && standby?.values.length === 1);
    expect(standby?.values[0]).toMatchObject({ role: 'standby' });
    // a program with two processors of one name has one time series: that of the last report
    expect([await role('starting'), await role('standby'), await role('leader')]).toEqual([0, 1, 0]);
    leader?.subscription.unsubscribe();
    await until(() => standby?.values.at(-1)?.isCaughtUp === true);
    expect([await role('starting'), await role('standby'), await role('leader')]).toEqual([0, 0, 1]);
    expect(await value('processor.offset')).toBe(sandbox.ledgerEnd);
    expect(await value('handler.duration')).toBeGreaterThan(0);
    expect(await value('commit.duration')).toBeGreaterThan(0);
    expect(await value('commit.age')).toBeLessThan(60);
    standby?.subscription.unsubscribe();
    expect(await role('leader')).toBe(0);
  });
});
