import {
  catchError,
  defer,
  endWith,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  take,
  type Observable,
} from 'rxjs';
import { createLedger } from '../../ledger/createLedger.js';
import { interruptions } from '../interruptions.js';
import { paintFor } from '../text/paintFor.js';
import type { Output, World } from '../World.js';
import { exitCodeOf } from './exitCodeOf.js';
import { flushed } from '../flushed.js';
import type { Outcome } from './Outcome.js';
import { outcomeOfOutput } from './outcomeOfOutput.js';
import { printed } from './printed.js';
import type { Progress } from './Progress.js';
import { rowsFor } from './rowsFor.js';
import { showProgress } from './showProgress.js';
import { statusLine } from '../text/statusLine.js';
import type { TailOptions } from './TailOptions.js';
import type { SocketPort } from '../../http/SocketPort.js';

/** Prints updates until the feed ends, somebody ends it, or nobody reads any more; then emits the exit code, once. */
export const tail = (options: TailOptions, world: World, webSocket?: SocketPort): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, to } = options;
    const { stdout, stderr, signals, env } = world;
    const ledger = createLedger({
      baseUrl,
      ...(token !== undefined && { token }),
      ...(webSocket !== undefined && { webSocket }),
    });
    const progress: Progress = { cursor: undefined, count: 0 };
    const status = statusLine(stderr, paintFor(stderr, env));
    const broken$ = fromEvent(stdout, 'error').pipe(map(outcomeOfOutput));
    const interrupted$ = interruptions(signals).pipe(map((): Outcome => ({ kind: 'interrupted' })));
    const ended$ = printed(ledger, options, { stdout, rowOf: rowsFor(options, world), status, progress }).pipe(
      map((): Outcome => ({ kind: 'done' })),
      catchError((error: unknown) => of<Outcome>({ kind: 'failed', error })),
    );
    const shown$ = showProgress(ledger, { progress, status, to }).pipe(ignoreElements());
    return merge(broken$, interrupted$, ended$, shown$).pipe(
      take(1),
      mergeMap((outcome) => settled(outcome, stdout)),
      map((outcome) => exitCodeOf(outcome, progress, stderr)),
    );
  });

/** How it ended when what waits in the output is written, too: only then it is as good as printed. */
function settled(outcome: Outcome, stdout: Output): Observable<Outcome> {
  if (outcome.kind === 'closed' || outcome.kind === 'unwritable') return of(outcome);
  return flushed(stdout).pipe(
    endWith(outcome),
    catchError((error: unknown) => of(outcomeOfOutput(error))),
  );
}
