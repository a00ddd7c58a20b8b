import type { ClientBase, Pool, QueryResultRow } from 'pg';
import { defer, map, timeout, type Observable } from 'rxjs';

/** The rows of an answer; an error where it does not come in time. */
export const asked = (
  db: ClientBase | Pool,
  timeoutMs: number,
  sql: string,
  values: readonly unknown[],
): Observable<readonly QueryResultRow[]> =>
  defer(() => db.query(sql, [...values])).pipe(
    timeout(timeoutMs),
    map(({ rows }: { readonly rows: readonly QueryResultRow[] }) => rows),
  );
