import { defer, map, type Observable, of, tap } from 'rxjs';
import { isLedgerError, isTransient } from '../index.js';
import { runChecks } from './check/check.js';
import { exitCodeOf, formatFindings } from './check/Finding.js';
import { addressOf } from './Connection.js';
import { templateMessage, UnknownPartyError } from './participant.js';
import type { Names } from './Selection.js';
import type { Session } from './Session.js';
import { columnsOf, paintFor } from './terminal.js';
import { errorLine, messageOf, type Outcome, unwritableMessage } from './World.js';

/** What a command says at its end. */
interface EndTexts {
  /** Empty for nothing. */
  readonly done: string;
  readonly interrupted: string;
  /** The exit code after an interruption. */
  readonly interruptedCode: number;
}

/** What a command knows of its work when it fails. */
interface Attempt extends Names {
  /** What to do about updates that are gone; absent if the command continues without them. */
  readonly gap?: { readonly pruned: (earliest: number) => string; readonly reset: string };
  /** How to continue: a line, or nothing before the ledger has answered. */
  readonly resume: string;
}

/** Reports the end of a command on stderr and emits the exit code, once. */
export function reportEnd(outcome: Outcome, texts: EndTexts, attempt: Attempt, session: Session): Observable<number> {
  const { stderr } = session.world;
  session.status.clear();
  switch (outcome.kind) {
    case 'done':
      stderr.write(texts.done);
      return of(0);
    case 'closed':
      return of(0);
    case 'interrupted':
      stderr.write(texts.interrupted);
      return of(texts.interruptedCode);
    case 'unwritable':
      stderr.write(unwritableMessage(outcome.error));
      return of(1);
    case 'failed':
      return reportError(outcome.error, attempt, session);
  }
}

/** Reports why a command failed, and the next step; emits the exit code, once. */
export function reportError(error: unknown, attempt: Attempt, session: Session): Observable<number> {
  const { stderr } = session.world;
  const named = nameMessage(error, attempt);
  if (named !== undefined) {
    stderr.write(errorLine(named));
    return of(1);
  }
  const message = ledgerMessage(error, session);
  const advice = gapAdvice(error, attempt);
  if (advice !== undefined) {
    // the error has the next step of a program, which is not that of the command line
    stderr.write(`${errorLine(message.replaceAll(/\n(?:Next|Runbook): .*/g, ''))}→ ${advice}\n`);
    return of(1);
  }
  stderr.write(errorLine(message));
  return explain(error, attempt, session).pipe(tap(() => stderr.write(attempt.resume)));
}

/** The message about a name of the arguments that the participant does not know; `undefined` for any other error. */
export const nameMessage = (error: unknown, { templates }: Pick<Names, 'templates'>): string | undefined =>
  error instanceof UnknownPartyError ? error.message : templateMessage(error, templates);

/** The message of an error. Without a token the ledger refused none: it requires one. The checks have the hint. */
const ledgerMessage = (error: unknown, { connection }: Session): string =>
  isLedgerError(error, 'UnauthorizedError') && connection.token === undefined
    ? `${addressOf(connection)} requires a token: give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN`
    : messageOf(error).replace(/\nHint: .*/, '');

/** The next step for an error after which the same command fails again; `undefined` for any other error. */
function gapAdvice(error: unknown, { gap }: Attempt): string | undefined {
  if (gap === undefined) return undefined;
  if (isLedgerError(error, 'SnapshotLimitError'))
    return '--websocket has no limit; or choose fewer contracts with --template and --party';
  if (isLedgerError(error, 'LedgerResetError')) return gap.reset;
  if (!isLedgerError(error, 'PrunedError')) return undefined;
  const { earliestOffset } = error;
  return earliestOffset === undefined
    ? 'the pruned updates are gone'
    : `the pruned updates are gone: ${gap.pruned(earliestOffset)}`;
}

/**
 * Explains an error of a ledger as `check` does: runs the checks and writes those that fail to stderr, each with its next
 * step. Emits the exit code of `check`, once; 1 if no check fails, and at once for an error that has another cause.
 */
const explain = (error: unknown, { parties }: Names, { connection, world }: Session): Observable<number> =>
  defer(() => {
    if (!isOfConnection(error)) return of(1);
    return runChecks(connection, parties, world.env).pipe(
      map((findings) => {
        const failed = findings.filter(({ state }) => state === 'failed');
        const { stderr, env } = world;
        if (failed.length === 0) {
          stderr.write('→ the checks find nothing wrong now: run the command again\n');
          return 1;
        }
        const lines = formatFindings(failed, columnsOf(stderr, 100), paintFor(stderr, env));
        stderr.write(`\n${lines.join('\n')}\n`);
        return exitCodeOf(failed);
      }),
    );
  });

/** Whether an error may come from the address, the token or the state of a service, and not from the content of the request. */
function isOfConnection(error: unknown): boolean {
  if (isLedgerError(error, 'ApiError')) {
    // a participant that cannot decode a request calls that an internal error
    const isOfRequest = [400, 404].includes(error.status) || (error.status === 500 && !isTransient(error));
    return error.code === undefined || !isOfRequest;
  }
  return isLedgerError(
    error,
    'ConnectionError',
    'RequestTimeoutError',
    'UnauthorizedError',
    'TokenError',
    'ResponseTooLargeError',
    'DecodeError',
  );
}
