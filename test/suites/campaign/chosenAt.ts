import { concatMap, defer, timer, type ObservableInput } from 'rxjs';
import type { Gap } from '../../../src/feed/UpdatesOptions.js';
import type { VirtualLedger } from '../../helpers/virtualLedger.js';
import type { GapChoice } from './Schedule.js';

/** A gap as the caller saw it, and where it chose to go on; `undefined` where that must end the feed. */
export interface GapSeen extends Gap {
  readonly to: number | undefined;
  /** Where the model stood. */
  readonly modelAt?: number;
}

/** An `onGap` that chooses as a schedule says, and tells what it chose when it does. */
export const chosenAt =
  (choice: GapChoice, ledger: VirtualLedger, tell: (seen: GapSeen) => void) =>
  (gap: Gap): ObservableInput<number> => {
    const { cursor, error } = gap;
    const isPruned = error._tag === 'PrunedError';
    const offered = (isPruned ? error.earliestOffset : error.ledgerEnd) ?? ledger.end;
    const choose = (to: number): ObservableInput<number> => {
      tell({ ...gap, to });
      return [to];
    };
    switch (choice) {
      case 'offered':
        return choose(offered);
      case 'ledger end':
        return choose(ledger.end);
      case 'later':
        return timer(3_000).pipe(concatMap(() => choose(offered)));
      case 'behind':
        // a ledger that was reset may be read again from anywhere
        if (!isPruned) return choose(Math.floor(ledger.end / 2));
        tell({ ...gap, to: undefined });
        return [cursor];
      case 'nothing':
        tell({ ...gap, to: undefined });
        return defer(() => []);
    }
  };
