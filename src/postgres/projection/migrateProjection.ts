import type { ClientBase, Pool } from 'pg';
import { concatMap, map, type Observable, of, timeout } from 'rxjs';
import { checkPositive } from '../../codecs/internal/numbers.js';
import { clampTimer } from '../../http/retry.js';
import { query, sendTo } from '../connection.js';
import { DatabaseError } from '../databaseErrors.js';
import { epochFunctions } from './epochs.js';
import { retentionFunctions } from './history.js';
import { loadFunction } from './loadContracts.js';
import { offsetFunctions } from './offsets.js';
import { readFunctions } from './readFunctions.js';
import { resetFunctions } from './resetTo.js';
import { createTables, currentVersion, projectionSchema, type ProjectionSchema, ixOfExercise } from './tables.js';
import { templateFunctions } from './templates.js';
import { changesFunction } from './writeChanges.js';

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
export const migrate = (
  db: ClientBase | Pool,
  names: ProjectionSchema,
  timeoutMs = migrationTimeoutMs,
): Observable<number> =>
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

/**
 * Returns the functions that erase what a contract or an exercise says, and keep that it was. Only what has ended can be
 * erased, and what is not followed any more: readers rely on the payloads of active contracts, and a reload would read them again.
 */
const redactFunctions = ({ schema, name, state, contracts, exercises }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.redact_contract(id text, redaction_id text) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  redacted bigint;
BEGIN
  ${checkRedactionId}
  IF EXISTS (SELECT FROM ${contracts} c WHERE c.contract_id = $1 AND c.archived_at_offset IS NULL AND c.end_reason IS NULL) THEN
    RAISE EXCEPTION 'contract % is active', $1 USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Archive it on the ledger first.';
  END IF;
  UPDATE ${contracts} c SET payload = NULL, contract_key = NULL, metadata = NULL, as_sent = NULL, redaction_id = $2
    WHERE c.contract_id = $1;
  GET DIAGNOSTICS redacted = ROW_COUNT;
  IF redacted = 0 THEN
    RAISE EXCEPTION 'contract % is unknown', $1 USING ERRCODE = 'no_data_found';
  END IF;
  RETURN redacted;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.redact_exercise(event_id ${schema}.event_id, redaction_id text) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  redacted bigint;
BEGIN
  ${checkRedactionId}
  -- the rows of an earlier epoch show their id, too: what cannot come back is never taken for another one
  IF coalesce(current_setting('canton_rx.epoch_of_${name}', true), '') = '' AND (
    SELECT count(DISTINCT ${ixOfExercise('e.')}) > 1 FROM ${exercises} e
    WHERE e.exercised_at_offset = ($1)."offset" AND e.node_id = ($1).node_id
      AND e.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])) THEN
    RAISE EXCEPTION 'there are several exercises % in different epochs', $1 USING
      ERRCODE = 'numeric_value_out_of_range', HINT = 'Choose the offsets: see the view epochs, and set_epoch().';
  END IF;
  UPDATE ${exercises} e SET argument = NULL, result = NULL, as_sent = NULL, redaction_id = $2
    WHERE ${ixOfExercise('e.')} = ${schema}.projection_ix_of(($1)."offset") AND e.node_id = ($1).node_id;
  GET DIAGNOSTICS redacted = ROW_COUNT;
  IF redacted = 0 THEN
    RAISE EXCEPTION 'exercise % is unknown', $1 USING ERRCODE = 'no_data_found';
  END IF;
  RETURN redacted;
END $body$;
`;

/** Without the id of a redaction, an erased row would look like one whose payload is absent. */
const checkRedactionId = `IF coalesce($2, '') = '' THEN
    RAISE EXCEPTION 'a redaction needs an id' USING ERRCODE = 'invalid_parameter_value';
  END IF;`;
