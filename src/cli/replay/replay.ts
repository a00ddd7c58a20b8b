import { catchError, concatMap, defer, endWith, fromEvent, ignoreElements, map, merge, of } from 'rxjs';
import { take, throwError, type Observable } from 'rxjs';
import { createLedger } from '../../ledger/createLedger.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { UsageError } from '../arguments/UsageError.js';
import { interruptions } from '../interruptions.js';
import { grouped } from '../text/grouped.js';
import { paintFor } from '../text/paintFor.js';
import { statusLine } from '../text/statusLine.js';
import type { World } from '../World.js';
import type { Account } from './Account.js';
import type { Ended, Ending } from './Ended.js';
import { exitCodeOf } from './exitCodeOf.js';
import { filled } from './filled.js';
import { lineFile } from './lineFile.js';
import type { Opened } from './opened.js';
import { prepared } from './prepared.js';
import type { ReplayOptions } from './ReplayOptions.js';
import type { ReplayProgress } from './ReplayProgress.js';
import { settled } from './settled.js';
import { showReplay } from './showReplay.js';

/** Writes a range to a file until it is there, somebody ends it, or it fails; then emits the exit code, once. */
export const replay = (options: ReplayOptions, world: World): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, out } = options;
    const ledger = createLedger({ baseUrl, ...(token !== undefined && { token }) });
    let isBegun = false;
    const interrupted$ = interruptions(world.signals).pipe(map(() => 'interrupted' as const));
    return merge(interrupted$, prepared(ledger, options)).pipe(
      take(1),
      concatMap((ready): Observable<Ended> => {
        if (ready === 'interrupted') return of({ kind: ready });
        const { account, file } = ready;
        isBegun = true;
        return file === undefined ? of({ kind: 'complete', account }) : written(ledger, account, file, options, world);
      }),
      catchError((error: unknown): Observable<Ended> => {
        const isUsage = error instanceof UsageError;
        return isUsage ? throwError(() => error) : of({ kind: 'failed', error });
      }),
      map((ended) => exitCodeOf(ended, { path: out, isBegun }, world.stderr)),
    );
  });

function written(
  ledger: Ledger,
  account: Account,
  { handle, extent, torn }: Opened,
  options: ReplayOptions,
  { stderr, signals, env }: World,
): Observable<Ended> {
  const path = options.out;
  const file = lineFile(handle, path, extent);
  const progress: ReplayProgress = { cursor: extent.last ?? account.from, updates: extent.updates };
  if (extent.updates > 0 || torn > 0) stderr.write(goingOn(progress, torn));
  const broken$ = fromEvent(file.output, 'error').pipe(map((error): Ending => ({ kind: 'failed', error })));
  const interrupted$ = interruptions(signals).pipe(map((): Ending => ({ kind: 'interrupted' })));
  const filled$ = filled(ledger, account, options, { output: file.output, progress }).pipe(
    ignoreElements(),
    endWith<Ending>({ kind: 'done' }),
    catchError((error: unknown) => of<Ending>({ kind: 'failed', error })),
  );
  const shown$ = showReplay(ledger, account, progress, statusLine(stderr, paintFor(stderr, env))).pipe(
    ignoreElements(),
  );
  return merge(broken$, interrupted$, shown$, filled$).pipe(
    take(1),
    concatMap((ending) => settled(ending, { path, account, handle, file, progress })),
  );
}

const goingOn = ({ cursor, updates }: ReplayProgress, torn: number): string =>
  `going on after offset ${cursor}: ${grouped(updates)} updates are there${torn > 0 ? ', and a torn line was cut off' : ''}\n`;
