import type { Attributes, BatchObservableResult, Meter, ObservableGauge } from '@opentelemetry/api';
import { safely } from './Recorder.js';

/** The gauges of the lag. */
type Gauges = Readonly<Record<'offsets' | 'recordTime' | 'commit', ObservableGauge>>;

/** The lag of a feed: a value of a gauge. */
export interface Lag {
  readonly gauge: keyof Gauges;
  /** The attributes of the ledger and of the feed. */
  readonly attributes: Attributes;
  readonly value: number;
}

/** The feeds of a ledger whose lag is observed. */
interface LagSource {
  /** Whether no feed is left. */
  readonly isEmpty: boolean;
  readonly lags: () => readonly Lag[];
}

/** Returns the gauges of a meter. */
export function lagGaugesOf(meter: Meter): LagGauges {
  const gauges = byMeter.get(meter) ?? new LagGauges(meter);
  byMeter.set(meter, gauges);
  return gauges;
}

/**
 * Observes the lag of the feeds of all ledgers, while there are any: a meter retains its callbacks. Ledgers of one address have the
 * same attributes, and of two callbacks that observe the same attributes, a meter keeps the value of the last one.
 */
class LagGauges {
  readonly #sources = new Set<LagSource>();
  /** The values that the meter has, by gauge and attributes. */
  #observed: ReadonlyMap<string, Lag> = new Map();
  #stop: (() => void) | undefined;

  constructor(private readonly meter: Meter) {}

  /** Observes feeds until none is left. */
  add(source: LagSource): void {
    this.#sources.add(source);
    this.#stop ??= this.#start();
  }

  /** Observes the lag whenever the meter is read; returns the function that stops it. */
  #start(): () => void {
    const { meter } = this;
    const gauge = (name: string, unit: string, description: string): ObservableGauge =>
      meter.createObservableGauge(`canton_rx.${name}`, { unit, description });
    const gauges: Gauges = {
      offsets: gauge('lag.offsets', '{offset}', 'Offsets between the slowest feed and the last known ledger end'),
      recordTime: gauge('lag.record_time', 's', 'Age of the newest record time of a synchronizer in the slowest feed'),
      commit: gauge('commit.age', 's', 'Time since the last commit of the slowest processor that holds its name'),
    };
    const observed = Object.values(gauges);
    const observe = (result: BatchObservableResult): void => {
      this.#observe(result, gauges);
    };
    meter.addBatchObservableCallback(observe, observed);
    return () => {
      meter.removeBatchObservableCallback(observe, observed);
    };
  }

  /** Observes the lag, and zero once where there is none any more: a meter exports the last value of a gauge. */
  #observe(result: BatchObservableResult, gauges: Gauges): void {
    safely(() => {
      const lags = this.#slowest();
      for (const [key, { gauge, attributes, value }] of new Map([...this.#observed, ...lags]))
        result.observe(gauges[gauge], lags.has(key) ? value : 0, attributes);
      this.#observed = lags;
    });
    // a callback must not be removed while the meter iterates over its callbacks
    queueMicrotask(() => {
      for (const source of this.#sources) if (source.isEmpty) this.#sources.delete(source);
      if (this.#sources.size > 0) return;
      safely(() => this.#stop?.());
      this.#stop = undefined;
    });
  }

  /** Returns the lag of the slowest of the feeds that have the same attributes. */
  #slowest(): ReadonlyMap<string, Lag> {
    const slowest = new Map<string, Lag>();
    for (const lag of [...this.#sources].flatMap((source) => source.lags())) {
      const key = `${lag.gauge} ${JSON.stringify(lag.attributes)}`;
      if (lag.value >= (slowest.get(key)?.value ?? 0)) slowest.set(key, lag);
    }
    return slowest;
  }
}

const byMeter = new WeakMap<Meter, LagGauges>();
