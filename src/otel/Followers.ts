import type { Attributes } from '@opentelemetry/api';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { monotonicNow } from '../http/clock.js';
import { type Lag, lagGaugesOf } from './lagGauges.js';
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

/** The subscribed feeds of one ledger that have no end. Their lag is observed while there are any. */
export class Followers {
  /** The last known ledger end. */
  ledgerEnd: Offset | undefined;
  readonly #all = new Set<Follower>();
  /** Those that could not be counted yet, because there was no meter. */
  readonly #uncounted = new Set<Follower>();

  constructor(private readonly recorder: Recorder) {}

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  add(follower: Follower): void {
    this.#all.add(follower);
    this.#uncounted.add(follower);
    this.count();
  }

  /** Counts the feeds that are not counted yet, and observes their lag, if there is a meter now. */
  count(): void {
    const { meter } = this.recorder;
    if (this.#uncounted.size === 0 || meter === undefined) return;
    for (const { attributes } of this.#uncounted) this.recorder.measure('feeds.active', 1, attributes);
    this.#uncounted.clear();
    safely(() => {
      lagGaugesOf(meter).add(this);
    });
  }

  remove(follower: Follower): void {
    if (this.#all.delete(follower) && !this.#uncounted.delete(follower))
      this.recorder.measure('feeds.active', -1, follower.attributes);
  }

  /** Returns the lag of each feed. */
  lags(): readonly Lag[] {
    const lags: Lag[] = [];
    const note = (gauge: Lag['gauge'], attributes: Attributes, value: number): void => {
      // a feed may be ahead of the last known ledger end, and a clock may be slow
      lags.push({ gauge, attributes: { ...this.recorder.ledger, ...attributes }, value: Math.max(0, value) });
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
