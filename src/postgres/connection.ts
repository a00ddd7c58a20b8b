import type { ClientBase, Pool, PoolClient, QueryResultRow } from 'pg';
import {
  catchError,
  concat,
  concatMap,
  defer,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  Observable,
  retry,
  throwError,
  timeout,
  timer,
  toArray,
} from 'rxjs';
import { isStoreError, StoreError } from '../errors/process.js';
import { HandlerFailure } from '../process/callHandler.js';
import type { Transactions } from '../process/CheckpointStore.js';

/** A connection that nobody else uses. */
export interface Connection {
  readonly client: PoolClient;
  /** Errors when it breaks. */
  readonly lost$: Observable<never>;
}

/** Something has failed in the transaction before, and nobody has said so: `in_failed_sql_transaction`. */
export const isSpoilt = (error: unknown): boolean => sqlStateOf(error) === '25P02';

/** How transactions are begun, and how long the database may take for that, and to end them, in milliseconds. */
interface TransactionOptions {
  readonly begin: string;
  readonly timeoutMs: number;
  readonly processor: string;
}

/** How often a transaction is done once more because the database asks for it. */
const mostReruns = 20;

/** The longest wait before the first of them, in milliseconds; a random part of it, so that two do not meet again. */
const rerunDelayMs = 10;

/** Transactions on one connection. One that cannot be ended is lost with its connection: a {@link StoreError}. */
export function transactionsOn(
  client: PoolClient,
  { begin, timeoutMs, processor }: TransactionOptions,
): Transactions<PoolClient> {
  const failed = (reason: string, cause?: unknown): StoreError => new StoreError('commit', processor, reason, cause);
  const run = (sql: string): Observable<unknown> => defer(() => client.query(sql)).pipe(timeout(timeoutMs));
  const begin$ = run(begin).pipe(mapped((error) => failed('a transaction could not be begun', error)));
  const commit$ = run('COMMIT').pipe(
    map((result) => {
      // the database's word for a transaction in which something has failed, and nobody has noticed
      if (!isCommit(result)) throw failed('the transaction was rolled back');
    }),
    // what may not be committed is the handler's doing; anything else is the database's, and may go well later
    mapped((error) => {
      if (isStoreError(error)) return error;
      return isForbidden(error) ? new HandlerFailure(error, 0) : failed('the transaction was not committed', error);
    }),
  );
  const rollback$ = run('ROLLBACK').pipe(mapped((error) => failed('the connection was lost', error)));
  return {
    transact: (work) =>
      concat(
        begin$.pipe(ignoreElements()),
        defer(() => work(client)).pipe(
          toArray(),
          concatMap((values) => commit$.pipe(concatMap(() => values))),
          catchError((error: unknown) => rollback$.pipe(concatMap(() => throwError(() => error)))),
        ),
      ).pipe(
        retry({
          delay: (error: unknown, count) => {
            if (!isRetriable(error) || count > mostReruns) throw error;
            return timer(Math.random() * rerunDelayMs * count);
          },
        }),
      ),
  };
}

const mapped = <A>(put: (error: unknown) => unknown): MonoTypeOperatorFunction<A> =>
  catchError((error: unknown) => throwError(() => put(error)));

const isCommit = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'command' in result && result.command === 'COMMIT';

/** The transaction breaks a rule of the database's, which may look only at its end: `integrity_constraint_violation`, PL/pgSQL's own. */
const isForbidden = (error: unknown): boolean => /^(23|P0)/.test(sqlStateOf(error) ?? '');

/** The database asks for the transaction to be done once more: `serialization_failure`, `deadlock_detected`. */
const isRetriable = (error: unknown): boolean => ['40001', '40P01'].includes(sqlStateOf(error) ?? '');

/**
 * Takes a connection out of the pool, which may take so long. Unsubscribing closes it, so that nothing it holds outlives
 * it.
 */
export const connect = (pool: Pool, timeoutMs: number): Observable<Connection> =>
  new Observable<Connection>((subscriber) => {
    let close = (): void => undefined;
    pool.connect().then(
      (client) => {
        // without a listener, a connection that breaks ends the program
        client.on('error', ignore);
        close = () => {
          client.release(true);
        };
        if (subscriber.closed) close();
        else subscriber.next({ client, lost$: lost(client) });
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      close();
    };
  }).pipe(timeout({ first: timeoutMs }));

const ignore = (): void => undefined;

const lost = (client: PoolClient): Observable<never> =>
  new Observable((subscriber) => {
    const fail = (error: Error): void => {
      subscriber.error(error);
    };
    client.on('error', fail);
    return () => client.off('error', fail);
  });

/** The rows of an answer; an error where it does not come in time. */
export const query = (
  db: ClientBase | Pool,
  timeoutMs: number,
  sql: string,
  values: readonly unknown[],
): Observable<readonly QueryResultRow[]> =>
  defer(() => db.query(sql, [...values])).pipe(
    timeout(timeoutMs),
    map(({ rows }: { readonly rows: readonly QueryResultRow[] }) => rows),
  );

/** The SQLSTATE of an error, or of what caused it: handlers and their libraries wrap errors. */
function sqlStateOf(error: unknown): string | undefined {
  let link = error;
  for (let depth = 0; depth < 10 && typeof link === 'object' && link !== null; depth += 1) {
    if ('code' in link && typeof link.code === 'string' && /^[0-9A-Z]{5}$/.test(link.code)) return link.code;
    link = 'cause' in link ? link.cause : undefined;
  }
  return undefined;
}
