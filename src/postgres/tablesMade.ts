import type { Pool } from 'pg';
import { concatMap, defer, of, timeout, type Observable } from 'rxjs';
import { asked } from './asked.js';
import { postgresTables, tablesIn } from './postgresTables.js';

/** Makes the tables, unless they are there: those who may not make any can still use them. */
export const tablesMade = (pool: Pool, schema: string, timeoutMs: number): Observable<unknown> => {
  const { cursors, parked } = tablesIn(schema);
  const look = 'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS "areThere"';
  return asked(pool, timeoutMs, look, [cursors, parked]).pipe(
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
