import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  tap,
  throwError,
} from 'rxjs';
import { type Diagnostic, isLedgerError } from '../../index.js';
import { parseOptions, readForm, readInteger, readOneOf, UsageError } from '../arguments.js';
import { ledgerCommands } from '../ledgerCommands.js';
import { readConnection } from '../Connection.js';
import { reportEnd } from '../failure.js';
import { checkParties } from '../participant.js';
import { shortType } from '../pretty.js';
import { joinParts, type Pace, rateOf, rateText, type Samples, showSession, troubleText } from '../progress.js';
import { readNames } from '../Selection.js';
import { firstAnswer, openSession, type Session } from '../Session.js';
import { groupDigits, type Paint, truncate } from '../terminal.js';
import { interruptedCode, runToEnd, type World } from '../World.js';
import { type ContractsProgress, printChanges, printSnapshot } from './print.js';

/** `canton-rx contracts`; emits the exit code, once. */
export function contractsCommand(args: readonly string[], world: World): Observable<number> {
  const options = readContractsOptions(args, world);
  return openSession(options, world).pipe(concatMap((session) => contracts(options, session)));
}

/** The ledger, the contracts and their form. */
type ContractsOptions = ReturnType<typeof readContractsOptions>;

function readContractsOptions(args: readonly string[], world: World) {
  const values = parseOptions(args, ledgerCommands.contracts.options);
  const { follow: isFollowed = false } = values;
  const at = readInteger('at', values.at, undefined);
  if (at !== undefined && isFollowed)
    throw new UsageError(
      '--follow starts at the ledger end and excludes --at: use tail --from for what happened since',
    );
  const connection = readConnection(values, world);
  const { output, json, pretty } = values;
  if (output !== undefined && (json === true || pretty === true))
    throw new UsageError('--output excludes --json and --pretty');
  const form = output === undefined ? undefined : readOneOf('output', output, ['table', 'json', 'csv']);
  if (form === 'csv' && isFollowed) throw new UsageError('--output csv excludes --follow');
  const flags = form === undefined ? values : { ...values, pretty: form === 'table', json: form !== 'table' };
  return {
    ...connection,
    ...readNames(values, connection.contextParties),
    ...readForm(flags, world.stdout),
    isCsv: form === 'csv',
    at,
    isFollowed,
  };
}

/** Prints contracts until it fails, a signal arrives or stdout closes; then emits the exit code, once. */
const contracts = (options: ContractsOptions, session: Session): Observable<number> =>
  defer(() => {
    const progress: ContractsProgress = {
      ...{ read: 0, snapshotOffset: undefined, offset: undefined, isCaughtUp: false, active: 0 },
      types: new Map(),
    };
    const print = options.isFollowed ? printChanges : printSnapshot;
    const printed$ = concat(
      checkOffset(session, options),
      checkParties(session, options.parties),
      print(session, options, progress),
    );
    const shown$ = merge(
      session.ledger.diagnostics$.pipe(
        tap((diagnostic) => {
          countEntries(progress, diagnostic);
        }),
      ),
      showSession(session, { read: () => progress, format: formatContractsProgress }),
    );
    return runToEnd(session.world, printed$, shown$).pipe(
      concatMap((outcome) => {
        const isWhole = options.isFollowed && progress.offset !== undefined;
        const texts = {
          done: `${summaryOf(progress)}\n`,
          interrupted: isWhole ? `${followedSummary(progress)}\n` : 'interrupted: the contracts are not complete\n',
          interruptedCode: isWhole ? 0 : interruptedCode,
        };
        return reportEnd(outcome, texts, { ...options, gap, resume: '' }, session);
      }),
    );
  });

const gap = {
  pruned: (earliest: number) => `--at ${earliest} is the earliest snapshot`,
  reset: 'its offsets have another meaning now: leave out --at',
};

/** Completes if the offset of the snapshot is not after the ledger end. A service may not serve the ledger end. */
const checkOffset = (session: Session, { at = 0 }: ContractsOptions): Observable<never> =>
  firstAnswer(session).pipe(
    map((end) => {
      if (at > end) throw new Error(`the ledger ends at offset ${end}, before --at ${at}`);
    }),
    catchError((error: unknown) =>
      isLedgerError(error, 'ApiError') && error.status === 404 ? EMPTY : throwError(() => error),
    ),
    ignoreElements(),
  );

function countEntries(progress: ContractsProgress, diagnostic: Diagnostic): void {
  if (diagnostic._tag === 'SnapshotPageReceived') progress.read = diagnostic.total;
  if (diagnostic._tag === 'SnapshotCompleted') progress.snapshotOffset = diagnostic.offset;
}

/** Formats the status line: `reading: 12 500  ·  25 000/s`, and then `1 234 contracts  ·  offset 1471  ·  live`. */
function formatContractsProgress(samples: Samples<ContractsProgress>, { trouble }: Pace, paint: Paint): string {
  const { read, offset, active, isCaughtUp } = samples.at(-1) ?? samples[0];
  const retrying = troubleText(trouble, paint);
  if (offset === undefined) {
    const rate = rateOf(samples, (progress) => progress.read);
    return joinParts(`reading: ${groupDigits(read)}`, rateText(rate, paint), retrying);
  }
  const state = isCaughtUp ? paint('green', 'live') : paint('yellow', 'catching up');
  return joinParts(countText(active), `offset ${offset}`, retrying || state);
}

const countText = (count: number): string => {
  if (count === 0) return 'no contracts';
  return count === 1 ? '1 contract' : `${groupDigits(count)} contracts`;
};

/** The offset has no groups of digits: users copy it into `--at` and `--from`. */
const followedSummary = ({ active, offset = 0 }: ContractsProgress): string =>
  `${countText(active)} at offset ${offset}`;

/** How many types the summary names, and the width of a name. */
const maxNamed = 4;
const maxTypeWidth = 80;

/** The summary of a snapshot: `5 contracts at offset 1471: sandbox-assets:Asset 3, sandbox-tasks:Task 2`. */
function summaryOf({ types, offset = 0 }: ContractsProgress): string {
  const all = [...types].sort(([, a], [, b]) => b.count - a.count);
  const sum = (of: 'count' | 'inFlight'): number => all.reduce((total, [, counts]) => total + counts[of], 0);
  const named = all
    .slice(0, maxNamed)
    .map(([type, { count }]) => `${truncate(shortType(type), maxTypeWidth)} ${groupDigits(count)}`);
  const others = all.length - named.length;
  const parts = [...named, ...(others > 0 ? [`${others} other types`] : [])].join(', ');
  const inFlight = sum('inFlight') > 0 ? `, ${groupDigits(sum('inFlight'))} in flight` : '';
  return `${countText(sum('count'))}${inFlight} at offset ${offset}${parts === '' ? '' : `: ${parts}`}`;
}
