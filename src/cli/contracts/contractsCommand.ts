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
import { firstAnswer } from '../firstAnswer.js';
import { help } from '../help.js';
import { type Outcome, runToEnd } from '../outcome.js';
import { showProgress } from '../progress.js';
import { loadTransport } from '../tail/loadTransport.js';
import { paintFor, statusLine } from '../terminal.js';
import { gapAdvice, messageOf, type World } from '../World.js';
import { type ContractsOptions, readContractsOptions, unknownTemplateAdvice } from './ContractsOptions.js';
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
  if (options === 'help') {
    world.stdout.write(`${help.contracts}\n`);
    return of(0);
  }
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
      checkOffset(firstAnswer(ledger, stderr, status), options),
      printContracts(ledger, options, { world, status, progress }),
    );
    const shown$ = showProgress(ledger, status, {
      read: () => ({ ...progress }),
      sampleCount,
      delayMs: 250,
      format: formatContractsProgress,
    });
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

/** The exit code that shells use after Ctrl-C: half a snapshot must not look like a whole one. */
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
      stderr.write(`${summaryOf(progress)}\n${absenceAdvice(progress, options)}`);
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
      stderr.write(`${messageOf(outcome.error)}\n${adviceFor(outcome.error)}`);
      return explain(outcome.error, { ...options, parties: options.query.parties }, world);
    case 'unwritable':
      stderr.write(`cannot write to stdout: ${messageOf(outcome.error)}\n`);
      return of(1);
  }
}

/** What may be the reason that there are no contracts. */
function absenceAdvice({ types }: ContractsProgress, { query: { parties } }: ContractsOptions): string {
  if (types.size > 0 || parties === 'any') return '';
  return '→ a party that the participant does not host has no contracts: check the spelling of --party\n';
}

/** The next step for an error after which the same command fails again. */
function adviceFor(error: unknown): string {
  const unknownTemplate = unknownTemplateAdvice(error);
  if (unknownTemplate !== undefined) return unknownTemplate;
  if (isSnapshotLimitError(error))
    return '→ --websocket has no limit; or choose fewer contracts with --template and --party\n';
  const advice = gapAdvice(error, {
    pruned: (earliest) => `--at ${earliest} is the earliest snapshot`,
    reset: 'its offsets have another meaning now: leave out --at',
  });
  return advice === undefined ? '' : `→ ${advice}\n`;
}
