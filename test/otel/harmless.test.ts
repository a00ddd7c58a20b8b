import {
  context,
  createNoopMeter,
  propagation,
  trace,
  type Meter,
  type MeterProvider,
  type Span,
  type TracerProvider,
} from '@opentelemetry/api';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { lastValueFrom, map, takeUntil, timer, toArray, type Observable } from 'rxjs';
import { createLedger, type Ledger, type Diagnostic, type LedgerOptions, memoryStore } from '../../src/index.js';
import { createTracedLedger, type Telemetry } from '../../src/otel/index.js';
import { serverOf } from '../../src/otel/createTracedLedger.js';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { canton, failed } from '../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { hashAtOnce } from '../process/support.js';
import { sdk, withContexts } from './support.js';

const start = sandboxes();
beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
  context.disable();
  propagation.disable();
});

/** A feed or a processor, and what its service does. */
interface Case {
  readonly what: 'updates' | 'process';
  readonly updates: number;
  readonly latencyMs: number;
  readonly maxPageSize: number;
  readonly maxListElements: number;
  /** The requests that are answered by a failure. */
  readonly failing: readonly number[];
  /** The updates of which the handler fails once. */
  readonly poison: readonly number[];
  readonly leavesAfterMs: number;
}

const cases: fc.Arbitrary<Case> = fc.record({
  what: fc.constantFrom('updates', 'process'),
  updates: fc.integer({ min: 0, max: 60 }),
  latencyMs: fc.integer({ min: 1, max: 50 }),
  maxPageSize: fc.integer({ min: 1, max: 30 }),
  maxListElements: fc.integer({ min: 2, max: 30 }),
  failing: fc.array(fc.integer({ min: 1, max: 15 }), { maxLength: 6 }),
  poison: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }),
  leavesAfterMs: fc.integer({ min: 10, max: 8_000 }),
});

type Create = (options: LedgerOptions) => Ledger;

/** All that comes of it, and when, and what the service was asked. */
function played(create: Create, the: Case): unknown {
  let result: unknown;
  marbles(({ flush }) => {
    const { ledger, service } = world({
      latencyMs: the.latencyMs,
      maxListElements: the.maxListElements,
      participantId: 'participant1::1220ab',
      fault: (_, count) => (the.failing.includes(count) ? failed(503, canton('SERVICE_NOT_RUNNING', 1)) : undefined),
    });
    fill(ledger, ...upTo(the.updates));
    timer(3_000).subscribe(() => {
      fill(ledger, ...upTo(5).map((n) => the.updates + n));
    });
    const client = create({ baseUrl: 'http://ledger.example', port: service.port });
    const events: Diagnostic[] = [];
    const listening = client.diagnostics$.subscribe((event) => events.push(event));
    const failedOnce = new Set<number>();
    const handled: number[] = [];
    const handle = ({ offset }: { readonly offset: number }) =>
      timer(3).pipe(
        map(() => {
          if (the.poison.includes(offset) && !failedOnce.has(offset)) {
            failedOnce.add(offset);
            throw new Error('mine');
          }
          return handled.push(offset);
        }),
      );
    const request = { beginExclusive: 0, updateFormat };
    const { maxPageSize } = the;
    const working$: Observable<unknown> =
      the.what === 'updates'
        ? client.updates(request, { maxPageSize })
        : client.process(request, handle, { maxPageSize, name: 'balances', store: memoryStore() });
    const seen = observe(working$.pipe(takeUntil(timer(the.leavesAfterMs))));
    flush();
    listening.unsubscribe();
    const { values, times, error, completed } = seen;
    const { asked, aborted, open } = service;
    result = { values, times, error, completed, handled, asked, aborted: aborted.length, open, events };
  });
  return result;
}

describe('the server of a ledger', () => {
  it.each([
    ['http://127.0.0.1:7575/prefix', '127.0.0.1', 7575],
    ['https://ledger.example', 'ledger.example', 443],
    ['http://ledger.example', 'ledger.example', 80],
    ['http://[::1]:7575', '::1', 7575],
  ])('of %s is told as the conventions have it', (baseUrl, address, port) => {
    expect(serverOf(baseUrl)).toEqual({ 'server.address': address, 'server.port': port });
  });
});

describe('a traced ledger', () => {
  it('does what a ledger does: the same, at the same time', () => {
    fc.assert(
      fc.property(cases, (the) => {
        const telemetry = sdk();
        expect(played((options) => createTracedLedger(options, telemetry), the)).toEqual(played(createLedger, the));
      }),
      { numRuns: 40 },
    );
  });

  it('leaves no span open and no feed active, whatever happens and whenever it is left', async () => {
    let spans = 0;
    await fc.assert(
      fc.asyncProperty(cases, async (the) => {
        const open = new Set<object>();
        const { meterProvider, measured } = sdk();
        const processor: SpanProcessor = {
          onStart: (span) => {
            spans += 1;
            open.add(span);
          },
          onEnd: (span) => {
            expect(open.delete(span)).toBe(true);
          },
          forceFlush: () => Promise.resolve(),
          shutdown: () => Promise.resolve(),
        };
        const tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] });
        played((options) => createTracedLedger(options, { tracerProvider, meterProvider }), the);
        expect([...open]).toEqual([]);
        expect((await measured('canton_rx.feeds.active')).map(({ value }) => value)).toEqual([0]);
      }),
      { numRuns: 40 },
    );
    expect(spans).toBeGreaterThan(100);
  });

  it('does so with contexts, and without an SDK', () => {
    const contexts = withContexts();
    contexts.enable();
    fc.assert(
      fc.property(cases, (the) => {
        expect(played(createTracedLedger, the)).toEqual(played(createLedger, the));
      }),
      { numRuns: 20 },
    );
  });

  it.each(broken())('does so with telemetry that fails: %s', (_, telemetry) => {
    fc.assert(
      fc.property(cases, (the) => {
        expect(played((options) => createTracedLedger(options, telemetry), the)).toEqual(played(createLedger, the));
      }),
      { numRuns: 8 },
    );
  });

  it('does so with a propagator that fails', async () => {
    propagation.setGlobalPropagator({
      inject: () => {
        throw new Error('no headers');
      },
      extract: (context) => context,
      fields: () => [],
    });
    const sandbox = await start();
    const ledger = createTracedLedger({ baseUrl: sandbox.url }, sdk());
    expect(await lastValueFrom(ledger.ledgerEnd())).toBe(sandbox.ledgerEnd);
  });

  it('sends nothing more than a ledger does without an SDK, and measures nothing', async () => {
    const headers: string[][] = [];
    const sandbox = await start();
    sandbox.generate(20, { seed: 7 });
    const fetched: typeof fetch = (input, init) => {
      headers.push([...(input as Request).headers.keys()]);
      return fetch(input, init);
    };
    const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat };
    for (const create of [createLedger, createTracedLedger])
      await lastValueFrom(create({ baseUrl: sandbox.url, fetch: fetched }).updates(request).pipe(toArray()));
    expect(headers.length).toBeGreaterThan(1);
    expect(headers.slice(headers.length / 2)).toEqual(headers.slice(0, headers.length / 2));
  });

  it('adds to the headers of its user what the program propagates, and leaves the token', async () => {
    const sent: Headers[] = [];
    const sandbox = await start();
    propagation.setGlobalPropagator({
      inject: (_, carrier, setter) => {
        setter.set(carrier, 'X-B3-TraceId', 'of-another-kind');
      },
      extract: (context) => context,
      fields: () => ['X-B3-TraceId'],
    });
    const fetched: typeof fetch = (input, init) => {
      sent.push((input as Request).headers);
      return fetch(input, init);
    };
    const options = { baseUrl: sandbox.url, fetch: fetched, token: 'the-token', headers: { 'x-tenant': 'a' } };
    await lastValueFrom(createTracedLedger(options, sdk()).ledgerEnd());
    expect(Object.fromEntries(sent[0] ?? [])).toMatchObject({
      authorization: 'Bearer the-token',
      'x-tenant': 'a',
      'x-b3-traceid': 'of-another-kind',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    });
  });
});

/** Providers that throw, in each way that they can. */
function broken(): readonly (readonly [string, Telemetry])[] {
  const fail = (): never => {
    throw new Error('telemetry');
  };
  const failing = <A extends object>(sound: A): A =>
    new Proxy(sound, { get: (target, key) => (key in target && typeof key === 'string' ? fail : undefined) });
  const span: Span = trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 });
  const badSpan: Span = Object.assign(failing(span), {});
  const tracers = (startSpan: () => Span): TracerProvider => ({
    getTracer: () => ({ startSpan, startActiveSpan: fail }),
  });
  const meters = (meter: Meter): MeterProvider => ({ getMeter: () => meter });
  const instrument = (): never => failing({ add: fail, record: fail }) as never;
  const badInstruments: Meter = {
    createCounter: instrument,
    createUpDownCounter: instrument,
    createGauge: instrument,
    createHistogram: instrument,
    createObservableGauge: instrument,
    createObservableCounter: instrument,
    createObservableUpDownCounter: instrument,
    addBatchObservableCallback: fail,
    removeBatchObservableCallback: fail,
  };
  return [
    ['no tracer', { tracerProvider: { getTracer: fail } }],
    ['no span', { tracerProvider: tracers(fail) }],
    ['a span whose methods throw', { tracerProvider: tracers(() => badSpan) }],
    ['no meter', { meterProvider: { getMeter: fail } }],
    ['no instruments', { meterProvider: meters(failing(createNoopMeter())) }],
    ['instruments that throw', { meterProvider: meters(badInstruments) }],
  ];
}
