import type { Pool } from 'pg';
import { concatMap, EMPTY, expand, map, type Observable } from 'rxjs';
import { asked } from './asked.js';
import type { Tables } from './postgresTables.js';

/** How many records are read at a time. */
const pageSize = 100;

/** What was parked under a name, by ascending offset. */
export const parkedIn = (pool: Pool, { parked }: Tables, name: string, timeoutMs: number): Observable<unknown> => {
  const select = `SELECT "offset"::text AS "offset", record::text AS record FROM ${parked}
    WHERE name = $1 AND "offset" > $2 ORDER BY ${parked}."offset" LIMIT ${pageSize}`;
  const after = (offset: string): ReturnType<typeof asked> => asked(pool, timeoutMs, select, [name, offset]);
  return after('-1').pipe(
    expand((rows) => (rows.length < pageSize ? EMPTY : after(String(rows.at(-1)?.['offset'])))),
    concatMap((rows) => rows),
    map((row): unknown => JSON.parse(String(row['record']))),
  );
};
