import type { Attributes, BatchObservableCallback } from '@opentelemetry/api';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { type Recorder, safely } from './Recorder.js';

/** The feeds without an end that somebody is subscribed to, of one ledger. */
export interface Followers {
  readonly add: (follower: Follower) => void;
  /** Tells that something has happened to one: there may be a meter by now. */
  readonly goesOn: (follower: Follower) => void;
  readonly remove: (follower: Follower) => void;
  /** Tells where the ledger ends. */
  readonly endsAt: (end: Offset) => void;
}

/** How far a feed without an end has come. */
export interface Follower {
  /** Its processor, if it has one with a name. */
  readonly attributes: Attributes;
  cursor: Offset | undefined;
  /** The newest record time of each synchronizer. */
  readonly recordTimes: Map<string, Timestamp>;
}

/** How far feeds are behind that have the same attributes: that of them which is behind most. */
interface Lag {
  /** The attributes, as text. */
  readonly key: string;
  readonly attributes: Attributes;
  /** Absent where the end of the ledger, or where they stand, is not known. */
  readonly offsets: number | undefined;
  /** By synchronizer. */
  readonly seconds: ReadonlyMap<string, number>;
}

/** How far feeds are behind the end of the ledger, and their record times behind the clock. */
export function lagsOf(followers: readonly Follower[], end: Offset | undefined, nowMs: number): readonly Lag[] {
  const lags = new Map<string, Lag>();
  for (const { attributes, cursor, recordTimes } of followers) {
    const key = JSON.stringify(attributes);
    const { offsets: most, seconds = new Map<string, number>() } = lags.get(key) ?? {};
    const merged = new Map(seconds);
    for (const [synchronizer, recordTime] of recordTimes) {
      const behind = Math.max(0, nowMs - Date.parse(recordTime)) / 1_000;
      merged.set(synchronizer, Math.max(behind, merged.get(synchronizer) ?? 0));
    }
    const behind = end === undefined || cursor === undefined ? undefined : Math.max(0, end - cursor);
    lags.set(key, {
      key,
      attributes,
      offsets: behind === undefined ? most : Math.max(behind, most ?? 0),
      seconds: merged,
    });
  }
  return [...lags.values()];
}

/** Observes how far they are behind, for as long as there are any: a meter would hold on to them. */
export function followersOf({ measure, ledger }: Recorder): Followers {
  const all = new Set<Follower>();
  const counted = new Set<Follower>();
  let end: Offset | undefined;
  let observed: readonly Lag[] = [];
  let stop: (() => void) | undefined;
  const observe = (): void => {
    measure(({ meter, lagOffsets, lagTime }) => {
      const callback: BatchObservableCallback = (result) => {
        const lags = lagsOf([...all], end, Date.now());
        const over = observed.filter(({ key }) => !lags.some((lag) => lag.key === key));
        safely(() => {
          for (const { attributes, offsets, seconds } of [...lags, ...over.map(noLag)]) {
            const common: Attributes = { ...ledger, ...attributes };
            if (offsets !== undefined) result.observe(lagOffsets, offsets, common);
            for (const [synchronizer, value] of seconds)
              result.observe(lagTime, value, { ...common, 'canton.synchronizer.id': synchronizer });
          }
        });
        observed = lags;
        // not while the meter goes through its callbacks
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
  const goesOn = (follower: Follower): void => {
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
      goesOn(follower);
    },
    goesOn,
    remove: (follower) => {
      all.delete(follower);
      if (!counted.delete(follower)) return;
      measure(({ feeds }) => {
        feeds.add(-1, { ...ledger, ...follower.attributes });
      });
    },
    endsAt: (offset) => {
      end = offset;
    },
  };
}

/** Nobody is behind any more: told once, for meters go on telling what they were told last. */
const noLag = (lag: Lag): Lag => ({
  ...lag,
  offsets: lag.offsets && 0,
  seconds: new Map([...lag.seconds.keys()].map((synchronizer) => [synchronizer, 0])),
});

/** Notes how far synchronizers have come; a feed tells each one's times in their order. */
export function noteTimes(
  { recordTimes }: Follower,
  times: readonly SynchronizerTime[],
  { synchronizer }: Recorder,
): void {
  for (const { synchronizerId, recordTime } of times) recordTimes.set(synchronizer(synchronizerId), recordTime);
}
