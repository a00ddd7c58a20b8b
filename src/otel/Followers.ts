import type { BatchObservableCallback, BatchObservableResult } from '@opentelemetry/api';
import type { Offset } from '../codecs/Offset.js';
import type { Follower } from './Follower.js';
import type { Instruments } from './Instruments.js';
import { lagsOf } from './lagsOf.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';

/** The feeds without an end that somebody is subscribed to, of one ledger. */
export interface Followers {
  readonly add: (follower: Follower) => void;
  readonly remove: (follower: Follower) => void;
  /** Tells where the ledger ends. */
  readonly endsAt: (end: Offset) => void;
}

/** Observes how far they are behind, for as long as there are any: a meter would hold on to them. */
export function followersOf({ measure, ledger }: Recorder): Followers {
  const all = new Set<Follower>();
  let end: Offset | undefined;
  let stop = (): void => undefined;
  const observe =
    ({ feeds, lagOffsets, lagTime }: Instruments): BatchObservableCallback =>
    (result: BatchObservableResult) => {
      safely(() => {
        for (const { attributes, count, offsets, seconds } of lagsOf([...all], end, Date.now())) {
          const common = { ...ledger, ...attributes };
          result.observe(feeds, count, common);
          if (offsets !== undefined) result.observe(lagOffsets, offsets, common);
          for (const [synchronizer, value] of seconds) {
            result.observe(lagTime, value, { ...common, 'canton.synchronizer.id': synchronizer });
          }
        }
      });
    };
  return {
    add: (follower) => {
      all.add(follower);
      if (all.size > 1) return;
      measure((instruments) => {
        const { meter, feeds, lagOffsets, lagTime } = instruments;
        const callback = observe(instruments);
        meter.addBatchObservableCallback(callback, [feeds, lagOffsets, lagTime]);
        stop = () => {
          meter.removeBatchObservableCallback(callback, [feeds, lagOffsets, lagTime]);
        };
      });
    },
    remove: (follower) => {
      all.delete(follower);
      if (all.size === 0) safely(stop);
    },
    endsAt: (offset) => {
      end = offset;
    },
  };
}
