import type { Pool, PoolClient } from 'pg';
import {
  concat,
  concatMap,
  defer,
  ignoreElements,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  switchMap,
  take,
  tap,
} from 'rxjs';
import type { ContractQuery } from '../../contracts/ContractQuery.js';
import type { ContractsReconciled, ContractsUpdated } from '../../contracts/ContractChange.js';
import type { Report } from '../../diagnostics/Diagnostic.js';
import { mapError } from '../../http/retry.js';
import type { StoreOperation } from '../../errors/process.js';
import type { ContractsWork, ResetBatch } from '../../process/ContractsWork.js';
import { connect } from '../connection.js';
import { asStoreError } from '../databaseErrors.js';
import { checkRights } from '../storeTables.js';
import { type Retain, retainFor } from './history.js';
import { assertVersion, defaultSchema, migrate, readVersion } from './migrateProjection.js';
import { projectionSchema, tablesOf } from './tables.js';
import { nameTemplates, registerTemplates, type Writing } from './templates.js';
import { writeChanges } from './writeChanges.js';
import { writeReconciled } from './writeReconciled.js';
import { writeReset } from './writeReset.js';

/**
 * Options of {@link contractsProjection}.
 *
 * @category Projection
 */
export interface ContractsProjectionOptions {
  /**
   * The database, which must be that of the processor's store. The first batch needs a connection of the pool in
   * addition to that of the processor, so the pool must allow at least two.
   */
  readonly pool: Pool;
  /** The query of the feed. Its types give contracts their `type_name`. */
  readonly query: ContractQuery;
  /**
   * The schema of the projection: lower-case letters, digits and underscores. A schema can have one projection, written
   * by one processor.
   *
   * @defaultValue 'contracts'
   */
  readonly schema?: string | undefined;
  /**
   * Whether to create the tables and functions if they are missing. For migrations, {@link projectionSql} returns the
   * SQL.
   *
   * @defaultValue true
   */
  readonly createTables?: boolean | undefined;
  /**
   * The reaction if the ledger was restored or replaced, so that the rows are those of another ledger. `'reload'` loads all
   * contracts and then removes the earlier rows; a `RowsReplaced` diagnostic has their number, and `logTo` logs it as an
   * error. `'fail'` ends the processor with a `CursorError` and removes nothing, also when it is started again, until
   * the option is `'reload'`.
   *
   * @defaultValue 'reload'
   */
  readonly onReplaced?: 'reload' | 'fail' | undefined;
  /**
   * The reaction to contracts that the query no longer selects, because a party or a type was taken away. `'end'` ends their
   * rows at the offset of the change. `'keep'` leaves them active as they were there, without following them: they may have
   * been archived since. Both have the `end_reason` `'selectionChanged'`, until the query selects the contract again.
   *
   * @defaultValue 'end'
   */
  readonly onDeselected?: 'end' | 'keep' | undefined;
  /**
   * The time for which archived contracts, exercises and updates are kept, in milliseconds of record time.
   *
   * @defaultValue Infinity
   */
  readonly keepArchivedMs?: number | undefined;
}

/**
 * A handler for `processFeed`, for single elements or batches of a `contractsFeed`.
 *
 * @category Projection
 */
export interface ProjectionHandler {
  (work: ContractsWork | readonly ContractsWork[], tx: PoolClient, report?: Report): Observable<unknown>;
  /** Creates the tables, or checks their version and the rights on them. `processFeed` calls it, also for a standby. */
  readonly prepare: () => Observable<unknown>;
}

/** The time limit for the pool to give a connection and for the database to report its version, in milliseconds. */
const timeoutMs = 30_000;

/**
 * Keeps the contracts of a ledger in tables of PostgreSQL, to be read with SQL. Returns a handler for `processFeed`
 * with a `contractsFeed` and a `postgresStore`.
 *
 * @throws TypeError for an invalid option, and for a pool of one connection
 * @example
 * ```ts
 * import type { Ledger } from 'canton-rx';
 * import { contractsProjection, postgresStore } from 'canton-rx/postgres';
 * import { contractsFeed, processFeed } from 'canton-rx/process';
 * import type { Pool } from 'pg';
 *
 * export const project = (ledger: Ledger, pool: Pool) => {
 *   const query = { parties: 'any' } as const;
 *   return processFeed(contractsFeed(ledger, query), contractsProjection({ pool, query }), {
 *     name: 'contracts',
 *     store: postgresStore({ pool }),
 *   });
 * };
 * ```
 *
 * @category Projection
 */
export function contractsProjection(options: ContractsProjectionOptions): ProjectionHandler {
  const { pool, query, schema = defaultSchema, createTables = true, onReplaced = 'reload' } = options;
  const { onDeselected = 'end', keepArchivedMs = Infinity } = options;
  const names = projectionSchema(schema);
  const nameTemplate = nameTemplates(query.types);
  const retain = retainFor(keepArchivedMs);
  // JavaScript callers may pass anything
  if (!['reload', 'fail'].includes(onReplaced)) throw new TypeError("onReplaced must be 'reload' or 'fail'");
  if (!['end', 'keep'].includes(onDeselected)) throw new TypeError("onDeselected must be 'end' or 'keep'");
  if (pool.options.max < 2)
    throw new TypeError(
      'pool must allow at least 2 connections: the processor holds one, and the projection needs another',
    );
  const state = { isPrepared: false, isReady: false, hasWorked: false };
  const prepare = (db: PoolClient): Observable<unknown> =>
    readVersion(db, names, timeoutMs).pipe(
      concatMap((version) => {
        if (version === 0 && createTables) return migrate(db, names);
        assertVersion(version);
        return of(version);
      }),
      concatMap(() => checkRights(db, timeoutMs, tablesOf(names))),
      tap(() => {
        state.isPrepared = true;
      }),
    );
  const register = (db: PoolClient): Observable<unknown> =>
    (state.isPrepared ? of(true) : prepare(db)).pipe(
      concatMap(() => registerTemplates(db, names, nameTemplate, query.types)),
      tap(() => {
        state.isReady = true;
      }),
    );
  // not in the transaction, which may be rolled back
  const inPool = <A>(work: (client: PoolClient) => Observable<A>): Observable<A> =>
    connect(pool, timeoutMs).pipe(
      switchMap(({ client }) => work(client)),
      take(1),
    );
  const failing = <A>(operation: StoreOperation): MonoTypeOperatorFunction<A> =>
    mapError((error) => asStoreError(operation, `projection in ${schema}`, schema, error, state.hasWorked));
  const handler = (
    work: ContractsWork | readonly ContractsWork[],
    tx: PoolClient,
    report: Report = () => undefined,
  ): Observable<unknown> => {
    const writing: Writing = { tx, names, nameTemplate, onReplaced, onDeselected, report };
    const ready$ = defer(() => (state.isReady ? of(true) : inPool(register)));
    return concat(
      ready$.pipe(ignoreElements()),
      ...partsOf(Array.isArray(work) ? (work as readonly ContractsWork[]) : [work as ContractsWork]).map((part) =>
        defer(() => writePart(writing, part, retain)),
      ),
    ).pipe(
      ignoreElements(),
      failing('save'),
      tap({
        complete: () => {
          state.hasWorked = true;
        },
      }),
    );
  };
  const prepared$ = defer(() => {
    // a processor prepares each time that it waits for its name: one of other types may have it meanwhile
    state.isReady = false;
    return inPool(prepare);
  });
  return Object.assign(handler, { prepare: () => prepared$.pipe(failing('prepare')) });
}

/** Changes of updates that are written together. */
interface Changes {
  readonly _tag: 'Changes';
  readonly changes: ContractsUpdated[];
}

const writePart = (
  writing: Writing,
  part: ResetBatch | ContractsReconciled | Changes,
  retain: Retain,
): Observable<unknown> => {
  switch (part._tag) {
    case 'ResetBatch':
      return writeReset(writing, part);
    case 'ContractsChanged':
      return writeReconciled(writing, part);
    case 'Changes':
      return writeChanges(writing, part.changes, retain);
  }
};

/**
 * Consecutive changes of updates are written together while their offsets grow, as they do until the feed continues at
 * another participant; any other change, and a batch of a reset, by itself.
 */
function partsOf(works: readonly ContractsWork[]): readonly (ResetBatch | ContractsReconciled | Changes)[] {
  const parts: (ResetBatch | ContractsReconciled | Changes)[] = [];
  for (const work of works) {
    const last = parts.at(-1);
    if (work._tag === 'ResetBatch' || work.reason !== undefined) parts.push(work);
    else if (last?._tag === 'Changes' && (last.changes.at(-1)?.offset ?? 0) < work.offset) last.changes.push(work);
    else parts.push({ _tag: 'Changes', changes: [work] });
  }
  return parts;
}
