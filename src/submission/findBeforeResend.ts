import {
  catchError,
  concat,
  concatMap,
  EMPTY,
  filter,
  map,
  type Observable,
  take,
  takeUntil,
  throwError,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Place } from '../history/locate.js';
import { findBetween } from './findOut.js';
import { type LedgerStart, locateStart, movedFrom } from './LedgerStart.js';
import type { Run, UsedContracts } from './Run.js';
import { noContracts, readContracts } from './usedContracts.js';

/**
 * Before commands are sent again, looks for their commit if the participant may have been restored meanwhile: it then recognizes no
 * command from after its backup, and the commit may be before the start. Otherwise, emits what the contracts show that they
 * use. If the offsets of the ledger have changed, nothing is sent again: only reading decides.
 */
export const findBeforeResend = (run: Run, contractIds: readonly string[]): Observable<UsedContracts> =>
  locateStart(run).pipe(
    concatMap((place) =>
      concat(
        findAfterRestore(run, place).pipe(map((committedAt) => ({ ...noContracts, committedAt }))),
        place?._tag === 'Elsewhere' ? throwError(() => movedFrom(run.start)) : readContracts(run, contractIds),
      ),
    ),
    take(1),
  );

/** The minimum time in which a participant stops, gets its backup, and starts, in milliseconds. */
const minRestoreMs = 10_000;

/** How long to look for a commit before the commands are sent again, in milliseconds. */
const lookUpTimeoutMs = 20_000;

/** Emits the offset of the commit, if the participant may have been restored and shows it. */
const findAfterRestore = (run: Run, place: Place | undefined): Observable<Offset> => {
  const { start, client } = run;
  const isMoved = place?._tag === 'Elsewhere';
  const mayBeRestored = start.isGiven === true || run.ageMs() >= minRestoreMs;
  // the longest period covers a start that could not be read
  if (!isMoved && (!mayBeRestored || start.isUnread === true)) return EMPTY;
  const beginExclusive = isMoved ? place.start : (place?.after ?? beginOf(start));
  return ledgerEnd(client).pipe(
    concatMap((endInclusive) => findBetween(run, beginExclusive, endInclusive)),
    filter((found) => found !== 'unclear'),
    catchError((error: unknown) => {
      // sending the commands again decides, too
      if (isMoved) throw error;
      return EMPTY;
    }),
    takeUntil(timer(lookUpTimeoutMs)),
  );
};

/** Where to begin without an update that shows it. If the parties saw none before the start, all of theirs are later. */
const beginOf = ({ offset, isBare = false }: LedgerStart): Offset => (isBare ? offset : 0);
