import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  throwError,
} from 'rxjs';
import { isApiError } from '../../errors/ApiError.js';
import { isSnapshotLimitError } from '../../errors/feed.js';
import { createLedger } from '../../ledger/createLedger.js';
import type { LedgerOptions } from '../../ledger/LedgerOptions.js';
import { UsageError } from '../arguments.js';
import { explain } from '../check/explain.js';
import { addressOf } from '../Connection.js';
import { firstAnswer, ledgerMessage } from '../firstAnswer.js';
import { checkParties, templateMessage } from '../unknownNames.js';
import { type Outcome, runToEnd } from '../outcome.js';
import { retryNotices, showProgress } from '../progress.js';
import { loadTransport } from '../tail/loadTransport.js';
import { paintFor, statusLine } from '../terminal.js';
import { errorLine, gapAdvice, messageOf, type World } from '../World.js';
import { type ContractsOptions, readContractsOptions, templatesOf } from './ContractsOptions.js';
import { printContracts } from './print.js';
import {
  type ContractsProgress,
  followedSummary,
  formatContractsProgress,
  startProgress,
  summaryOf,
} from './progress.js';

/** `canton-rx contracts`; emits the exit code, once. */
export function contractsCommand(args: readonly string[], world: World): Observable<number> {
  const options = readContractsOptions(args, world);
  if (!options.isPushed) return contracts(options, world);
  return defer(() => loadTransport()).pipe(concatMap((transport) => contracts(options, world, transport)));
}

/** The rate is that of the last two seconds. */
const sampleCount = 9;

/** Prints contracts until it fails, a signal arrives or stdout closes; then emits the exit code, once. */
const contracts = (
  options: ContractsOptions,
  world: World,
  transport?: LedgerOptions['transport'],
): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token } = options;
    const { stderr, env } = world;
    const ledger = createLedger({
      baseUrl,
      ...(token !== undefined && { token }),
      ...(transport !== undefined && { transport }),
    });
    const progress = startProgress();
    const status = statusLine(stderr, paintFor(stderr, env));
    const printed$ = concat(
      checkOffset(firstAnswer(ledger, options, stderr, status), options),
      checkParties(ledger, options, options.query.parties),
      printContracts(ledger, options, { world, status, progress }),
    );
    const shown$ = status.isVisible
      ? showProgress(ledger, status, {
          read: () => ({ ...progress }),
          sampleCount,
          delayMs: 250,
          format: formatContractsProgress,
        })
      : retryNotices(ledger, addressOf(options), stderr);
    return runToEnd(world, printed$, shown$).pipe(concatMap((outcome) => reportEnd(outcome, progress, options, world)));
  });

/** Completes if the offset of the snapshot is not after the ledger end. A service may not serve the ledger end. */
const checkOffset = (ledgerEnd$: Observable<number>, { at = 0 }: ContractsOptions): Observable<never> =>
  ledgerEnd$.pipe(
    map((end) => {
      if (at > end) throw new Error(`the ledger ends at offset ${end}, before --at ${at}`);
    }),
    catchError((error: unknown) => (isApiError(error) && error.status === 404 ? EMPTY : throwError(() => error))),
    ignoreElements(),
  );

/** The exit code that shells use after Ctrl-C: a partial snapshot must not look like a complete one. */
const interruptedCode = 130;

/** Reports the end on stderr and emits the exit code. */
function reportEnd(
  outcome: Outcome,
  progress: ContractsProgress,
  options: ContractsOptions,
  world: World,
): Observable<number> {
  const { stderr } = world;
  switch (outcome.kind) {
    case 'done':
      stderr.write(`${summaryOf(progress)}\n`);
      return of(0);
    case 'closed':
      return of(0);
    case 'interrupted': {
      const isWhole = options.isFollowed && progress.offset !== undefined;
      stderr.write(isWhole ? `${followedSummary(progress)}\n` : 'interrupted: the contracts are not complete\n');
      return of(isWhole ? 0 : interruptedCode);
    }
    case 'failed':
      if (outcome.error instanceof UsageError) throw outcome.error;
      return reportFailure(outcome.error, options, world);
    case 'unwritable':
      stderr.write(errorLine(`cannot write to stdout: ${messageOf(outcome.error)}`));
      return of(1);
  }
}

function reportFailure(error: unknown, options: ContractsOptions, world: World): Observable<number> {
  const { query } = options;
  const named = templateMessage(error, templatesOf(query));
  world.stderr.write(errorLine(named ?? ledgerMessage(error, options)));
  if (named !== undefined) return of(1);
  world.stderr.write(adviceFor(error));
  return explain(error, { ...options, parties: query.parties }, world);
}

/** The next step for an error after which the same command fails again. */
function adviceFor(error: unknown): string {
  if (isSnapshotLimitError(error))
    return '→ --websocket has no limit; or choose fewer contracts with --template and --party\n';
  const advice = gapAdvice(error, {
    pruned: (earliest) => `--at ${earliest} is the earliest snapshot`,
    reset: 'its offsets have another meaning now: leave out --at',
  });
  return advice === undefined ? '' : `→ ${advice}\n`;
}
