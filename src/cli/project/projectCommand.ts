import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  scan,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isApiError } from '../../errors/ApiError.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { type CursorError, isCursorError, isHandlerError, isStoreError } from '../../errors/process.js';
import { createLedger } from '../../ledger/createLedger.js';
import { explain } from '../check/explain.js';
import { findings, type Trouble } from '../check/Finding.js';
import { formatFindings } from '../check/report.js';
import { templatesOf } from '../contracts/ContractsOptions.js';
import { firstAnswer, ledgerMessage } from '../firstAnswer.js';
import { checkParties, checkTemplates, templateMessage, UnknownPartyError } from '../unknownNames.js';
import { type Sample, showProgress } from '../progress.js';
import { columnsOf, paintFor, statusLine } from '../terminal.js';
import { errorLine, interruptions, type World } from '../World.js';
import { DatabaseError, prepareDatabase, withPool } from './database.js';
import { troubleOfDatabase } from './databaseTrouble.js';
import { formatProjectProgress, metricsLine, type ProjectProgress, startProgress } from './progress.js';
import { type ProjectOptions, readProjectOptions } from './ProjectOptions.js';
import { runProjection } from './runProjection.js';

/** `canton-rx project`; emits the exit code, once. */
export const projectCommand = (args: readonly string[], world: World): Observable<number> =>
  project(readProjectOptions(args, world.env), world);

/** How a projection ended: by a signal, or by an error. */
type Ended = { readonly kind: 'stopped' } | { readonly kind: 'failed'; readonly error: unknown };

/** The rate is that of the last two seconds. */
const sampleCount = 9;

/** Runs a projection until a signal arrives or it fails; then emits the exit code, once. */
const project = (options: ProjectOptions, world: World): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, database, isPasswordVisible } = options;
    const { stderr, signals, env } = world;
    const paint = paintFor(stderr, env);
    const status = statusLine(stderr, paint);
    const ledger = createLedger({ baseUrl, ...(token !== undefined && { token }) });
    const progress = startProgress();
    const controller = new AbortController();
    const { signal } = controller;
    const say = (line: string): void => {
      status.clear();
      stderr.write(`${line}\n`);
    };
    if (isPasswordVisible)
      say(
        `${paint('yellow', '!')} other users of this machine can see a password in --database: use CANTON_RX_DATABASE_URL`,
      );
    const stopped$ = fromEvent(signal, 'abort');
    const projected$ = withPool(database, (pool) =>
      concat(
        // the connections of a preparation need no clean end: it is one transaction
        concat(
          prepareDatabase(pool, options),
          firstAnswer(ledger, options, stderr, status).pipe(ignoreElements()),
          checkParties(ledger, options, options.query.parties),
          // a mistyped template must not become the selection of the schema
          checkTemplates(ledger, options.query.parties, templatesOf(options.query)),
        ).pipe(
          catchError((error: unknown) => (isMissing(error) ? EMPTY : throwError(() => error))),
          takeUntil(stopped$),
        ),
        defer(() => (signal.aborted ? EMPTY : runProjection(ledger, pool, options, { progress, signal, say }))),
      ),
    );
    const ended$ = projected$.pipe(
      ignoreElements(),
      endWith<Ended>({ kind: 'stopped' }),
      catchError((error: unknown) => of<Ended>({ kind: 'failed', error })),
    );
    const abort$ = interruptions(signals).pipe(
      take(1),
      tap(() => {
        controller.abort();
      }),
    );
    const shown$ = status.isVisible
      ? showProgress(ledger, status, {
          read: () => ({ ...progress }),
          sampleCount,
          delayMs: 250,
          format: formatProjectProgress,
        })
      : logMetrics(progress, options.logEveryMs, say);
    return merge(ended$, merge(abort$, shown$).pipe(ignoreElements())).pipe(
      take(1),
      concatMap((ended) => {
        status.clear();
        return reportEnd(ended, progress, options, world);
      }),
    );
  });

/** A service may not serve its ledger end. */
const isMissing = (error: unknown): boolean => isApiError(error) && error.status === 404 && error.code === undefined;

/** Prints a line of metrics every so often. */
const logMetrics = (progress: ProjectProgress, everyMs: number, say: (line: string) => void): Observable<unknown> =>
  everyMs === 0
    ? EMPTY
    : timer(everyMs, everyMs).pipe(
        map((): Sample<ProjectProgress> => ({ ...progress, at: Date.now() })),
        scan((before: Sample<ProjectProgress> | undefined, now: Sample<ProjectProgress>) => {
          say(metricsLine(before, now));
          return now;
        }, undefined),
      );

/** The exit code for a database that cannot be used. */
const databaseCode = 6;

/** Reports the end on stderr and emits the exit code. */
function reportEnd(
  ended: Ended,
  { status }: ProjectProgress,
  options: ProjectOptions,
  world: World,
): Observable<number> {
  const { stderr, env } = world;
  const resume = (status?.offset ?? 0) === 0 ? '' : `the same command continues after offset ${status?.offset ?? 0}\n`;
  if (ended.kind === 'stopped') {
    stderr.write(`stopped\n${resume}`);
    return of(0);
  }
  const { error } = ended;
  const { label, trouble } =
    error instanceof DatabaseError ? error : { label: 'database', trouble: troubleOf(error, options) };
  if (trouble !== undefined) {
    const finding = findings('database', label).failed(trouble);
    stderr.write(`${formatFindings([finding], columnsOf(stderr, 100), paintFor(stderr, env)).join('\n')}\n${resume}`);
    return of(databaseCode);
  }
  const named = error instanceof UnknownPartyError ? error.message : templateMessage(error, templatesOf(options.query));
  stderr.write(errorLine(named ?? ledgerMessage(error, options)));
  if (named !== undefined) return of(1);
  stderr.write(resume);
  return explain(error, { ...options, parties: options.query.parties }, world);
}

/** What is wrong with the database; `undefined` for an error of the ledger, which may have the same codes. */
function troubleOf(error: unknown, { schema }: ProjectOptions): Trouble | undefined {
  if (isCursorError(error)) return cursorTrouble(error, schema);
  const isOfDatabase =
    (!isLedgerError(error) && !(error instanceof UnknownPartyError)) || isStoreError(error) || isHandlerError(error);
  return isOfDatabase ? troubleOfDatabase(error, schema) : undefined;
}

/** What to do about a saved offset that does not belong to this ledger and these contracts. */
function cursorTrouble({ reason }: CursorError, schema: string): Trouble {
  const texts = {
    selection: `the schema ${schema} has other contracts: it was written with other --party, --template or --exercises`,
    participant: `the schema ${schema} has the contracts of another participant`,
    ledger: `the schema ${schema} has updates that the ledger no longer has: it was restored from a backup`,
    conflict: `another process writes the schema ${schema}`,
    unreadable: `the offset in the schema ${schema} cannot be read: a later version of canton-rx may have written it`,
  } as const;
  return {
    kind: 'other',
    text: texts[reason],
    next: `choose another schema with --schema, or begin again after DROP SCHEMA ${schema} CASCADE`,
  };
}
