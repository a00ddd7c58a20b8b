import {
  catchError,
  concatAll,
  concatMap,
  defaultIfEmpty,
  EMPTY,
  filter,
  map,
  merge,
  type Observable,
  of,
  take,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { ApiError } from '../errors/ApiError.js';
import { OutcomeUnknownError } from '../errors/LedgerError.js';
import type { Submission } from '../errors/submission.js';
import { monotonicNow } from '../http/clock.js';
import type { Outcome } from './codes.js';
import { findUpTo, settle, watch } from './findOut.js';
import { refusalOf } from './outcome.js';
import { readCommitted, unknownAfter } from './readCommitted.js';
import type { Run } from './Run.js';

/** After this time without a clear answer, the ledger is read, in milliseconds: the next attempt usually decides. */
const watchAfterMs = 2_000;

/** Reads the completions during the next attempts. Whichever decides first decides. */
export const readMeanwhile = (
  run: Run,
  named: Submission,
  leftMs: number,
  resend$: Observable<SubmittedTransaction>,
): Observable<SubmittedTransaction> => {
  const endsAt = monotonicNow() + leftMs;
  return unlessFound(
    resend$,
    watch(run, leftMs).pipe(
      map(({ offset, updateId }) => readCommitted({ ...run, updateId }, named, offset, endsAt - monotonicNow())),
    ),
  );
};

/**
 * Searches up to the archival of a contract during an attempt. If the change was not committed by then, no attempt will be. It
 * is sent once more without that contract, and the refusal of the ledger gives the reason.
 */
export const searchMeanwhile = (
  run: Run,
  named: Submission,
  archivedAt: Offset,
  leftMs: () => number,
  attempt$: Observable<SubmittedTransaction>,
  resend: () => Observable<SubmittedTransaction>,
): Observable<SubmittedTransaction> => {
  const found$ = findUpTo(run, archivedAt).pipe(
    defaultIfEmpty(undefined),
    filter((found) => found !== 'unclear'),
    map((offset) => (offset === undefined ? resend() : readCommitted(run, named, offset, leftMs()))),
    catchError(() => EMPTY),
  );
  return unlessFound(attempt$, found$);
};

/** Continues with what reading finds unless the attempt in flight is decided first. */
const unlessFound = (
  attempt$: Observable<SubmittedTransaction>,
  found$: Observable<Observable<SubmittedTransaction>>,
): Observable<SubmittedTransaction> =>
  merge(attempt$.pipe(map((transaction) => of(transaction))), timer(watchAfterMs).pipe(concatMap(() => found$))).pipe(
    take(1),
    concatAll(),
  );

/** Determines whether an earlier attempt was committed, after an answer that does not say. */
export const settleWithin = (
  run: Run,
  named: Submission,
  refusal: ApiError,
  outcome: Outcome,
  withinMs: number,
): Observable<SubmittedTransaction> => {
  const endsAt = monotonicNow() + withinMs;
  return settle(run, refusal, withinMs).pipe(
    defaultIfEmpty(undefined),
    unknownAfter(withinMs, named, refusal),
    concatMap((found) => {
      if (found === undefined) throw refusalOf(refusal, named, outcome);
      if (found === 'unclear') throw new OutcomeUnknownError(named, refusal);
      return readCommitted(run, named, found, endsAt - monotonicNow());
    }),
  );
};
