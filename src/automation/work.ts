import {
  asapScheduler,
  concat,
  connect,
  defer,
  endWith,
  filter,
  ignoreElements,
  map,
  merge,
  mergeAll,
  mergeMap,
  NEVER,
  type Observable,
  observeOn,
  repeat,
  startWith,
  Subject,
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
import { rejectionReason } from '../errors/rejection.js';
import { clampTimer } from '../http/retry.js';
import { act, type RuleRun } from './act.js';
import type { Agenda } from './Agenda.js';
import type { Entry } from './Entry.js';
import type { Acted } from './Rule.js';

/** Acts on contracts as the view shows them, until the run is stopped or the ledger is replaced. */
export const workOn = (
  run: Omit<RuleRun, 'wake'>,
  view$: Observable<View<AnyContract>>,
  overload$: Observable<never>,
): Observable<Acted> =>
  defer(() => {
    const { agenda, stop$ } = run;
    const wake$ = new Subject<void>();
    const wake = (): void => {
      wake$.next();
    };
    const drained$ = stop$.pipe(
      tap(() => {
        agenda.isStopped = true;
      }),
      switchMap(() => wake$.pipe(startWith(undefined))),
      filter(() => agenda.places.running === 0),
    );
    return view$.pipe(
      takeWhile((view) => !isReplaced(view)),
      map((view) => agenda.apply(view)),
      connect((applied$) => {
        const acted$ = merge(applied$, wake$).pipe(
          // after the current work, so that actions that end at once do not nest
          observeOn(asapScheduler),
          switchMap(() => dueEntries(agenda)),
          mergeMap((entry) => act({ ...run, wake }, entry)),
        );
        return merge(applied$.pipe(mergeAll()), acted$, overload$).pipe(
          takeUntil(merge(drained$, applied$.pipe(ignoreElements(), endWith(true)))),
        );
      }),
    );
  });

/** Whether a view shows that another ledger has taken the place of the first. */
const isReplaced = ({ known }: View<AnyContract>): boolean =>
  known?.reloads === 'ledgerReset' || (known !== undefined && resetOf(known)?.reason === 'ledgerReset');

/** Emits the entries that are due, now and whenever one becomes due. */
const dueEntries = (agenda: Agenda): Observable<Entry> =>
  concat(
    defer(() => agenda.take()),
    defer(() => (agenda.waitMs === Infinity ? NEVER : timer(clampTimer(agenda.waitMs)).pipe(ignoreElements()))),
  ).pipe(repeat());

/** Pauses the agenda while submissions are delayed because the participant is overloaded. */
export const overload = (diagnostics$: Observable<Diagnostic>, { places }: Agenda): Observable<never> =>
  diagnostics$.pipe(
    tap((diagnostic) => {
      if (diagnostic._tag !== 'SubmissionUnclear' || !isLedgerError(diagnostic.cause, 'ApiError')) return;
      if (rejectionReason(diagnostic.cause) === 'backPressure') places.pause(diagnostic.delayMs);
    }),
    ignoreElements(),
  );
