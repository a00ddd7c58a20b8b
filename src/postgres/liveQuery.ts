import type { Pool, QueryResultRow } from 'pg';
import { concat, concatMap, defer, ignoreElements, type Observable, type ObservableInput, of, tap } from 'rxjs';
import { StoreError } from '../errors/process.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { checkNotNegative, checkPositive } from '../codecs/internal/numbers.js';
import { mapError, retryPolicy, retryTransient, type RetryPolicy } from '../http/retry.js';
import { asStoreError } from '../process/heldStore.js';
import { query } from './connection.js';
import { asStoreError as asDenial, isOfStatement, reasonOf, withoutValues } from './databaseErrors.js';
import { oneAtATime } from './oneAtATime.js';
import { quoteSchema } from './storeTables.js';
import { changesOf } from './projectionChanges.js';

/**
 * Options of {@link liveQuery}.
 *
 * @category Projection
 */
export interface LiveQueryOptions<Row> {
  /**
   * The schema of the projection whose commits repeat the query.
   *
   * @defaultValue 'contracts'
   */
  readonly schema?: string | undefined;
  /**
   * The interval at which the offset of the projection is read where `LISTEN` does not work, in milliseconds: on a replica, through a
   * pooler such as PgBouncer, and if the tables have no trigger.
   *
   * @defaultValue 1000
   */
  readonly pollMs?: number | undefined;
  /**
   * The minimum time from one query to the next, in milliseconds. After a quiet time, a change is queried at once; changes that come
   * sooner are one. The default is what a reader of a page hardly notices, and ten queries a second, however many commits there are.
   *
   * @defaultValue 100
   */
  readonly minIntervalMs?: number | undefined;
  /**
   * Takes the rows after they were emitted. The next query begins when what it returns has ended; until then, changes are not lost, but
   * count as one.
   */
  readonly pace?: ((rows: readonly Row[]) => ObservableInput<unknown>) | undefined;
  /** How queries and connections that fail are repeated. The budget begins again with each result. */
  readonly retry?: RetryPolicy | undefined;
  /**
   * The time limit of the query, and of each other statement, in milliseconds.
   *
   * @defaultValue 30000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Emits the rows of a query now, and again after each commit of a projection. Cold and endless. Changes that come while the query
 * runs, or within `minIntervalMs`, are one change, and at most one query runs at a time, so that each result is at least as new as the
 * last change before its query.
 *
 * Queries that read the same schema over the same pool share one connection, which listens; unsubscribing from the last of them closes it.
 * When it breaks, it is opened again, and the query is repeated, so that no change is missed. Fails with a `StoreError` if the database
 * refuses the statement, if there is no projection, and if a failure lasts longer than the policy allows.
 *
 * @param pool - the database, with at least 2 connections
 * @param sql - a query. It may read any tables, but only commits of the projection repeat it
 * @param parameters - the values of `$1`, `$2`, …
 * @throws TypeError for invalid options, and for a pool of one connection, synchronously
 * @example
 * ```ts
 * import { liveQuery } from 'canton-rx/postgres';
 * import type { Pool } from 'pg';
 *
 * export const assetsOf = (pool: Pool, owner: string) =>
 *   liveQuery<{ contract_id: string; amount: string }>(
 *     pool,
 *     `SELECT contract_id, payload ->> 'amount' AS amount
 *       FROM contracts.active('my-package:Main:Asset') WHERE payload ->> 'owner' = $1`,
 *     [owner],
 *   );
 * ```
 *
 * @category Projection
 */
export function liveQuery<Row extends QueryResultRow = QueryResultRow>(
  pool: Pool,
  sql: string,
  parameters: readonly unknown[] = [],
  options: LiveQueryOptions<Row> = {},
): Observable<readonly Row[]> {
  const { schema = 'contracts', pollMs = 1_000, minIntervalMs = 100, timeoutMs = 30_000, pace, retry } = options;
  checkPositive({ pollMs, timeoutMs });
  checkNotNegative({ minIntervalMs });
  quoteSchema(schema);
  if (pool.options.max < 2) throw new TypeError('the pool must have at least 2 connections: one listens');
  const policy = retryPolicy({}, retry);
  return defer(() => {
    let hasWorked = false;
    const rows$ = query(pool, timeoutMs, sql, parameters).pipe(
      tap(() => {
        hasWorked = true;
      }),
      concatMap((rows) => paced(rows as readonly Row[], pace)),
    );
    return changesOf(pool, { schema, pollMs, timeoutMs }).pipe(
      oneAtATime(rows$, minIntervalMs),
      mapError((error) => toStoreError(schema, error, hasWorked)),
      retryTransient({ retry: policy, report: () => undefined }),
    );
  });
}

const paced = <Row>(rows: readonly Row[], pace: LiveQueryOptions<Row>['pace']): Observable<readonly Row[]> =>
  pace === undefined
    ? of(rows)
    : concat(
        of(rows),
        defer(() => pace(rows)).pipe(
          mapError((error) => new PaceError(error)),
          ignoreElements(),
        ),
      );

/** What a subscriber does with the rows has failed. */
class PaceError extends Error {
  constructor(override readonly cause: unknown) {
    super('pace failed', { cause });
  }
}

/** What names the query in errors. */
const name = 'live query';

function toStoreError(schema: string, error: unknown, hasWorked: boolean): unknown {
  if (error instanceof PaceError) return error.cause;
  const denial = asDenial('load', name, schema, error, hasWorked);
  if (isLedgerError(denial) || !isOfStatement(error)) return asStoreError('load', name, denial);
  return new StoreError(
    'load',
    name,
    reasonOf(error),
    withoutValues(error),
    'correct the statement and its parameters',
  );
}
