import type { Pool } from 'pg';
import { concatMap, defer, type Observable, of, timeout } from 'rxjs';
import { query } from './connection.js';

/** The names of the tables. */
export interface Tables {
  readonly cursors: string;
  readonly parked: string;
}

/**
 * Returns the SQL that creates the tables of {@link postgresStore}, for schemas that are managed by migrations. It has
 * no effect if the tables exist.
 *
 * @param schema - the schema of the tables
 * @example
 * ```ts
 * import { postgresTables } from 'canton-rx/postgres';
 *
 * console.log(postgresTables('ledger').includes('ledger.canton_rx_cursors')); // true
 * ```
 *
 * @category Stores
 */
export const postgresTables = (schema = 'public'): string => {
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

/** Returns the names of the tables in a schema. Throws a TypeError for a schema name that would have to be quoted. */
export function tablesIn(schema: string): Tables {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError('schema must consist of lower-case letters, digits and underscores');
  return { cursors: `${schema}.canton_rx_cursors`, parked: `${schema}.canton_rx_parked` };
}

/** Creates the tables if one is missing. A user that may not create tables can use existing ones. */
export const ensureTables = (pool: Pool, schema: string, timeoutMs: number): Observable<unknown> => {
  const { cursors, parked } = tablesIn(schema);
  const exist = 'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS exist';
  return query(pool, timeoutMs, exist, [cursors, parked]).pipe(
    concatMap(([row]) => {
      if (row?.['exist'] === true) return of(true);
      // locked, because one of two processes that create the same table at the same time would fail
      const create = `SELECT pg_advisory_xact_lock(hashtextextended('${cursors}', 1));${postgresTables(schema)}`;
      return defer(() => pool.query(create)).pipe(timeout(timeoutMs));
    }),
  );
};
