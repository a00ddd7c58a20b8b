import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { DataPointType, MeterProvider, MetricReader, type DataPoint } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

/** Collects when it is asked to, and never by itself. */
class AskedReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** One measurement: what, of what, and how much; of a histogram how often. */
export interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: number;
}

/** An SDK in memory. */
export interface Sdk {
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  /** The spans that have ended so far, of one name or of all. */
  readonly spans: (name?: string) => readonly ReadableSpan[];
  /** What the meter has now, of one name or of all; without the attributes of the server. */
  readonly measured: (name?: string) => Promise<readonly Measured[]>;
  /** All that was exported, as text. */
  readonly exported: () => Promise<string>;
}

const valueOf = (type: DataPointType, { value }: DataPoint<unknown>): number =>
  type === DataPointType.HISTOGRAM ? (value as { count: number }).count : (value as number);

export function sdk(): Sdk {
  const exporter = new InMemorySpanExporter();
  const reader = new AskedReader();
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
    measured,
    exported: async () => {
      const { resourceMetrics } = await reader.collect();
      const told = spans().map(({ name, attributes, events, links, status, resource }) => ({
        name,
        attributes,
        events,
        links,
        status,
        resource: resource.attributes,
      }));
      return JSON.stringify([told, resourceMetrics.scopeMetrics]);
    },
  };
}

/** Runs tests with the contexts of Node.js, as programs with an SDK do. */
export function withContexts(): { readonly enable: () => void; readonly disable: () => void } {
  return {
    enable: () => {
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    },
    disable: () => {
      context.disable();
    },
  };
}
