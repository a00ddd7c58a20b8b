import {
  catchError,
  concat,
  defer,
  finalize,
  ignoreElements,
  type MonoTypeOperatorFunction,
  type Observable,
  switchMap,
  takeLast,
  timeout,
  TimeoutError,
} from 'rxjs';
import { DatabaseError, type Pool, type Queryable, rowsOf } from './database.js';
import { hasCode } from './World.js';

/**
 * Changes something in a transaction, and emits the last value of the work after the commit. An error rolls it back, except where
 * the database does not answer the commit.
 *
 * @param list - the command that shows whether the change was made
 */
export const inTransaction = <A>(pool: Pool, list: string, work: (db: Queryable) => Observable<A>): Observable<A> =>
  defer(() => pool.connect()).pipe(
    switchMap((client) => {
      const run = (sql: string): Observable<never> => rowsOf(client, sql).pipe(ignoreElements());
      const commit$ = run('COMMIT').pipe(timeout(commitMs), explainUnanswered(list));
      return concat(run(begin), work(client), commit$).pipe(
        takeLast(1),
        finalize(() => {
          // closed, so that the database rolls back a transaction that is still open
          client.release(true);
        }),
      );
    }),
  );

/** A command that stands still, or that the network has cut off, must not keep the rows locked that a processor needs. */
const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'`;

/** How long the database may take for a commit, in milliseconds. It may wait for a standby. */
const commitMs = 30_000;

/**
 * Says that a change may have been made if the database did not answer the statement that makes it. Any other error is passed on.
 *
 * @param list - the command that shows whether the change was made
 */
export const explainUnanswered = <A>(list: string): MonoTypeOperatorFunction<A> =>
  catchError((error: unknown) => {
    if (!isUnanswered(error)) throw error;
    const isLate = error instanceof TimeoutError || hasCode(error, 'ETIMEDOUT');
    const text = isLate ? 'the database does not answer in time' : 'the connection was closed';
    throw new DatabaseError('database', {
      text: `${text}, and the change may have been made, or may be made later`,
      next: `${list} shows whether it was, before you repeat it`,
    });
  });

/** Whether a statement was sent and its result did not arrive. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof TimeoutError ||
  unansweredCodes.some((code) => hasCode(error, code)) ||
  (error instanceof Error && error.message.startsWith('Connection terminated'));

/** Of the system; and of a server that ends a connection, perhaps between the commit and the response. */
const unansweredCodes = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02', '08000', '08003', '08006', '08P01'];
