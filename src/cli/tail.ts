import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  ignoreElements,
  merge,
  type Observable,
  of,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isLedgerError, type Ledger, type Update } from '../index.js';
import { parseOptions, readForm, readInteger, readOffset, UsageError } from './arguments.js';
import { ledgerCommands } from './ledgerCommands.js';
import { readConnection } from './Connection.js';
import { reportEnd } from './failure.js';
import { checkParties, warnOfSynchronizers } from './participant.js';
import { prettyRows } from './pretty.js';
import { joinParts, type Pace, rateOf, rateText, type Samples, showSession, troubleText } from './progress.js';
import { readSelected, readSelection } from './Selection.js';
import { firstAnswer, openSession, type Session } from './Session.js';
import { findStart, readStart } from './start.js';
import { columnsOf, groupDigits, type Paint, paintFor, toJsonLine } from './terminal.js';
import { runToEnd, type World } from './World.js';

/** `canton-rx tail`; emits the exit code, once. */
export function tailCommand(args: readonly string[], world: World): Observable<number> {
  const options = readTailOptions(args, world);
  return openSession(options, world).pipe(concatMap((session) => tail(options, session)));
}

/** The ledger, the updates and their form. */
type TailOptions = ReturnType<typeof readTailOptions>;

function readTailOptions(args: readonly string[], world: World) {
  const values = parseOptions(args, ledgerCommands.tail.options);
  const start = readStart(values, values.from);
  const from = readOffset('from', values.from ?? '0');
  const to = readInteger('to', values.to, undefined);
  if (to !== undefined && from !== 'end' && to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  if (values.websocket === true && to !== undefined) throw new UsageError('--websocket excludes --to');
  const connection = readConnection(values, world);
  return {
    ...connection,
    ...readSelection(values, connection.contextParties),
    ...readForm(values, world.stdout),
    from,
    start,
    to,
  };
}

/**
 * How far a tail has read. Only the functions of the tail change it.
 *
 * @internal
 */
export interface TailProgress {
  /** The offset of the last update that was read, and printed unless left out; absent until the start offset is known. */
  cursor: number | undefined;
  /** How many updates were read. */
  count: number;
  /** The ledger end; absent until it is known, and while the service does not report it. */
  end: number | undefined;
}

/** Prints updates until the feed ends, a signal arrives or stdout closes; then emits the exit code, once. */
const tail = (options: TailOptions, session: Session): Observable<number> =>
  defer(() => {
    const progress: TailProgress = { cursor: undefined, count: 0, end: undefined };
    const shown$ = merge(
      session.status.isVisible ? trackLedgerEnd(session.ledger, progress) : EMPTY,
      showSession(session, {
        read: () => progress,
        format: (samples, pace, paint) => formatTailProgress(samples, pace, options.to, paint),
      }),
    );
    return runToEnd(session.world, printUpdates(session, options, progress), shown$).pipe(
      concatMap((outcome) => {
        const resume = progress.cursor === undefined ? '' : `resume with --from ${progress.cursor}\n`;
        const gap = {
          pruned: (earliest: number) => `--from ${earliest} continues without them`,
          reset: 'its offsets have another meaning now: start with --from 0 or --from end',
        };
        const texts = { done: '', interrupted: resume || 'stopped\n', interruptedCode: 0 };
        return reportEnd(outcome, texts, { ...options, gap, resume }, session);
      }),
    );
  });

/** Prints the updates that the options select; completes when all are printed. */
function printUpdates(session: Session, options: TailOptions, progress: TailProgress): Observable<never> {
  const { status, world } = session;
  const { stdout } = world;
  const formatRow = rowFormat(options, world);
  const reader = {
    selection: options,
    to: options.to,
    format: (update: Update): string => {
      progress.count += 1;
      return formatRow(update);
    },
    write: (row: string): void => {
      // rows and the status line may share a terminal
      if (stdout.isTTY === true) status.clear();
      stdout.write(row);
    },
  };
  return startOffset(session, options).pipe(
    concatMap((cursor) =>
      concat(
        checkParties(session, options.parties),
        warnOfSynchronizers(session, options.synchronizers),
        defer(() => readSelected(session, stdout, Object.assign(progress, { cursor }), reader)),
      ),
    ),
    ignoreElements(),
  );
}

/**
 * Where to start. Waits for the ledger end in any case, so that a mistyped URL fails at once. An error of the ledger itself
 * is left to the feed, which may work without the ledger end.
 */
const startOffset = (session: Session, options: TailOptions): Observable<number> => {
  const { from, start, to = Infinity } = options;
  return firstAnswer(session).pipe(
    concatMap((end) => {
      if (start !== undefined) return findStart(session, options, start, Math.min(to, end));
      if (from !== 'end') {
        if (end < from) throw new Error(`the ledger ends at offset ${end}, before --from ${from}`);
        return of(from);
      }
      if (end > to) throw new Error(`the ledger already ends at ${end}, after --to ${to}`);
      return of(end);
    }),
    catchError((error: unknown) =>
      from !== 'end' && start === undefined && isLedgerError(error, 'ApiError') ? of(from) : throwError(() => error),
    ),
  );
};

/** The format of updates: rows for people, or JSON for programs. */
const rowFormat = ({ isPretty }: TailOptions, { stdout, env }: World): ((update: Update) => string) =>
  isPretty ? prettyRows(() => columnsOf(stdout, 120), paintFor(stdout, env)) : toJsonLine;

/**
 * Formats the status line: `12 345 / 67 890  ·  1 200/s  ·  catching up`.
 *
 * @param to - the end of the range, if it has one
 *
 * @internal
 */
export function formatTailProgress(
  samples: Samples<TailProgress>,
  pace: Pace,
  to: number | undefined,
  paint: Paint,
): string {
  const { cursor, end } = samples.at(-1) ?? samples[0];
  const rate = rateOf(samples, ({ count }) => count);
  const target = end === undefined ? undefined : Math.max(cursor ?? 0, Math.min(end, to ?? end));
  const state = troubleText(pace.trouble, paint) || stateText(pace, rate, cursor, paint);
  return joinParts(`${groupDigits(cursor)} / ${groupDigits(target)}`, rateText(rate, paint), state);
}

function stateText(
  { hasCaughtUp, isPushed }: Pace,
  rate: number | undefined,
  cursor: number | undefined,
  paint: Paint,
): string {
  if (cursor === undefined) return paint('dim', 'connecting');
  if (hasCaughtUp) return paint('green', isPushed === true ? 'caught up, by WebSocket' : 'caught up');
  // no update up to the end matches, or the ledger is slow
  return rate === 0 ? paint('dim', 'waiting') : paint('yellow', 'catching up');
}

const pollIntervalMs = 2_000;

/**
 * Keeps the ledger end in the progress up to date while subscribed.
 *
 * @internal
 */
export const trackLedgerEnd = (ledger: Pick<Ledger, 'ledgerEnd'>, progress: TailProgress): Observable<never> =>
  timer(0, pollIntervalMs).pipe(
    exhaustMap(() => ledger.ledgerEnd().pipe(catchError(() => of(undefined)))),
    tap((end) => {
      progress.end = end;
    }),
    ignoreElements(),
  );
