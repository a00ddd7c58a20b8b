import type { ClientBase, Pool } from 'pg';
import { concatMap, defer, map, type Observable, of, timeout } from 'rxjs';
import { query } from '../connection.js';
import { contractFunctions } from './contractFunctions.js';
import { exerciseFunctions } from './exerciseFunctions.js';
import { maintenanceFunctions } from './maintenanceFunctions.js';
import { nameFunctions } from './nameFunctions.js';
import { offsetFunctions } from './offsetFunctions.js';
import { currentVersion, type ProjectionSchema, projectionSchema } from './projectionSchema.js';
import { migrations } from './tables.js';
import { writeFunctions } from './writeFunctions.js';

/** The default schema of a projection. */
export const defaultSchema = 'contracts';

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
   * How long the database may take, in milliseconds. Upgrading to a later version may have to rewrite tables.
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
 * Creates the schema, tables and functions of a projection, or upgrades those of an earlier version, in one
 * transaction. Does nothing if they already have this version. {@link contractsProjection} calls it by itself, unless
 * its `createTables` is `false`.
 *
 * @throws TypeError if the schema name would have to be quoted. The Observable fails if the tables are of a later
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
  const { pool, schema = defaultSchema, timeoutMs = 600_000 } = options;
  const names = projectionSchema(schema);
  return readVersion(pool, names, timeoutMs).pipe(
    concatMap((version) => {
      if (version === currentVersion) return of(version);
      // several statements in one request are one transaction, which must see what another migration did before this
      // one got the lock
      return defer(() => pool.query(`SET TRANSACTION ISOLATION LEVEL READ COMMITTED;${projectionTables(schema)}`)).pipe(
        timeout(timeoutMs),
      );
    }),
    concatMap(() => readVersion(pool, names, timeoutMs)),
    map((version) => {
      assertVersion(version);
      return { version };
    }),
  );
}

/** Emits the version of the tables in the database; 0 if there are none. */
export const readVersion = (db: ClientBase | Pool, names: ProjectionSchema, timeoutMs: number): Observable<number> =>
  query(db, timeoutMs, 'SELECT to_regclass($1) IS NOT NULL AS exist', [names.versions]).pipe(
    concatMap(([row]) =>
      row?.['exist'] === true
        ? query(db, timeoutMs, `SELECT coalesce(max(version), 0) AS version FROM ${names.versions}`, [])
        : of([]),
    ),
    map((rows) => Number(rows[0]?.['version'] ?? 0)),
  );

/** Throws if the tables have a different version. */
export function assertVersion(version: number): void {
  if (version === currentVersion) return;
  const have = version === 0 ? 'missing' : `of version ${version}`;
  throw new Error(`the tables of the projection are ${have}, but must be of version ${currentVersion}`);
}

/**
 * Returns the SQL with which {@link migrateProjection} creates or upgrades a projection, for schemas that are managed
 * by migrations. Run it as one transaction. It runs the missing steps, whatever the current version, and replaces the
 * functions.
 *
 * @param schema - the schema of the projection; default: `'contracts'`
 * @throws TypeError if the schema name would have to be quoted
 * @example
 * ```ts
 * import { projectionTables } from 'canton-rx/postgres';
 *
 * console.log(projectionTables('ledger').includes('FUNCTION "ledger".active(')); // true
 * ```
 *
 * @category Projection
 */
export function projectionTables(schema = defaultSchema): string {
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
${migrations(names)
  .map(({ version, sql }) => onceOnly(names, version, sql))
  .join('\n')}
${functionsOf(names)}
`;
}

/** Returns SQL for a step that does nothing if it was run before. */
const onceOnly = ({ versions }: ProjectionSchema, version: number, sql: string): string => `
DO $step$ BEGIN
  IF NOT EXISTS (SELECT FROM ${versions} WHERE version >= ${version}) THEN
    ${sql}
    INSERT INTO ${versions} (version) VALUES (${version});
  END IF;
END $step$;`;

const functionsOf = (names: ProjectionSchema): string =>
  [offsetFunctions, nameFunctions, contractFunctions, exerciseFunctions, maintenanceFunctions, writeFunctions]
    .map((functions) => functions(names))
    .join('\n');
