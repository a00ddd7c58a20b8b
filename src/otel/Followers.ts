import type { Attributes, BatchObservableResult, ObservableGauge } from '@opentelemetry/api';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { monotonicNow } from '../http/clock.js';
import { type Recorder, safely } from './Recorder.js';

/** The progress of a feed that has no end. */
export interface Follower {
  /** The name of its processor, if it has one. */
  readonly attributes: Attributes;
  cursor: Offset | undefined;
  /** When its processor last committed, in milliseconds since the epoch. */
  committedAt?: number;
  /** The newest record time of each synchronizer. */
  readonly recordTimes: Map<string, Timestamp>;
}

/** Updates the newest record times of a feed, which emits the times of each synchronizer in order. */
export function updateRecordTimes(
  { recordTimes }: Follower,
  times: readonly SynchronizerTime[],
  recorder: Recorder,
): void {
  for (const { synchronizerId, recordTime } of times)
    recordTimes.set(recorder.synchronizerLabel(synchronizerId), recordTime);
}

/** The gauges of the lag. */
type Gauges = Readonly<Record<'offsets' | 'recordTime' | 'commit', ObservableGauge>>;

/** A value of a gauge. */
interface Lag {
  readonly gauge: keyof Gauges;
  readonly attributes: Attributes;
  readonly value: number;
}

/**
 * The subscribed feeds of one ledger that have no end. Their lag is observed only while there are any, because a meter
 * retains its callbacks.
 */
export class Followers {
  /** The last known ledger end. */
  ledgerEnd: Offset | undefined;
  readonly #all = new Set<Follower>();
  /** Those that could not be counted yet, because there was no meter. */
  readonly #uncounted = new Set<Follower>();
  #observed: ReadonlyMap<string, Lag> = new Map();
  #stop: (() => void) | undefined;

  constructor(private readonly recorder: Recorder) {}

  add(follower: Follower): void {
    this.#all.add(follower);
    this.#uncounted.add(follower);
    this.count();
  }

  /** Counts the feeds that are not counted yet, and observes their lag, if there is a meter now. */
  count(): void {
    if (this.#uncounted.size === 0 || this.recorder.meter === undefined) return;
    for (const { attributes } of this.#uncounted) this.recorder.measure('feeds.active', 1, attributes);
    this.#uncounted.clear();
    this.#stop ??= safely(() => this.#start());
  }

  remove(follower: Follower): void {
    if (this.#all.delete(follower) && !this.#uncounted.delete(follower))
      this.recorder.measure('feeds.active', -1, follower.attributes);
  }

  /** Observes the lag whenever the meter is read; returns the function that stops it. */
  #start(): (() => void) | undefined {
    const meter = this.recorder.meter;
    if (meter === undefined) return undefined;
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

  /** Observes the lag, and zero once after the last feed has ended: a meter exports the last value of a gauge. */
  #observe(result: BatchObservableResult, gauges: Gauges): void {
    const lags = this.#lags();
    safely(() => {
      for (const [key, { gauge, attributes, value }] of new Map([...this.#observed, ...lags]))
        result.observe(gauges[gauge], lags.has(key) ? value : 0, { ...this.recorder.ledger, ...attributes });
    });
    this.#observed = lags;
    // a callback must not be removed while the meter iterates over its callbacks
    queueMicrotask(() => {
      if (this.#all.size > 0) return;
      safely(() => this.#stop?.());
      this.#stop = undefined;
    });
  }

  /** Returns the lag of the slowest of the feeds that have the same attributes. */
  #lags(): ReadonlyMap<string, Lag> {
    const lags = new Map<string, Lag>();
    const note = (gauge: keyof Gauges, attributes: Attributes, value: number): void => {
      const key = `${gauge} ${JSON.stringify(attributes)}`;
      // a feed may be ahead of the last known ledger end, and a clock may be slow
      lags.set(key, { gauge, attributes, value: Math.max(0, value, lags.get(key)?.value ?? 0) });
    };
    for (const { attributes, cursor, recordTimes, committedAt } of this.#all) {
      if (committedAt !== undefined) note('commit', attributes, (monotonicNow() - committedAt) / 1_000);
      if (cursor !== undefined && this.ledgerEnd !== undefined) note('offsets', attributes, this.ledgerEnd - cursor);
      for (const [id, time] of recordTimes)
        note('recordTime', { ...attributes, 'canton.synchronizer.id': id }, (Date.now() - Date.parse(time)) / 1_000);
    }
    return lags;
  }
}
