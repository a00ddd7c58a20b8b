import { exhaustMap, finalize, ignoreElements, type Observable, type ObservableInput, tap, timer } from 'rxjs';
import type { WorkCounts } from '../diagnostics/SubmissionDiagnostic.js';

/** The counts where nothing is done. */
export const noWork: WorkCounts = { waiting: 0, due: 0, running: 0, parked: 0, oldestMs: 0 };

/** How often the counts are reported, in milliseconds. */
const reportEveryMs = 10_000;

/** Reports how much work there is, from time to time; and none at the end, because another process may do it then. */
export const reportCounts = (
  count: () => ObservableInput<WorkCounts>,
  report: (counts: WorkCounts) => void,
): Observable<never> =>
  timer(0, reportEveryMs).pipe(
    exhaustMap(count),
    tap(report),
    finalize(() => {
      report(noWork);
    }),
    ignoreElements(),
  );
