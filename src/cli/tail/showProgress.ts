import { catchError, EMPTY, exhaustMap, finalize, map, of, scan, startWith, tap, timer, withLatestFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Offset } from '../../codecs/Offset.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { Progress } from './Progress.js';
import { paceOf, type Pace } from './paceOf.js';
import { progressText, type ProgressSample } from './progressText.js';
import type { StatusLine } from '../text/statusLine.js';

const askEveryMs = 2_000;
const showEveryMs = 250;
/** The rate is that of the last two seconds. */
const samples = 9;

const atFirst: Pace = { hasCaughtUp: false };

interface Shown {
  readonly progress: Progress;
  readonly status: StatusLine;
  /** The end of the range, if it has one. */
  readonly to: Offset | undefined;
}

/** Shows how far a tail has come, as long as it is subscribed and there is a terminal. */
export function showProgress(ledger: Ledger, { progress, status, to }: Shown): Observable<unknown> {
  if (!status.isVisible) return EMPTY;
  const end$ = timer(0, askEveryMs).pipe(
    exhaustMap(() => ledger.ledgerEnd().pipe(catchError(() => of(undefined)))),
    startWith(undefined),
  );
  const pace$ = ledger.events$.pipe(scan(paceOf, atFirst), startWith(atFirst));
  return timer(showEveryMs, showEveryMs).pipe(
    map((): ProgressSample => ({ ...progress, at: Date.now() })),
    scan((recent: readonly ProgressSample[], sample) => [...recent, sample].slice(-samples), []),
    withLatestFrom(end$, pace$),
    tap(([recent, end, pace]) => {
      status.show((paint) => progressText(recent, { ...pace, end, to }, paint));
    }),
    finalize(() => {
      status.clear();
    }),
  );
}
