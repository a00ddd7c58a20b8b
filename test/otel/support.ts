import {
  context,
  createNoopMeter,
  type Meter,
  type MeterProvider as Meters,
  type Span,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { afterEach, beforeEach } from '@jest/globals';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type DataPoint, DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { acsDelta, createLedger, type Ledger, type LedgerOptions } from '../../src/index.js';
import { openTelemetry, type Telemetry } from '../../src/otel/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';

/** All updates of all parties. */
export const updateFormat = acsDelta({ parties: 'any' });

/** One data point of a metric. */
export interface Measured {
  readonly name: string;
  readonly unit: string;
  /** Without the attributes of the server. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** For a histogram the number of its measurements. */
  readonly value: number;
}

/** An SDK in memory. */
export interface Sdk {
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  /** The spans that have ended, all or those with a name. */
  readonly spans: (name?: string) => readonly ReadableSpan[];
  /** One attribute of each of these spans. */
  readonly attributes: (name: string | undefined, key: string) => readonly unknown[];
  /** The metrics now, all or the one with a name. */
  readonly measured: (name?: string) => Promise<readonly Measured[]>;
  /** All spans and metrics as text. */
  readonly exported: () => Promise<string>;
}

export function sdk(): Sdk {
  const exporter = new InMemorySpanExporter();
  const reader = new ManualReader();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const spans = (name?: string): readonly ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
  const measured = async (name?: string): Promise<readonly Measured[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw errors[0];
    return resourceMetrics.scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .flatMap(({ descriptor, dataPoints, dataPointType }) =>
        dataPoints.map((point): Measured => {
          const attributes = Object.fromEntries(
            Object.entries(point.attributes).filter(([key]) => !key.startsWith('server.')),
          );
          return { name: descriptor.name, unit: descriptor.unit, attributes, value: valueOf(dataPointType, point) };
        }),
      )
      .filter((one) => name === undefined || one.name === name);
  };
  return {
    tracerProvider,
    meterProvider,
    spans,
    attributes: (name, key) => spans(name).map((span) => span.attributes[key]),
    measured,
    exported: async () => {
      const { resourceMetrics } = await reader.collect();
      const exportedSpans = spans().map(({ name, attributes, events, links, status, resource }) => ({
        name,
        attributes,
        events,
        links,
        status,
        resource: resource.attributes,
      }));
      return JSON.stringify([exportedSpans, resourceMetrics.scopeMetrics]);
    },
  };
}

const valueOf = (type: DataPointType, { value }: DataPoint<unknown>): number =>
  type === DataPointType.HISTOGRAM ? (value as { count: number }).count : (value as number);

/** A reader that collects only when `collect` is called. */
class ManualReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** The sum of the values of a metric, over all of its attributes. */
export const sum = (measured: readonly Measured[]): number => measured.reduce((total, { value }) => total + value, 0);

/** A ledger with telemetry. */
export const ledgerWith = (options: LedgerOptions, telemetry?: Telemetry): Ledger =>
  createLedger({ ...options, interceptors: [openTelemetry(telemetry)] });

/** A traced ledger of a sandbox, which gets as many updates, and a request that ends at the last of them. */
export function tracedLedger(sandbox: Sandbox, updates: number) {
  if (updates > 0) sandbox.generate(updates, { seed: 7 });
  const telemetry = sdk();
  const ledger = ledgerWith({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }, telemetry);
  const tracer = telemetry.tracerProvider.getTracer('test');
  const bounded = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat };
  return { sandbox, telemetry, ledger, tracer, bounded };
}

/** Registers the context manager of Node.js, as programs with an SDK do. */
export const enableContexts = (): void => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
};

/** Registers it for each test of a file. */
export function withContexts(): void {
  beforeEach(enableContexts);
  afterEach(() => {
    context.disable();
  });
}

/** Providers that throw, one for each method that may. */
export function failingTelemetry(): readonly (readonly [string, Telemetry])[] {
  const fail = (): never => {
    throw new Error('telemetry');
  };
  const failing = <A extends object>(target: A): A =>
    new Proxy(target, { get: (_, key) => (key in target && typeof key === 'string' ? fail : undefined) });
  const span: Span = trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 });
  const failingSpan: Span = Object.assign(failing(span), {});
  const tracers = (startSpan: () => Span): TracerProvider => ({
    getTracer: () => ({ startSpan, startActiveSpan: fail }),
  });
  const meters = (meter: Meter): Meters => ({ getMeter: () => meter });
  const instrument = (): never => failing({ add: fail, record: fail }) as never;
  const failingInstruments: Meter = {
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
    ['a span whose methods throw', { tracerProvider: tracers(() => failingSpan) }],
    ['no meter', { meterProvider: { getMeter: fail } }],
    ['no instruments', { meterProvider: meters(failing(createNoopMeter())) }],
    ['instruments that throw', { meterProvider: meters(failingInstruments) }],
  ];
}
