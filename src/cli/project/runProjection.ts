import {
  catchError,
  connect,
  EMPTY,
  endWith,
  filter,
  ignoreElements,
  merge,
  type Observable,
  of,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import { type Diagnostic, isLedgerError, type LedgerError } from '../../index.js';
import { contractsProjection, postgresStore, type ProjectionHandler } from '../../postgres/index.js';
import { type Committed, contractsFeed, type ContractsWork, processFeed } from '../../process/index.js';
import { addressOf } from '../Connection.js';
import { databaseErrorOf, holderOf, type Pool, processorName } from '../database.js';
import { type ProjectProgress, shortReason } from '../progress.js';
import { type Names, queryOf } from '../Selection.js';
import type { Session } from '../Session.js';
import { escapeText } from '../terminal.js';
import { errorLine } from '../World.js';

/** Which contracts a schema has. */
interface Projection extends Names {
  readonly schema: string;
  readonly includeExercises: boolean;
  /** How long archived contracts are kept, in milliseconds. */
  readonly keepArchivedMs: number;
  /** What to do if the ledger was restored or replaced. */
  readonly onReplaced: 'reload' | 'fail';
  /** What to do if the schema has other parties or templates: stop, or follow and end or keep what is no longer selected. */
  readonly onSelectionChange: 'fail' | 'end' | 'keep';
}

/** What a projection reports to, and how it is stopped. */
interface Run {
  readonly progress: ProjectProgress;
  /** Stops the projection after the current commit. */
  readonly signal: AbortSignal;
  /** Prints a line for people and logs. */
  readonly say: (line: string) => void;
}

/** How changes are grouped into transactions. */
const batch = { size: 200, withinMs: 10 };

/** How many contracts of a snapshot are written together: 200 times as many are a transaction. */
const batchSize = 50;

/** Runs the projection until it is stopped, and keeps its progress; completes then. */
export function runProjection(session: Session, pool: Pool, projection: Projection, run: Run): Observable<never> {
  const { ledger, connection } = session;
  const { schema, includeExercises, keepArchivedMs, onReplaced, onSelectionChange } = projection;
  const { progress, signal } = run;
  const query = { ...queryOf(projection), includeExercises };
  const follows = onSelectionChange !== 'fail';
  const onDeselected = follows ? onSelectionChange : undefined;
  const project = contractsProjection({ pool, schema, query, keepArchivedMs, onReplaced, onDeselected });
  // a schema may be that of another command
  const feed = contractsFeed(ledger, query, { batchSize, onSelectionChange: follows ? 'reconcile' : 'fail' });
  const write = (works: readonly ContractsWork[], ...[tx, report]: ProjectionArguments): Observable<unknown> =>
    project(works, tx, report).pipe(
      tap({
        complete: () => {
          for (const work of works) countWork(progress, work);
        },
      }),
    );
  const handler = Object.assign(write, { prepare: project.prepare });
  const store = postgresStore({ pool, schema });
  const processor = processFeed(feed, handler, { name: processorName, store, batch, signal });
  return processor.pipe(
    connect((shared$) => {
      const ended$ = shared$.pipe(ignoreElements(), endWith(true));
      // a standby emits where it waits
      const written$ = shared$.pipe(filter(({ role }) => role === undefined));
      return merge(
        processor.status$.pipe(
          tap((status) => {
            progress.status = status;
          }),
          takeUntil(ended$),
        ),
        written$.pipe(
          tap((committed) => {
            sayCommit(committed, schema, run);
          }),
        ),
        ledger.diagnostics$.pipe(
          tap((diagnostic) => {
            sayDiagnostic(diagnostic, schema, addressOf(connection), run);
          }),
          takeUntil(ended$),
        ),
        shared$.pipe(switchMap(({ role }) => (role === 'standby' ? sayHolder(pool, schema, run) : EMPTY))),
      );
    }),
    ignoreElements(),
  );
}

type ProjectionArguments = Parameters<ProjectionHandler> extends [unknown, ...infer Rest] ? Rest : never;

function countWork(progress: ProjectProgress, work: ContractsWork): void {
  if (work._tag !== 'ResetBatch') return;
  if (work.isFirst) progress.loaded = 0;
  progress.loaded += work.contracts.length;
  progress.isLoading = !work.isLast;
}

/** Prints where the projection begins, and when it has caught up for the first time, and again after a reload. */
function sayCommit({ offset, isCaughtUp }: Committed, schema: string, { progress, say }: Run): void {
  progress.offset = offset;
  if (progress.databaseTrouble !== undefined) say(notice('the database works again'));
  progress.databaseTrouble = undefined;
  if (progress.stage === 'starting') {
    progress.stage = 'running';
    say(
      offset === 0
        ? `loading all contracts into the schema ${schema}`
        : `the schema ${schema} has the contracts at offset ${offset}; resuming from there`,
    );
  }
  if (!isCaughtUp || progress.stage === 'caughtUp') return;
  progress.stage = 'caughtUp';
  say(`caught up at offset ${offset}; read it with: SELECT * FROM "${schema}".summary_active()`);
}

/** Keeps the progress that diagnostics show, and prints what users need to know. */
function sayDiagnostic(diagnostic: Diagnostic, schema: string, address: string, { progress, say }: Run): void {
  const retry = (of: 'ledgerTrouble' | 'databaseTrouble', reason: string): void => {
    // once, not at every attempt
    if (progress[of] !== reason) say(notice(`retrying: ${reason}`));
    progress[of] = reason;
  };
  const respond = (): void => {
    if (progress.ledgerTrouble !== undefined) say(notice(`${address} responds again`));
    progress.ledgerTrouble = undefined;
  };
  switch (diagnostic._tag) {
    case 'SnapshotStarted':
      Object.assign(progress, { received: 0, loaded: 0, isLoading: true });
      break;
    case 'SnapshotPageReceived':
      progress.received = diagnostic.total;
      respond();
      break;
    case 'SnapshotCompleted':
      // after a restart the contracts are only read, not written
      progress.isLoading = (progress.offset ?? 0) === 0;
      break;
    case 'PageReceived':
      respond();
      break;
    case 'GapFound':
      progress.stage = 'running';
      say(notice(`${gapText(diagnostic.cause)}; loading all contracts again`));
      break;
    case 'RetryScheduled': {
      const { cause } = diagnostic;
      if (isLedgerError(cause, 'StoreError')) retry('databaseTrouble', databaseText(cause, schema, cause.reason));
      else retry('ledgerTrouble', `the ledger at ${address} fails (${shortReason(cause)})`);
      break;
    }
    case 'HandlerFailed':
      retry('databaseTrouble', databaseText(diagnostic.cause, schema, 'a statement failed'));
      break;
    case 'RowsReplaced': {
      const { contracts, exercises, updates } = diagnostic;
      say(
        notice(
          `${contracts} contracts, ${exercises} exercises and ${updates} updates are removed from the schema ${schema}`,
        ),
      );
      break;
    }
    case 'NameLost':
      say(notice('another process writes the schema now'));
      break;
    default:
  }
}

const databaseText = (cause: unknown, schema: string, reason: string): string =>
  `the database fails (${escapeText(databaseErrorOf(cause, schema)?.message ?? reason)})`;

const notice = (message: string): string => errorLine(escapeText(message)).trimEnd();

/** Why the changes cannot continue without a gap. */
function gapText(cause: LedgerError): string {
  if (isLedgerError(cause, 'PrunedError')) return 'the ledger is pruned beyond the offset of the schema';
  if (!isLedgerError(cause, 'LedgerResetError')) return cause.message;
  return cause.difference === undefined
    ? `the ledger was reset: it ends before offset ${cause.cursor} of the schema`
    : `another ledger has taken the place of the first: ${cause.difference}`;
}

/** Prints which process writes the schema, if another one does: this one waits until it ends. */
const sayHolder = (pool: Pool, schema: string, { say }: Run): Observable<unknown> =>
  holderOf(pool, schema).pipe(
    // the projection reports what fails
    catchError(() => of(undefined)),
    tap((holder) => {
      if (holder !== undefined)
        say(
          notice(`waiting: another process writes the schema ${schema} (${holder}); this one continues when it ends`),
        );
    }),
  );
