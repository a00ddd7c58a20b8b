import type { ClientBase, Pool } from 'pg';
import { concat, concatMap, EMPTY, ignoreElements, map, type Observable, timeout } from 'rxjs';
import { clampTimer } from '../http/retry.js';
import { query, sendTo } from './connection.js';
import { DatabaseError } from './databaseErrors.js';
import type { LeaseTables } from './Lease.js';

/** The names of the tables, for SQL. */
export interface StoreTables extends LeaseTables {
  readonly parked: string;
  /** Identifies the tables in the names of locks and in projections: `schema.canton_rx_cursors`, without quotes. */
  readonly id: string;
}

/**
 * Returns the SQL that creates the tables of {@link postgresStore}, for schemas that are managed by migrations. It has
 * no effect if the tables exist.
 *
 * @param schema - the schema of the tables
 * @example
 * ```ts
 * import { postgresStoreSql } from 'canton-rx/postgres';
 *
 * console.log(postgresStoreSql('ledger').includes('"ledger".canton_rx_cursors')); // true
 * ```
 *
 * @category Stores
 */
export const postgresStoreSql = (schema = 'public'): string => {
  const { cursors, leases, parked } = tablesIn(schema);
  return `
CREATE TABLE IF NOT EXISTS ${cursors} (
  name text PRIMARY KEY,
  cursor json,
  fence bigint NOT NULL,
  saved_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS ${leases} (
  name text PRIMARY KEY,
  holder text,
  pid int,
  renewed_at timestamptz NOT NULL,
  paused_at timestamptz
);
CREATE TABLE IF NOT EXISTS ${parked} (
  name text NOT NULL,
  "offset" bigint NOT NULL,
  record json NOT NULL,
  PRIMARY KEY (name, "offset")
);
`;
};

/** Quotes the name of a schema, which may be a keyword of SQL. Throws a TypeError for one that readers would have to quote. */
export function quoteSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError('schema must consist of lower-case letters, digits and underscores');
  return `"${schema}"`;
}

/** Returns the names of the tables in a schema. Throws a TypeError for a schema name that readers would have to quote. */
export function tablesIn(schema: string): StoreTables {
  const quoted = quoteSchema(schema);
  return {
    cursors: `${quoted}.canton_rx_cursors`,
    leases: `${quoted}.canton_rx_leases`,
    parked: `${quoted}.canton_rx_parked`,
    id: `${schema}.canton_rx_cursors`,
  };
}

/**
 * Creates the tables if one is missing and may be created, and checks the rights on them. A user that may not create tables
 * can use existing ones.
 */
export const ensureTables = (
  db: ClientBase | Pool,
  schema: string,
  timeoutMs: number,
  mayCreate: boolean,
): Observable<unknown> => {
  const { cursors, leases, parked, id } = tablesIn(schema);
  const tables = [cursors, leases, parked];
  const missing = `SELECT string_agg(name, ', ') AS missing FROM unnest($1::text[]) AS t(name) WHERE to_regclass(name) IS NULL`;
  const created$ = query(db, timeoutMs, missing, [tables]).pipe(
    concatMap(([row]) => {
      if (typeof row?.['missing'] !== 'string') return EMPTY;
      if (!mayCreate)
        throw new DatabaseError(`the tables ${row['missing']} are missing`, 'create them with postgresStoreSql()');
      // locked, because one of two processes that create the same table at the same time would fail
      const create = `SELECT pg_advisory_xact_lock(hashtextextended('${id}', 1));${postgresStoreSql(schema)}`;
      return sendTo(db, (client) => client.query(create)).pipe(timeout(clampTimer(timeoutMs)), ignoreElements());
    }),
  );
  // fails for other tables of these names
  const columns = `SELECT FROM (SELECT name, cursor, fence, saved_at FROM ${cursors}) c,
    (SELECT name, holder, pid, renewed_at, paused_at FROM ${leases}) l, (SELECT name, "offset", record FROM ${parked}) p LIMIT 0`;
  return concat(created$, checkRights(db, timeoutMs, tables).pipe(ignoreElements()), query(db, timeoutMs, columns, []));
};

/** Fails with a {@link DatabaseError} if the user may not read and write tables. */
export const checkRights = (
  db: ClientBase | Pool,
  timeoutMs: number,
  tables: readonly string[],
): Observable<unknown> => {
  const missing = `SELECT t.name || ': ' || string_agg(r.name, ', ') AS missing, current_user AS "user"
    FROM unnest($1::text[]) AS t(name), unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS r(name)
    WHERE NOT has_table_privilege(t.name, r.name) GROUP BY t.name ORDER BY t.name`;
  return query(db, timeoutMs, missing, [tables]).pipe(
    map((rows) => {
      if (rows.length === 0) return;
      const user = String(rows[0]?.['user']);
      const rights = rows.map((row) => String(row['missing'])).join('; ');
      const next = `let the owner of the tables run: GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables.join(', ')} TO "${user}"`;
      throw new DatabaseError(`the user ${user} lacks rights on ${rights}`, next);
    }),
  );
};
