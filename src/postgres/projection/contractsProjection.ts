import type { Pool, PoolClient, ClientBase } from 'pg';
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
  map,
  timeout,
} from 'rxjs';
import type { ContractQuery } from '../../contracts/ContractQuery.js';
import type { ContractsReconciled, ContractsUpdated } from '../../contracts/ContractChange.js';
import type { Report } from '../../diagnostics/Diagnostic.js';
import { checkPositive, clampTimer, mapError } from '../../http/retry.js';
import type { StoreOperation } from '../../errors/process.js';
import type { ContractsWork, ResetBatch } from '../../process/contractsFeed.js';
import { connect, query, sendTo } from '../connection.js';
import { asStoreError, DatabaseError } from '../databaseErrors.js';
import { checkRights } from '../postgresStore.js';
import { type Retain, retainFor, retentionFunctions } from './history.js';
import { offsetFunctions } from './offsets.js';
import { epochFunctions } from './epochs.js';
import { projectionSchema, tablesOf, createTables, currentVersion, type ProjectionSchema } from './tables.js';
import { nameTemplates, registerTemplates, type Writing, templateFunctions } from './templates.js';
import { writeChanges, changesFunction } from './writeChanges.js';
import { writeReconciled } from './writeReconciled.js';
import { writeReset } from './writeReset.js';
import { loadFunction } from './loadContracts.js';
import { readFunctions } from './readFunctions.js';
import { redactFunctions } from './redact.js';
import { resetFunctions } from './resetTo.js';

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
  return Object.assign(handler, { prepare: () => inPool(prepare).pipe(failing('prepare')) });
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

/** The default schema of a projection. */
const defaultSchema = 'contracts';

/**
 * Options of {@link migrateProjection}.
 *
 * @category Projection
 */
export interface MigrateProjectionOptions {
  /** The database. The user needs the right to create the schema, or to create tables and functions in it. */
  readonly pool: Pool;
  /**
   * The schema of the projection: lower-case letters, digits and underscores.
   *
   * @defaultValue 'contracts'
   */
  readonly schema?: string | undefined;
  /**
   * The time limit of the database, in milliseconds.
   *
   * @defaultValue 600000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * The result of {@link migrateProjection}.
 *
 * @category Projection
 */
export interface MigratedProjection {
  /** The version of the tables. */
  readonly version: number;
}

/**
 * Creates the schema, tables and functions of a projection in one transaction. If the tables exist, it replaces the functions
 * alone, for which the user must own them; rows, owners and granted rights stay. {@link contractsProjection} creates missing tables
 * by itself, unless its `createTables` is `false`, but replaces no function.
 *
 * @throws TypeError if the schema name would have to be quoted. The Observable fails if the tables are of another
 * version
 * @example
 * ```ts
 * import { migrateProjection } from 'canton-rx/postgres';
 * import type { Pool } from 'pg';
 *
 * export const migrate = (pool: Pool) => migrateProjection({ pool });
 * ```
 *
 * @category Projection
 */
export function migrateProjection(options: MigrateProjectionOptions): Observable<MigratedProjection> {
  const { pool, schema = defaultSchema, timeoutMs } = options;
  checkPositive({ timeoutMs: timeoutMs ?? 1 });
  return migrate(pool, projectionSchema(schema), timeoutMs).pipe(map((version) => ({ version })));
}

/** The time limit of a migration, in milliseconds, unless an option says otherwise. */
const migrationTimeoutMs = 600_000;

/** Creates a projection, or replaces its functions, over one connection or any of a pool, and emits the version. */
const migrate = (db: ClientBase | Pool, names: ProjectionSchema, timeoutMs = migrationTimeoutMs): Observable<number> =>
  readVersion(db, names, timeoutMs).pipe(
    concatMap((version) => {
      if (version > 0) assertVersion(version);
      // several statements in one request are one transaction, which must see what another migration did before this
      // one got the lock
      const sql = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED;${projectionSql(names.name)}`;
      return sendTo(db, (client) => client.query(sql)).pipe(
        timeout(clampTimer(timeoutMs)),
        map(() => currentVersion),
      );
    }),
  );

/** Emits the version of the tables in the database; 0 if there are none. */
const readVersion = (db: ClientBase | Pool, names: ProjectionSchema, timeoutMs: number): Observable<number> =>
  query(db, timeoutMs, 'SELECT to_regclass($1) IS NOT NULL AS exist', [names.versions]).pipe(
    concatMap(([row]) =>
      row?.['exist'] === true
        ? query(db, timeoutMs, `SELECT coalesce(max(version), 0) AS version FROM ${names.versions}`, [])
        : of([]),
    ),
    map((rows) => Number(rows[0]?.['version'] ?? 0)),
  );

/** Throws if the tables have a different version. */
function assertVersion(version: number): void {
  if (version === currentVersion) return;
  if (version === 0)
    throw new DatabaseError('the tables of the projection are missing', 'create them with projectionSql()');
  throw new DatabaseError(
    `the tables of the projection are of version ${version}, but this release knows version ${currentVersion}`,
    'run the release that wrote them, or a later one',
  );
}

/**
 * Returns the SQL with which {@link migrateProjection} creates a projection, for schemas that are managed
 * by migrations. Run it as one transaction. It creates the tables if they are missing, and replaces the functions. It
 * raises an error if the tables are of another version.
 *
 * @param schema - the schema of the projection; default: `'contracts'`
 * @throws TypeError if the schema name would have to be quoted
 * @example
 * ```ts
 * import { projectionSql } from 'canton-rx/postgres';
 *
 * console.log(projectionSql('ledger').includes('FUNCTION "ledger".active(')); // true
 * ```
 *
 * @category Projection
 */
export function projectionSql(schema = defaultSchema): string {
  const names = projectionSchema(schema);
  return `
SELECT pg_advisory_xact_lock(hashtextextended('canton_rx projection ${names.name}', 1));
DO $schema$ BEGIN
  -- if the schema exists, the user need not be allowed to create schemas
  IF to_regnamespace('${names.schema}') IS NULL THEN
    CREATE SCHEMA ${names.schema};
    COMMENT ON SCHEMA ${names.schema} IS 'Contracts of a Canton ledger, kept by canton-rx. Read them with the functions, not from the tables.';
  END IF;
END $schema$;
CREATE TABLE IF NOT EXISTS ${names.versions} (version int PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now());
DO $tables$ DECLARE
  found int := (SELECT max(version) FROM ${names.versions});
BEGIN
  IF found IS NULL THEN
    ${createTables(names)}
    INSERT INTO ${names.versions} (version) VALUES (${currentVersion});
  ELSIF found <> ${currentVersion} THEN
    RAISE EXCEPTION 'the tables of the projection are of version %, but this release knows version ${currentVersion}', found;
  END IF;
END $tables$;
${[
  epochFunctions,
  offsetFunctions,
  templateFunctions,
  readFunctions,
  redactFunctions,
  resetFunctions,
  retentionFunctions,
  changesFunction,
  loadFunction,
]
  .map((functions) => functions(names))
  .join('\n')}
`;
}
