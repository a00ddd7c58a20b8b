import {
  catchError,
  defer,
  EMPTY,
  endWith,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  switchMap,
  take,
} from 'rxjs';
import { hasCode } from '../../file/durable.js';
import { createLedger } from '../../ledger/createLedger.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { LedgerOptions } from '../../ledger/LedgerOptions.js';
import { help } from '../help.js';
import { showProgress } from '../progress.js';
import { paintFor, type StatusLine, statusLine } from '../terminal.js';
import { flush, type Output } from '../output.js';
import { gapAdvice, interruptions, messageOf, type World } from '../World.js';
import { printUpdates } from './print.js';
import { formatTailProgress, type TailProgress, trackLedgerEnd } from './progress.js';
import { loadTransport } from './loadTransport.js';
import { readTailOptions, type TailOptions } from './TailOptions.js';

/** `canton-rx tail`; emits the exit code, once. */
export function tailCommand(args: readonly string[], world: World): Observable<number> {
  const options = readTailOptions(args, world);
  if (options === 'help') {
    world.stdout.write(`${help.tail}\n`);
    return of(0);
  }
  if (!options.isPushed) return tail(options, world);
  return defer(() => loadTransport()).pipe(switchMap((transport) => tail(options, world, transport)));
}

/** How a tail ended: at `--to`, by a signal, by a closed or an unwritable stdout, or by an error of the feed. */
type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'unwritable'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Prints updates until the feed ends, a signal arrives or stdout closes; then emits the exit code, once. */
const tail = (options: TailOptions, world: World, transport?: LedgerOptions['transport']): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, to } = options;
    const { stdout, stderr, signals, env } = world;
    const ledger = createLedger({
      baseUrl,
      ...(token !== undefined && { token }),
      ...(transport !== undefined && { transport }),
    });
    const progress: TailProgress = { cursor: undefined, count: 0, end: undefined };
    const status = statusLine(stderr, paintFor(stderr, env));
    const broken$ = fromEvent(stdout, 'error').pipe(map(outputOutcome));
    const interrupted$ = interruptions(signals).pipe(map((): Outcome => ({ kind: 'interrupted' })));
    const ended$ = printUpdates(ledger, options, { world, status, progress }).pipe(
      map((): Outcome => ({ kind: 'done' })),
      catchError((error: unknown) => of<Outcome>({ kind: 'failed', error })),
    );
    const shown$ = showTailProgress(ledger, status, progress, to).pipe(ignoreElements());
    return merge(broken$, interrupted$, ended$, shown$).pipe(
      take(1),
      mergeMap((outcome) => finish(outcome, stdout)),
      map((outcome) => reportEnd(outcome, progress, stderr)),
    );
  });

/** The rate is that of the last two seconds. */
const sampleCount = 9;

const showTailProgress = (
  ledger: Ledger,
  status: StatusLine,
  progress: TailProgress,
  to: number | undefined,
): Observable<unknown> =>
  status.isVisible
    ? merge(
        trackLedgerEnd(ledger, progress),
        showProgress(ledger, status, {
          read: () => progress,
          sampleCount,
          delayMs: 250,
          format: (samples, pace, paint) => formatTailProgress(samples, pace, to, paint),
        }),
      )
    : EMPTY;

/** Waits until stdout has passed on what was written: only then is it printed. */
function finish(outcome: Outcome, stdout: Output): Observable<Outcome> {
  if (outcome.kind === 'closed' || outcome.kind === 'unwritable') return of(outcome);
  return flush(stdout).pipe(
    endWith(outcome),
    catchError((error: unknown) => of(outputOutcome(error))),
  );
}

/** The outcome of an error of stdout: the reader closed the pipe, as `head -1` does, or writing failed, as on a full disk. */
const outputOutcome = (error: unknown): Outcome =>
  hasCode(error, 'EPIPE') ? { kind: 'closed' } : { kind: 'unwritable', error };

/** Reports the end on stderr and returns the exit code. */
function reportEnd(outcome: Outcome, { cursor }: TailProgress, stderr: Output): number {
  const resume = cursor === undefined ? '' : `resume with --from ${cursor}\n`;
  switch (outcome.kind) {
    case 'done':
    case 'closed':
      return 0;
    case 'interrupted':
      stderr.write(resume);
      return 0;
    case 'failed':
      stderr.write(`${messageOf(outcome.error)}\n${adviceFor(outcome.error) ?? resume}`);
      return 1;
    case 'unwritable':
      // without the cursor: it is unknown how much was written
      stderr.write(`cannot write to stdout: ${messageOf(outcome.error)}\n`);
      return 1;
  }
}

/** The next step for an error after which resuming fails again. */
function adviceFor(error: unknown): string | undefined {
  const advice = gapAdvice(error, {
    pruned: (earliest) => `--from ${earliest} continues without them`,
    reset: 'its offsets have another meaning now: start with --from 0 or --from end',
  });
  return advice && `${advice}\n`;
}
