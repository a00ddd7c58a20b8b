import type { ClientBase, Pool, PoolClient, QueryResultRow } from 'pg';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  finalize,
  from,
  lastValueFrom,
  map,
  Observable,
  type ObservableInput,
  race,
  retry,
  throwError,
  timeout,
  TimeoutError,
  timer,
  toArray,
} from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { StoreError } from '../errors/process.js';
import { clampTimer, mapError } from '../http/retry.js';
import { HandlerFailure } from '../process/callHandler.js';
import type { Transactions } from '../process/CheckpointStore.js';
import { isOutage, isRuleViolation, mustRepeat, reasonOf, withoutValues } from './databaseErrors.js';

/** A connection taken from the pool. */
export interface Connection {
  readonly client: PoolClient;
  /** Errors when the connection breaks. */
  readonly lost$: Observable<never>;
  /** Sets a last statement, which runs before the connection is closed. */
  readonly setLast: (last$: Observable<unknown>) => void;
}

/** The longest period that is computed with, in milliseconds: a hundred years. A database has no time that is far beyond it. */
export const maxPeriodMs = 36_525 * 86_400_000;

/** The time limit of the last statement of a connection, in milliseconds. */
const lastMs = 2_000;

/**
 * Takes a connection from the pool; errors if that takes too long. Unsubscribing closes the connection, which releases
 * its locks.
 */
export const connect = (pool: Pool, timeoutMs: number): Observable<Connection> =>
  new Observable<Connection>((subscriber) => {
    let close = (): void => undefined;
    let last$: Observable<unknown> = EMPTY;
    const setLast: Connection['setLast'] = (statement$) => {
      last$ = statement$;
    };
    pool.connect().then(
      (client) => {
        // without a listener, a broken connection ends the program
        client.on('error', (error) => {
          if (!reasons.has(client)) reasons.set(client, error);
        });
        close = () => {
          const closed$ = race(last$, timer(lastMs)).pipe(
            catchError(() => EMPTY),
            finalize(() => {
              closeClient(client);
            }),
          );
          void lastValueFrom(closed$, { defaultValue: undefined });
        };
        if (subscriber.closed) close();
        else subscriber.next({ client, lost$: connectionLost(client), setLast });
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      close();
    };
  }).pipe(
    timeout({ first: clampTimer(timeoutMs) }),
    mapError((error) =>
      error instanceof TimeoutError && isExhausted(pool) ? noConnection(pool, timeoutMs, error) : error,
    ),
  );

/**
 * Closes a connection of a pool. The next holder of a name ends the server process of the former one, which may be closing: the pool
 * would report that as an error, which ends a program without a listener.
 */
function closeClient(client: PoolClient): void {
  const own = client.listeners('error');
  client.release(true);
  for (const listener of client.listeners('error'))
    if (!own.includes(listener)) client.off('error', listener as (error: Error) => void);
}

/** Whether all connections of a pool are in use. */
const isExhausted = ({ idleCount, totalCount, options }: Pool): boolean => idleCount === 0 && totalCount >= options.max;

const noConnection = ({ options }: Pool, timeoutMs: number, cause: TimeoutError): Error =>
  new Error(
    `no connection of the pool became free within ${timeoutMs / 1_000} s: all ${options.max} are in use (each processor, outbox and rule with a store needs one, and one more for all of them)`,
    { cause },
  );

/** Why connections broke. Their later statements fail with another error, which does not say that. */
const reasons = new WeakMap<object, Error>();

const connectionLost = (client: PoolClient): Observable<never> =>
  new Observable((subscriber) => {
    const fail = (error: Error): void => {
      subscriber.error(error);
    };
    client.on('error', fail);
    return () => client.off('error', fail);
  });

/** The statements that connections execute, also if they were unsubscribed from. */
const executing = new WeakMap<object, Promise<unknown>>();

/** Sends a statement. A connection has one at a time, so that one waits for those before it, and is not sent if it is given up. */
const inTurn = <A>(db: ClientBase, send: () => Promise<A>): Observable<A> =>
  defer((): ObservableInput<A> => {
    const before = executing.get(db);
    if (before !== undefined) return from(before).pipe(concatMap(() => inTurn(db, send)));
    const sent = send();
    const end = (): void => void executing.delete(db);
    executing.set(db, sent.then(end, end));
    return sent;
  });

/**
 * Sends a statement over any connection of a pool. If it is given up before the answer, its connection is closed: one that the
 * network has swallowed would never come back to the pool.
 */
const overPool = <A>(pool: Pool, send: (client: ClientBase) => Promise<A>): Observable<A> =>
  defer(() => {
    let isGivenUp = false;
    let close = (): void => undefined;
    const use = async (client: PoolClient): Promise<A> => {
      if (isGivenUp) {
        client.release();
        throw new Error('the statement was given up');
      }
      let isOpen = true;
      const release = (isBroken: boolean): void => {
        if (isOpen && isBroken) closeClient(client);
        else if (isOpen) client.release();
        isOpen = false;
      };
      // without a listener, a broken connection ends the program
      client.on('error', ignore);
      close = () => {
        release(true);
      };
      try {
        const result = await send(client);
        client.off('error', ignore);
        release(false);
        return result;
      } catch (error) {
        release(true);
        throw error;
      }
    };
    return from(pool.connect().then(use)).pipe(
      finalize(() => {
        isGivenUp = true;
        close();
      }),
    );
  });

const ignore = (): void => undefined;

/** Sends a statement over a connection, or over any of a pool. */
export const sendTo = <A>(db: ClientBase | Pool, send: (client: ClientBase) => Promise<A>): Observable<A> =>
  'totalCount' in db ? overPool(db, send) : inTurn(db, () => send(db));

/** Runs a statement, and emits its rows. */
export const run = (
  db: ClientBase | Pool,
  sql: string,
  values: readonly unknown[] = [],
): Observable<readonly QueryResultRow[]> =>
  sendTo(db, (client) => client.query<QueryResultRow>(sql, [...values])).pipe(
    map(({ rows }) => rows),
    mapError((error) => withoutValues(reasons.get(db) ?? error)),
  );

/** Runs a statement, and emits its rows; errors if it takes too long. */
export const query = (
  db: ClientBase | Pool,
  timeoutMs: number,
  sql: string,
  values: readonly unknown[],
): Observable<readonly QueryResultRow[]> => run(db, sql, values).pipe(timeout(clampTimer(timeoutMs)));

/** The statements that begin transactions. */
interface TransactionOptions {
  readonly begin: string;
  /** Receives the results of these statements, and throws if the transaction must be rolled back at once. */
  readonly begun?: (results: unknown) => void;
  /** The time limit for the database to begin, commit or roll back a transaction, in milliseconds. */
  readonly timeoutMs: number;
  /** The name of the processor, for error messages. */
  readonly processor: string;
}

/** The maximum number of times that a transaction is repeated because the database requires it. */
const maxRepeats = 20;

/**
 * The maximum delay before the first repeat, in milliseconds. The delay is random, so that two transactions do not
 * collide again.
 */
const repeatDelayMs = 10;

/**
 * Returns transactions on one connection. If a transaction cannot be ended, it fails with a {@link StoreError}, because
 * its connection is lost.
 */
export function transactionsOn(
  client: PoolClient,
  { begin, begun, timeoutMs, processor }: TransactionOptions,
): Transactions<PoolClient> {
  const commitError = (text: string, error?: unknown): StoreError => {
    const cause = reasons.get(client) ?? error;
    const reason = cause === undefined ? text : `${text}: ${reasonOf(cause)}`;
    return new StoreError('commit', processor, reason, withoutValues(cause));
  };
  const send = (sql: string): Observable<unknown> =>
    inTurn(client, () => client.query(sql)).pipe(timeout(clampTimer(timeoutMs)));
  const begin$ = send(begin).pipe(mapError((error) => commitError('a transaction could not be started', error)));
  const commit$ = send('COMMIT').pipe(
    map((result) => {
      // the database reports a rollback if a statement failed and the handler ignored the failure
      if (!isCommit(result)) throw commitError('the transaction was rolled back');
    }),
    // a rule violation is the handler's failure; any other failure is the database's, and may be temporary
    mapError((error) => {
      if (error instanceof StoreError) return error;
      return isRuleViolation(error)
        ? new HandlerFailure(error, 0)
        : commitError('the transaction was not committed', error);
    }),
  );
  const rollback$ = send('ROLLBACK').pipe(mapError((error) => commitError('the connection was lost', error)));
  return {
    transact: (work) =>
      begin$.pipe(
        concatMap((results) =>
          defer(() => {
            begun?.(results);
            return work(client);
          }).pipe(
            toArray(),
            concatMap((values) => commit$.pipe(concatMap(() => values))),
            catchError((error: unknown) =>
              // a handler that took too long still uses the connection, which is closed next
              isLedgerError(error, 'HandlerError')
                ? throwError(() => error)
                : rollback$.pipe(concatMap(() => throwError(() => error))),
            ),
          ),
        ),
        retry({
          delay: (error: unknown, count) => {
            if (!mustRepeat(error) || count > maxRepeats) throw error;
            return timer(Math.random() * repeatDelayMs * count);
          },
        }),
        // never a reason to skip an update: nothing is wrong with it, nor with its handler
        mapError((error) =>
          error instanceof HandlerFailure && (isOutage(error) || mustRepeat(error))
            ? commitError('the database cannot do what the handler needs', error)
            : error,
        ),
      ),
  };
}

const isCommit = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'command' in result && result.command === 'COMMIT';
