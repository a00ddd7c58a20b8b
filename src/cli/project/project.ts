import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  fromEvent,
  ignoreElements,
  merge,
  type Observable,
  of,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { type CursorError, isLedgerError } from '../../index.js';
import { parseOptions, readInteger, readOneOf } from '../arguments.js';
import { findings, formatFindings } from '../check/Finding.js';
import { ledgerCommands } from '../ledgerCommands.js';
import { readConnection } from '../Connection.js';
import { databaseCode, DatabaseError, databaseErrorOf, prepareDatabase, readDatabase, withPool } from '../database.js';
import { reportEnd } from '../failure.js';
import { checkParties, checkTemplates, UnknownPartyError } from '../participant.js';
import { formatProjectProgress, metricsLine, type ProjectProgress, type Sample, showProgress } from '../progress.js';
import { readNames } from '../Selection.js';
import { firstAnswer, openSession, type Session } from '../Session.js';
import { columnsOf, escapeText, paintFor } from '../terminal.js';
import { interruptions, type Outcome, outcomeOf, type World } from '../World.js';
import { runProjection } from './runProjection.js';
import { verifyCommand } from './verify.js';

/** `canton-rx project`; emits the exit code, once. */
export function projectCommand(args: readonly string[], world: World): Observable<number> {
  if (args[0] === 'verify') return verifyCommand(readProjectOptions(args.slice(1), world), world);
  const options = readProjectOptions(args, world);
  return openSession(options, world).pipe(concatMap((session) => project(options, session)));
}

/** The ledger, the contracts and the database. Times are in milliseconds. */
type ProjectOptions = ReturnType<typeof readProjectOptions>;

function readProjectOptions(args: readonly string[], world: World) {
  const values = parseOptions(args, ledgerCommands.project.options);
  const connection = readConnection(values, world);
  return {
    ...connection,
    ...readDatabase(values, world.env, 'contracts'),
    ...readNames(values, connection.contextParties),
    includeExercises: values.exercises ?? false,
    keepArchivedMs: readInteger('keep-archived', values['keep-archived'], Infinity, 36_500) * 86_400_000,
    onReplaced: readOneOf('on-replaced', values['on-replaced'] ?? 'reload', ['reload', 'fail']),
    onSelectionChange: readOneOf('on-selection-change', values['on-selection-change'] ?? 'fail', [
      'fail',
      'end',
      'keep',
    ]),
    logEveryMs: readInteger('log-every', values['log-every'], 30, 86_400) * 1_000,
  };
}

/** Runs a projection until a signal arrives or it fails; then emits the exit code, once. */
const project = (options: ProjectOptions, session: Session): Observable<number> =>
  defer(() => {
    const { ledger, status, world } = session;
    const { stderr, signals, env } = world;
    const progress: ProjectProgress = { stage: 'starting', received: 0, loaded: 0, isLoading: false };
    const controller = new AbortController();
    const { signal } = controller;
    const say = (line: string): void => {
      status.clear();
      stderr.write(`${line}\n`);
    };
    if (options.isPasswordVisible) say(`${paintFor(stderr, env)('yellow', '!')} ${passwordWarning}`);
    const projected$ = withPool(options.database, (pool) =>
      concat(
        // the connections of a preparation need no clean end: it is one transaction
        concat(
          prepareDatabase(pool, options.schema),
          firstAnswer(session).pipe(ignoreElements()),
          checkParties(session, options.parties),
          // a mistyped template must not become the selection of the schema
          checkTemplates(session, options),
        ).pipe(
          catchError((error: unknown) => (isMissing(error) ? EMPTY : throwError(() => error))),
          takeUntil(fromEvent(signal, 'abort')),
        ),
        defer(() => (signal.aborted ? EMPTY : runProjection(session, pool, options, { progress, signal, say }))),
      ),
    );
    const abort$ = interruptions(signals).pipe(
      take(1),
      tap(() => {
        controller.abort();
      }),
    );
    const shown$ = status.isVisible
      ? showProgress(ledger, status, { read: () => progress, format: formatProjectProgress })
      : logMetrics(progress, options.logEveryMs, say);
    return merge(outcomeOf(projected$), merge(abort$, shown$).pipe(ignoreElements())).pipe(
      take(1),
      concatMap((outcome) => finish(outcome, progress, options, session)),
    );
  });

const passwordWarning = 'other users of this machine can see a password in --database: use CANTON_RX_DATABASE_URL';

/** A service may not serve its ledger end. */
const isMissing = (error: unknown): boolean =>
  isLedgerError(error, 'ApiError') && error.status === 404 && error.code === undefined;

/** Prints a line of metrics every so often. */
function logMetrics(progress: ProjectProgress, everyMs: number, say: (line: string) => void): Observable<unknown> {
  let before: Sample<ProjectProgress> | undefined;
  const ticks$ = everyMs === 0 ? EMPTY : timer(everyMs, everyMs);
  return ticks$.pipe(
    tap(() => {
      const now = { ...progress, at: Date.now() };
      say(metricsLine(before, now));
      before = now;
    }),
  );
}

/** Reports the end on stderr and emits the exit code. */
function finish(
  outcome: Outcome,
  { status }: ProjectProgress,
  options: ProjectOptions,
  session: Session,
): Observable<number> {
  const { stderr, env } = session.world;
  const { offset = 0 } = status ?? {};
  const resume = offset === 0 ? '' : `the same command continues after offset ${offset}\n`;
  const problem = outcome.kind === 'failed' ? databaseProblem(outcome.error, options.schema) : undefined;
  if (problem === undefined) {
    const texts = { done: `stopped\n${resume}`, interrupted: '', interruptedCode: 0 };
    return reportEnd(outcome, texts, { ...options, resume }, session);
  }
  const { label, trouble } = problem;
  const finding = findings('database', label).failed({ kind: 'other', ...trouble, text: escapeText(trouble.text) });
  session.status.clear();
  stderr.write(`${formatFindings([finding], columnsOf(stderr, 100), paintFor(stderr, env)).join('\n')}\n${resume}`);
  return of(databaseCode);
}

/** What is wrong with the database; `undefined` for an error of the ledger. */
function databaseProblem(error: unknown, schema: string): DatabaseError | undefined {
  if (isLedgerError(error, 'CursorError')) return cursorProblem(error, schema);
  return error instanceof UnknownPartyError ? undefined : databaseErrorOf(error, schema);
}

/** What to do about a saved offset that does not belong to this ledger and these contracts. */
function cursorProblem({ reason }: CursorError, schema: string): DatabaseError {
  const texts = {
    selection: `the schema ${schema} has other contracts: it was written with other --party, --template or --exercises`,
    participant: `the schema ${schema} has the contracts of another participant`,
    ledger: `the schema ${schema} has updates that the ledger no longer has: it was restored from a backup, or is another one`,
    conflict: `another process writes the schema ${schema}`,
    unreadable: `the offset in the schema ${schema} cannot be read: a later version of canton-rx may have written it`,
  } as const;
  return new DatabaseError('database', {
    text: texts[reason],
    next: `${reason === 'selection' ? 'let the schema follow with --on-selection-change end, ' : ''}choose another schema with --schema, or begin again after DROP SCHEMA "${schema}" CASCADE`,
  });
}
