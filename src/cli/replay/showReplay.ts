import { EMPTY, finalize, map, scan, startWith, tap, timer, withLatestFrom, type Observable } from 'rxjs';
import type { Ledger } from '../../ledger/Ledger.js';
import { paceOf, type Pace } from '../tail/paceOf.js';
import type { StatusLine } from '../text/statusLine.js';
import type { ReplayProgress } from './ReplayProgress.js';
import { replayText, type ReplaySample, type Span } from './replayText.js';

const everyMs = 250;
/** The rate is that of the last five seconds: the time left should not jump about. */
const most = 21;

const atFirst: Pace = { hasCaughtUp: false };

/** Shows how far a replay has come, as long as it is subscribed and there is a terminal. */
export function showReplay(
  ledger: Ledger,
  span: Span,
  progress: ReplayProgress,
  status: StatusLine,
): Observable<unknown> {
  if (!status.isVisible) return EMPTY;
  const pace$ = ledger.events$.pipe(scan(paceOf, atFirst), startWith(atFirst));
  return timer(0, everyMs).pipe(
    map((): ReplaySample => ({ ...progress, at: Date.now() })),
    scan((samples: readonly ReplaySample[], sample) => [...samples, sample].slice(-most), []),
    withLatestFrom(pace$),
    tap(([samples, pace]) => {
      status.show((paint) => replayText(samples, span, pace, paint));
    }),
    finalize(() => {
      status.clear();
    }),
  );
}
