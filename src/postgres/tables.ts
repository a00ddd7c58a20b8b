import type { Pool } from 'pg';
import { concatMap, defer, type Observable, of, timeout } from 'rxjs';
import { query } from './connection.js';

/** The names of the tables. */
export interface Tables {
  readonly cursors: string;
  readonly parked: string;
}

/**
 * The tables of {@link postgresStore}, as SQL: for those who create tables by migrations of their own. Creating them
 * again does nothing.
 *
 * @param schema - the schema that they are in
 * @example
 * ```ts
 * import { postgresTables } from 'canton-rx/postgres';
 *
 * console.log(postgresTables('ledger').includes('ledger.canton_rx_cursors')); // true
 * ```
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

/** The names of the tables in a schema; throws a TypeError for a schema that would have to be quoted. */
export function tablesIn(schema: string): Tables {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new TypeError('schema is no plain name');
  return { cursors: `${schema}.canton_rx_cursors`, parked: `${schema}.canton_rx_parked` };
}

/** Makes the tables, unless they are there: those who may not make any can still use them. */
export const ensureTables = (pool: Pool, schema: string, timeoutMs: number): Observable<unknown> => {
  const { cursors, parked } = tablesIn(schema);
  const look = 'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS "areThere"';
  return query(pool, timeoutMs, look, [cursors, parked]).pipe(
    concatMap(([row]) =>
      // two that start at a time would both make them, and one fail
      row?.['areThere'] === true
        ? of(true)
        : defer(() =>
            pool.query(`SELECT pg_advisory_xact_lock(hashtextextended('${cursors}', 1));${postgresTables(schema)}`),
          ).pipe(timeout(timeoutMs)),
    ),
  );
};
