import type { ClientBase, Pool } from 'pg';
import { concat, concatMap, defer, EMPTY, ignoreElements, map, type Observable, timeout } from 'rxjs';
import { query } from './connection.js';
import { DatabaseError } from './databaseErrors.js';

/** The names of the tables, for SQL. */
export interface Tables {
  readonly cursors: string;
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
  const { cursors, parked } = tablesIn(schema);
  return `
CREATE TABLE IF NOT EXISTS ${cursors} (
  name text PRIMARY KEY,
  cursor json,
  fence bigint NOT NULL,
  saved_at timestamptz NOT NULL DEFAULT now()
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
export function tablesIn(schema: string): Tables {
  const quoted = quoteSchema(schema);
  return {
    cursors: `${quoted}.canton_rx_cursors`,
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
  const { cursors, parked, id } = tablesIn(schema);
  const exist = 'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS exist';
  const created$ = query(db, timeoutMs, exist, [cursors, parked]).pipe(
    concatMap(([row]) => {
      if (row?.['exist'] === true) return EMPTY;
      if (!mayCreate)
        throw new DatabaseError(
          `the tables ${cursors} and ${parked} are missing`,
          'create them with postgresStoreSql()',
        );
      // locked, because one of two processes that create the same table at the same time would fail
      const create = `SELECT pg_advisory_xact_lock(hashtextextended('${id}', 1));${postgresStoreSql(schema)}`;
      return defer(() => db.query(create)).pipe(timeout(timeoutMs), ignoreElements());
    }),
  );
  return concat(created$, checkRights(db, timeoutMs, [cursors, parked]));
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
