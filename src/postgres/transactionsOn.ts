import type { PoolClient } from 'pg';
import { catchError, concat, concatMap, defer, ignoreElements, map, retry, throwError, timeout, timer } from 'rxjs';
import { toArray, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { isStoreError, StoreError } from '../errors/StoreError.js';
import type { Transactions } from '../process/CheckpointStore.js';
import { HandlerFailure } from '../process/HandlerFailure.js';
import { isForbidden, isRetriable } from './sqlStateOf.js';

/** How transactions are begun, and how long the database may take for that, and to end them, in milliseconds. */
export interface TransactionOptions {
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
