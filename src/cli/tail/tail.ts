import { defer, map, merge, type Observable, switchMap } from 'rxjs';
import { createLedger } from '../../ledger/createLedger.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { LedgerOptions } from '../../ledger/LedgerOptions.js';
import { addressOf } from '../Connection.js';
import { firstAdvice, ledgerMessage, tokenAdvice } from '../firstAnswer.js';
import { retryNotices, showProgress } from '../progress.js';
import { paintFor, type StatusLine, statusLine } from '../terminal.js';
import { type Outcome, runToEnd } from '../outcome.js';
import type { Output } from '../output.js';
import { templateMessage } from '../unknownNames.js';
import { errorLine, gapAdvice, messageOf, type World } from '../World.js';
import { printUpdates } from './print.js';
import { formatTailProgress, type TailProgress, trackLedgerEnd } from './progress.js';
import { loadTransport } from './loadTransport.js';
import { readTailOptions, type TailOptions } from './TailOptions.js';

/** `canton-rx tail`; emits the exit code, once. */
export function tailCommand(args: readonly string[], world: World): Observable<number> {
  const options = readTailOptions(args, world);
  if (!options.isPushed) return tail(options, world);
  return defer(() => loadTransport()).pipe(switchMap((transport) => tail(options, world, transport)));
}

/** Prints updates until the feed ends, a signal arrives or stdout closes; then emits the exit code, once. */
const tail = (options: TailOptions, world: World, transport?: LedgerOptions['transport']): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token } = options;
    const { stderr, env } = world;
    const ledger = createLedger({
      baseUrl,
      ...(token !== undefined && { token }),
      ...(transport !== undefined && { transport }),
    });
    const progress: TailProgress = { cursor: undefined, count: 0, end: undefined };
    const status = statusLine(stderr, paintFor(stderr, env));
    const printed$ = printUpdates(ledger, options, { world, status, progress });
    return runToEnd(world, printed$, showTailProgress(ledger, { options, stderr, status, progress })).pipe(
      map((outcome) => reportEnd(outcome, progress, options, stderr)),
    );
  });

/** The rate is that of the last two seconds. */
const sampleCount = 9;

/** Where the progress of a tail is shown. */
interface View {
  readonly options: TailOptions;
  readonly stderr: Output;
  readonly status: StatusLine;
  readonly progress: TailProgress;
}

const showTailProgress = (ledger: Ledger, { options, stderr, status, progress }: View): Observable<unknown> =>
  status.isVisible
    ? merge(
        trackLedgerEnd(ledger, progress),
        showProgress(ledger, status, {
          read: () => progress,
          sampleCount,
          delayMs: 250,
          format: (samples, pace, paint) => formatTailProgress(samples, pace, options.to, paint),
        }),
      )
    : retryNotices(ledger, addressOf(options), stderr);

/** Reports the end on stderr and returns the exit code. */
function reportEnd(outcome: Outcome, { cursor }: TailProgress, options: TailOptions, stderr: Output): number {
  const resume = cursor === undefined ? '' : `resume with --from ${cursor}\n`;
  switch (outcome.kind) {
    case 'done':
    case 'closed':
      return 0;
    case 'interrupted':
      stderr.write(resume || 'stopped\n');
      return 0;
    case 'failed': {
      const { error } = outcome;
      const named = templateMessage(error, options.templates);
      stderr.write(errorLine(named ?? ledgerMessage(error, options)));
      if (named === undefined)
        stderr.write(adviceFor(error) ?? (resume === '' ? firstAdvice(error) : tokenAdvice(error) + resume));
      return 1;
    }
    case 'unwritable':
      // without the cursor: it is unknown how much was written
      stderr.write(errorLine(`cannot write to stdout: ${messageOf(outcome.error)}`));
      return 1;
  }
}

/** The next step for an error after which resuming fails again. */
function adviceFor(error: unknown): string | undefined {
  const advice = gapAdvice(error, {
    pruned: (earliest) => `--from ${earliest} continues without them`,
    reset: 'its offsets have another meaning now: start with --from 0 or --from end',
  });
  return advice && `→ ${advice}\n`;
}
