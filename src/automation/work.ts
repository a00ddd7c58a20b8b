import {
  connect,
  defer,
  endWith,
  ignoreElements,
  map,
  merge,
  mergeAll,
  type Observable,
  takeUntil,
  takeWhile,
} from 'rxjs';
import type { AnyContract } from '../contracts/Contract.js';
import { resetOf, type View } from '../contracts/LiveState.js';
import type { WorkCounts } from '../diagnostics/SubmissionDiagnostic.js';
import { dispatch } from '../dispatch/dispatch.js';
import type { Place } from '../dispatch/Places.js';
import { decide } from './decide.js';
import type { Client } from '../client/Client.js';
import type { Entry } from './Entry.js';
import type { Acted } from './Rule.js';
import { type RuleRun, submit } from './submit.js';

/** Acts on contracts as the view shows them, until the run is stopped or the ledger is replaced. */
export const workOn = (
  run: RuleRun,
  view$: Observable<View<AnyContract>>,
  { diagnostics$, report }: Pick<Client, 'diagnostics$' | 'report'>,
): Observable<Acted> =>
  view$.pipe(
    takeWhile((view) => !isReplaced(view)),
    map((view) => run.agenda.apply(view)),
    connect((applied$) => {
      const { agenda, stop } = run;
      const replaced$ = applied$.pipe(ignoreElements(), endWith(true));
      const due = { take: () => agenda.take(), waitMs: () => agenda.waitMs, changed$: applied$ };
      const work = (entry: Entry, place: Place): Observable<Acted> => act(run, entry, place);
      const reportCounts = (counts: WorkCounts): void => {
        report(() => ({ _tag: 'WorkCounted', rule: run.rule.name, ...counts }));
      };
      const count = () => [agenda.counts()];
      const acted$ = dispatch({ places: agenda.places, due, stop, work, diagnostics$, count, report: reportCounts });
      // once it is stopped, and what was in progress has ended
      const ended$ = acted$.pipe(endWith(undefined));
      return merge(applied$.pipe(mergeAll()), ended$).pipe(
        takeWhile((acted) => acted !== undefined),
        takeUntil(replaced$),
      );
    }),
  );

/** Whether a view shows that another ledger has taken the place of the first. */
const isReplaced = ({ known }: View<AnyContract>): boolean =>
  known?.reloads === 'ledgerReset' || (known !== undefined && resetOf(known)?.reason === 'ledgerReset');

/** Decides on a contract, or submits what was decided. Emits what it did. */
const act = (run: RuleRun, entry: Entry, place: Place): Observable<Acted> =>
  defer(() => {
    const { submission } = entry;
    if (submission === undefined) {
      place.giveBackAfter(slowDecisionMs);
      return decide(run, entry, place);
    }
    place.giveBackIfSlow();
    return submit(run, entry, submission);
  });

/** How long a decision keeps its place, in milliseconds: one that never ends must not keep the others waiting. */
const slowDecisionMs = 20;
