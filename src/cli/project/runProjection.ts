import {
  catchError,
  connect,
  endWith,
  ignoreElements,
  merge,
  type Observable,
  of,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Diagnostic } from '../../diagnostics/Diagnostic.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { contractsProjection, postgresStore } from '../../postgres/index.js';
import { type Committed, contractsFeed, type ContractsWork, processFeed, toStatus } from '../../process/index.js';
import { isLedgerResetError, isPrunedError } from '../../errors/feed.js';
import type { LedgerError } from '../../errors/LedgerError.js';
import { isStoreError } from '../../errors/process.js';
import { addressOf } from '../Connection.js';
import { shortReason } from '../progress.js';
import { errorLine } from '../World.js';
import { holderOf, type Pool, processorName } from './database.js';
import { troubleOfDatabase } from './databaseTrouble.js';
import type { ProjectOptions } from './ProjectOptions.js';
import type { ProjectProgress } from './progress.js';

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
export function runProjection(ledger: Ledger, pool: Pool, options: ProjectOptions, run: Run): Observable<never> {
  const { query, schema, keepArchivedMs } = options;
  const { progress, signal } = run;
  const project = contractsProjection({ pool, schema, query, keepArchivedMs });
  const feed = contractsFeed(ledger, query, { batchSize });
  const handler = (works: readonly ContractsWork[], tx: Parameters<typeof project>[1]): Observable<unknown> =>
    project(works, tx).pipe(
      tap({
        complete: () => {
          works.forEach((work) => {
            countWork(progress, work);
          });
        },
      }),
    );
  const store = postgresStore({ pool, schema });
  const committed$ = processFeed(feed, handler, { name: processorName, store, batch, signal });
  return committed$.pipe(
    connect((shared$) => {
      const ended$ = shared$.pipe(ignoreElements(), endWith(true));
      return merge(
        shared$.pipe(
          toStatus(feed.end$),
          tap((status) => {
            progress.status = status;
          }),
        ),
        shared$.pipe(
          tap((committed) => {
            sayCommit(committed, options, run);
          }),
        ),
        ledger.diagnostics$.pipe(
          tap((diagnostic) => {
            sayDiagnostic(diagnostic, options, run);
          }),
          takeUntil(ended$),
        ),
        sayHolder(pool, options, run).pipe(takeUntil(merge(shared$, ended$))),
      );
    }),
    ignoreElements(),
  );
}

function countWork(progress: ProjectProgress, work: ContractsWork): void {
  if (work._tag !== 'ResetBatch') return;
  if (work.isFirst) progress.loaded = 0;
  progress.loaded += work.contracts.length;
  progress.isLoading = !work.isLast;
}

/** Prints where the projection begins, and when it has caught up for the first time, and again after a reload. */
function sayCommit({ offset, isCaughtUp }: Committed, { schema }: ProjectOptions, { progress, say }: Run): void {
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
  say(`caught up at offset ${offset}; read it with: SELECT * FROM ${schema}.summary_active()`);
}

/** Keeps the progress that diagnostics show, and prints what users need to know. */
function sayDiagnostic(diagnostic: Diagnostic, options: ProjectOptions, { progress, say }: Run): void {
  const { schema } = options;
  const retry = (of: 'ledgerTrouble' | 'databaseTrouble', reason: string): void => {
    // once, not at every attempt
    if (progress[of] !== reason) say(notice(`retrying: ${reason}`));
    progress[of] = reason;
  };
  const respond = (): void => {
    if (progress.ledgerTrouble !== undefined) say(notice(`${addressOf(options)} responds again`));
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
      progress.isLoading = (progress.status?.offset ?? 0) === 0;
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
      if (isStoreError(cause))
        retry('databaseTrouble', `the database fails (${troubleOfDatabase(cause, schema)?.text ?? cause.reason})`);
      else retry('ledgerTrouble', `the ledger at ${addressOf(options)} fails (${shortReason(cause)})`);
      break;
    }
    case 'HandlerFailed': {
      const { text = 'a statement failed' } = troubleOfDatabase(diagnostic.cause, schema) ?? {};
      retry('databaseTrouble', `the database fails (${text})`);
      break;
    }
    case 'NameLost':
      say(notice('another process writes the schema now'));
      break;
    default:
  }
}

const notice = (message: string): string => errorLine(message).trimEnd();

/** Why the changes cannot continue without a gap. */
function gapText(cause: LedgerError): string {
  if (isPrunedError(cause)) return 'the ledger is pruned beyond the offset of the schema';
  if (!isLedgerResetError(cause)) return cause.message;
  return `the ledger was reset: it ends before offset ${cause.cursor} of the schema`;
}

/** How long nothing is committed before the reason is printed, in milliseconds. */
const silenceMs = 2_000;

/** Prints which process writes the schema, if another one does: this one waits until it ends. */
const sayHolder = (pool: Pool, { schema }: ProjectOptions, { say }: Run): Observable<unknown> =>
  timer(silenceMs).pipe(
    switchMap(() => holderOf(pool, schema)),
    // the projection reports what fails
    catchError(() => of(undefined)),
    tap((holder) => {
      if (holder !== undefined)
        say(
          notice(`waiting: another process writes the schema ${schema} (${holder}); this one continues when it ends`),
        );
    }),
  );
