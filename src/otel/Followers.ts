import type { Attributes, BatchObservableCallback } from '@opentelemetry/api';
import type { Offset } from '../codecs/Offset.js';
import type { Follower } from './Follower.js';
import { lagsOf, type Lag } from './lagsOf.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';

/** The feeds without an end that somebody is subscribed to, of one ledger. */
export interface Followers {
  readonly add: (follower: Follower) => void;
  /** Tells that something has happened to one: there may be a meter by now. */
  readonly goesOn: (follower: Follower) => void;
  readonly remove: (follower: Follower) => void;
  /** Tells where the ledger ends. */
  readonly endsAt: (end: Offset) => void;
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
