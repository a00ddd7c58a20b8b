import { defer, EMPTY, map, merge, type Observable, of, switchMap } from 'rxjs';
import { isLedgerError } from '../../errors/LedgerError.js';
import { createLedger } from '../../ledger/createLedger.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { LedgerOptions } from '../../ledger/LedgerOptions.js';
import { help } from '../help.js';
import { showProgress } from '../progress.js';
import { paintFor, type StatusLine, statusLine } from '../terminal.js';
import { type Outcome, runToEnd } from '../outcome.js';
import type { Output } from '../output.js';
import { gapAdvice, messageOf, type World } from '../World.js';
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

/** Prints updates until the feed ends, a signal arrives or stdout closes; then emits the exit code, once. */
const tail = (options: TailOptions, world: World, transport?: LedgerOptions['transport']): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, to } = options;
    const { stderr, env } = world;
    const ledger = createLedger({
      baseUrl,
      ...(token !== undefined && { token }),
      ...(transport !== undefined && { transport }),
    });
    const progress: TailProgress = { cursor: undefined, count: 0, end: undefined };
    const status = statusLine(stderr, paintFor(stderr, env));
    const printed$ = printUpdates(ledger, options, { world, status, progress });
    return runToEnd(world, printed$, showTailProgress(ledger, status, progress, to)).pipe(
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

/** The next step for a failure before the first answer. */
const checkAdvice = (error: unknown): string =>
  isLedgerError(error) ? "'canton-rx check' with the same --ledger tells why\n" : '';

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
      stderr.write(
        `${messageOf(outcome.error)}\n${adviceFor(outcome.error) ?? (resume || checkAdvice(outcome.error))}`,
      );
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
