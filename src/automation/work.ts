import {
  asapScheduler,
  auditTime,
  concat,
  connect,
  defer,
  endWith,
  finalize,
  ignoreElements,
  map,
  merge,
  mergeAll,
  mergeMap,
  NEVER,
  type Observable,
  repeat,
  switchMap,
  takeUntil,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import type { AnyContract } from '../contracts/Contract.js';
import { resetOf, type View } from '../contracts/LiveState.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { rejectionReason } from '../errors/rejectionReason.js';
import { clampTimer } from '../http/retry.js';
import type { Agenda } from './Agenda.js';
import { decide } from './decide.js';
import type { Entry } from './Entry.js';
import type { Acted } from './Rule.js';
import { type RuleRun, submit } from './submit.js';

/** Acts on contracts as the view shows them, until the run is stopped or the ledger is replaced. */
export const workOn = (
  run: RuleRun,
  view$: Observable<View<AnyContract>>,
  overload$: Observable<never>,
): Observable<Acted> =>
  view$.pipe(
    takeWhile((view) => !isReplaced(view)),
    map((view) => run.agenda.apply(view)),
    connect((applied$) => {
      const replaced$ = applied$.pipe(ignoreElements(), endWith(true));
      const due$ = merge(applied$, run.agenda.places.freed$).pipe(
        // once after the current work, so that actions that end at once do not nest
        auditTime(0, asapScheduler),
        switchMap(() => dueEntries(run.agenda)),
        takeUntil(run.stop$),
      );
      const acted$ = due$.pipe(
        mergeMap((entry) => act(run, entry)),
        // once it is stopped, and what was in progress has ended
        endWith(undefined),
      );
      return merge(applied$.pipe(mergeAll()), acted$, overload$).pipe(
        takeWhile((acted) => acted !== undefined),
        takeUntil(replaced$),
      );
    }),
  );

/** Whether a view shows that another ledger has taken the place of the first. */
const isReplaced = ({ known }: View<AnyContract>): boolean =>
  known?.reloads === 'ledgerReset' || (known !== undefined && resetOf(known)?.reason === 'ledgerReset');

/** Emits the entries that are due, now and whenever one becomes due. */
const dueEntries = (agenda: Agenda): Observable<Entry> =>
  concat(
    defer(() => agenda.take()),
    defer(() => (agenda.waitMs === Infinity ? NEVER : timer(clampTimer(agenda.waitMs)).pipe(ignoreElements()))),
  ).pipe(repeat());

/** Decides on a contract, or submits what was decided. Emits what it did. */
const act = (run: RuleRun, entry: Entry): Observable<Acted> =>
  defer(() => {
    const { giveBack, end } = run.agenda.places.take();
    const { submission } = entry;
    return (submission === undefined ? decide(run, entry, giveBack) : submit(run, entry, submission)).pipe(
      finalize(end),
    );
  });

/** Pauses the agenda while submissions are delayed because the participant is overloaded. */
export const overload = (diagnostics$: Observable<Diagnostic>, { places }: Agenda): Observable<never> =>
  diagnostics$.pipe(
    tap((diagnostic) => {
      if (diagnostic._tag !== 'SubmissionUnclear' || !isLedgerError(diagnostic.cause, 'ApiError')) return;
      if (rejectionReason(diagnostic.cause) === 'backPressure') places.pause(diagnostic.delayMs);
    }),
    ignoreElements(),
  );
