import type { Pool, PoolClient } from 'pg';
import { concat, concatMap, defer, ignoreElements, type Observable, of, tap } from 'rxjs';
import type { ContractQuery } from '../../contracts/ContractQuery.js';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import type { ContractsWork, ResetBatch } from '../../process/ContractsWork.js';
import { assertVersion, defaultSchema, migrateProjection, readVersion } from './migrateProjection.js';
import { retainFor } from './history.js';
import { projectionSchema } from './projectionSchema.js';
import { readTemplates, type Writing, writeTemplates } from './statements.js';
import { listTemplates, nameTemplates } from './TemplateList.js';
import { writeChanges } from './writeChanges.js';
import { writeReset } from './writeReset.js';

/**
 * Options of {@link contractsProjection}.
 *
 * @category Projection
 */
export interface ContractsProjectionOptions {
  /** The database, which must be that of the processor's store. A separate connection creates the tables. */
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
   * Whether to create the tables and functions if they are missing, and to upgrade those of an earlier version. For
   * migrations, {@link projectionTables} returns the SQL.
   *
   * @defaultValue true
   */
  readonly createTables?: boolean | undefined;
  /**
   * How long archived contracts, exercises and updates are kept, in milliseconds of record time.
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
export type ProjectionHandler = (work: ContractsWork | readonly ContractsWork[], tx: PoolClient) => Observable<unknown>;

/** How long the database may take to report the version, in milliseconds. */
const timeoutMs = 30_000;

/**
 * Keeps the contracts of a ledger in tables of PostgreSQL, to be read with SQL. Returns a handler for `processFeed`
 * with a `contractsFeed` and a `postgresStore`.
 *
 * @throws TypeError if the schema name would have to be quoted
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
  const { pool, query, schema = defaultSchema, createTables = true, keepArchivedMs = Infinity } = options;
  const names = projectionSchema(schema);
  const nameTemplate = nameTemplates(query.types);
  const retain = retainFor(keepArchivedMs);
  let isReady = false;
  const tables$ = defer(() =>
    createTables ? migrateProjection({ pool, schema }) : readVersion(pool, names, timeoutMs).pipe(tap(assertVersion)),
  );
  return (work, tx) => {
    const writing: Writing = { tx, names, nameTemplate };
    const ready$ = defer(() =>
      isReady
        ? of(true)
        : tables$.pipe(
            concatMap(() => readTemplates(pool, names)),
            concatMap((known) => writeTemplates(pool, names, listTemplates(nameTemplate, known, query.types))),
            tap(() => {
              isReady = true;
            }),
          ),
    );
    return concat(
      ready$.pipe(ignoreElements()),
      ...runsOf(Array.isArray(work) ? (work as readonly ContractsWork[]) : [work as ContractsWork]).map((part) =>
        defer(() =>
          part._tag === 'ResetBatch' ? writeReset(writing, part) : writeChanges(writing, part.changes, retain),
        ),
      ),
    ).pipe(ignoreElements());
  };
}

/** Consecutive changes are written together; a batch of a reset is written by itself. */
function runsOf(works: readonly ContractsWork[]): readonly (ResetBatch | Changes)[] {
  const runs: (ResetBatch | Changes)[] = [];
  for (const work of works) {
    const last = runs.at(-1);
    if (work._tag === 'ResetBatch') runs.push(work);
    else if (last?._tag === 'Changes') last.changes.push(work);
    else runs.push({ _tag: 'Changes', changes: [work] });
  }
  return runs;
}

interface Changes {
  readonly _tag: 'Changes';
  readonly changes: ContractsChanged[];
}
