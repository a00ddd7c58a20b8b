import type { Attributes, BatchObservableCallback, BatchObservableResult } from '@opentelemetry/api';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { type Recorder, safely } from './Recorder.js';

/** The subscribed feeds of one ledger that have no end. */
export interface Followers {
  readonly add: (follower: Follower) => void;
  /** Counts a follower that could not be counted when it was added because there was no meter. */
  readonly touch: (follower: Follower) => void;
  readonly remove: (follower: Follower) => void;
  readonly setLedgerEnd: (end: Offset) => void;
}

/** The progress of a feed that has no end. */
export interface Follower {
  /** The name of its processor, if it has one. */
  readonly attributes: Attributes;
  cursor: Offset | undefined;
  /** The newest record time of each synchronizer. */
  readonly recordTimes: Map<string, Timestamp>;
}

/** The lag of the slowest of the feeds that have the same attributes. */
interface Lag {
  /** The attributes as JSON. */
  readonly key: string;
  readonly attributes: Attributes;
  /** Absent if the ledger end or the cursor is not known. */
  readonly offsets: number | undefined;
  /** The age of the newest record time in seconds, by synchronizer. */
  readonly seconds: ReadonlyMap<string, number>;
}

/**
 * Creates the followers of a ledger. Their lag is observed only while there are any, because a meter retains its
 * callbacks.
 */
export function createFollowers({ measure, ledger }: Recorder): Followers {
  const all = new Set<Follower>();
  const counted = new Set<Follower>();
  let ledgerEnd: Offset | undefined;
  let observed: readonly Lag[] = [];
  let stop: (() => void) | undefined;
  const observe = (): void => {
    measure(({ meter, lagOffsets, lagTime }) => {
      const observeLag = (result: BatchObservableResult, { attributes, offsets, seconds }: Lag): void => {
        const common: Attributes = { ...ledger, ...attributes };
        if (offsets !== undefined) result.observe(lagOffsets, offsets, common);
        for (const [synchronizer, value] of seconds)
          result.observe(lagTime, value, { ...common, 'canton.synchronizer.id': synchronizer });
      };
      const callback: BatchObservableCallback = (result) => {
        const lags = computeLags([...all], ledgerEnd, Date.now());
        const ended = observed.filter(({ key }) => !lags.some((lag) => lag.key === key));
        safely(() => {
          for (const lag of [...lags, ...ended.map(zeroLag)]) observeLag(result, lag);
        });
        observed = lags;
        // a callback must not be removed while the meter iterates over its callbacks
        if (all.size === 0) queueMicrotask(stopIfIdle);
      };
      meter.addBatchObservableCallback(callback, [lagOffsets, lagTime]);
      stop = () => {
        meter.removeBatchObservableCallback(callback, [lagOffsets, lagTime]);
      };
    });
  };
  const stopIfIdle = (): void => {
    if (all.size > 0 || stop === undefined) return;
    safely(stop);
    stop = undefined;
  };
  const touch = (follower: Follower): void => {
    if (!all.has(follower) || counted.has(follower)) return;
    measure(({ feeds }) => {
      counted.add(follower);
      feeds.add(1, { ...ledger, ...follower.attributes });
    });
    if (stop === undefined) observe();
  };
  return {
    add: (follower) => {
      all.add(follower);
      touch(follower);
    },
    touch,
    remove: (follower) => {
      all.delete(follower);
      if (!counted.delete(follower)) return;
      measure(({ feeds }) => {
        feeds.add(-1, { ...ledger, ...follower.attributes });
      });
    },
    setLedgerEnd: (end) => {
      ledgerEnd = end;
    },
  };
}

/** Updates the newest record times of a feed, which emits the times of each synchronizer in order. */
export function updateRecordTimes(
  { recordTimes }: Follower,
  times: readonly SynchronizerTime[],
  { synchronizerLabel }: Recorder,
): void {
  for (const { synchronizerId, recordTime } of times) recordTimes.set(synchronizerLabel(synchronizerId), recordTime);
}

/** Returns the lags of the followers, one for each set of attributes. */
function computeLags(followers: readonly Follower[], ledgerEnd: Offset | undefined, nowMs: number): readonly Lag[] {
  const lags = new Map<string, Lag>();
  for (const { attributes, cursor, recordTimes } of followers) {
    const key = JSON.stringify(attributes);
    const { offsets: maxOffsets, seconds = new Map<string, number>() } = lags.get(key) ?? {};
    const maxSeconds = new Map(seconds);
    for (const [synchronizer, recordTime] of recordTimes) {
      const age = Math.max(0, nowMs - Date.parse(recordTime)) / 1_000;
      maxSeconds.set(synchronizer, Math.max(age, maxSeconds.get(synchronizer) ?? 0));
    }
    // a feed may be ahead of the last known ledger end
    const offsets = ledgerEnd === undefined || cursor === undefined ? undefined : Math.max(0, ledgerEnd - cursor);
    lags.set(key, {
      key,
      attributes,
      offsets: offsets === undefined ? maxOffsets : Math.max(offsets, maxOffsets ?? 0),
      seconds: maxSeconds,
    });
  }
  return [...lags.values()];
}

/** Zero, observed once after the last feed has ended: a meter continues to export the last value of a gauge. */
const zeroLag = (lag: Lag): Lag => ({
  ...lag,
  offsets: lag.offsets && 0,
  seconds: new Map([...lag.seconds.keys()].map((synchronizer) => [synchronizer, 0])),
});
