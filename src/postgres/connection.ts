import type { ClientBase, Pool, PoolClient, QueryResultRow } from 'pg';
import {
  catchError,
  concat,
  concatMap,
  defer,
  ignoreElements,
  map,
  Observable,
  retry,
  throwError,
  timeout,
  TimeoutError,
  timer,
  toArray,
  filter,
  merge,
  NEVER,
  of,
  repeat,
  switchMap,
  take,
  takeLast,
} from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { StoreError } from '../errors/process.js';
import { mapError } from '../http/retry.js';
import { HandlerFailure } from '../process/callHandler.js';
import type { Transactions } from '../process/CheckpointStore.js';
import { isRuleViolation, mustRepeat } from './databaseErrors.js';
import { trackOpen } from '../process/heldStore.js';

/** A connection taken from the pool. */
interface Connection {
  readonly client: PoolClient;
  /** Errors when the connection breaks. */
  readonly lost$: Observable<never>;
}

/**
 * Takes a connection from the pool; errors if that takes too long. Unsubscribing closes the connection, which releases
 * its locks.
 */
export const connect = (pool: Pool, timeoutMs: number): Observable<Connection> =>
  new Observable<Connection>((subscriber) => {
    let close = (): void => undefined;
    pool.connect().then(
      (client) => {
        // without a listener, a broken connection ends the program
        client.on('error', ignore);
        close = () => {
          client.release(true);
        };
        if (subscriber.closed) close();
        else subscriber.next({ client, lost$: connectionLost(client) });
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      close();
    };
  }).pipe(
    timeout({ first: timeoutMs }),
    mapError((error) =>
      error instanceof TimeoutError && isExhausted(pool) ? noConnection(pool, timeoutMs, error) : error,
    ),
  );

/** Whether all connections of a pool are in use. */
const isExhausted = ({ idleCount, totalCount, options }: Pool): boolean => idleCount === 0 && totalCount >= options.max;

const noConnection = ({ options }: Pool, timeoutMs: number, cause: TimeoutError): Error =>
  new Error(
    `no connection of the pool became free within ${timeoutMs / 1_000} s: all ${options.max} are in use (each processor needs one, and one more for all of them)`,
    { cause },
  );

const ignore = (): void => undefined;

const connectionLost = (client: PoolClient): Observable<never> =>
  new Observable((subscriber) => {
    const fail = (error: Error): void => {
      subscriber.error(error);
    };
    client.on('error', fail);
    return () => client.off('error', fail);
  });

/** Runs a statement, and emits its rows. */
export const run = (
  db: ClientBase | Pool,
  sql: string,
  values: readonly unknown[] = [],
): Observable<readonly QueryResultRow[]> =>
  defer(() => db.query<QueryResultRow>(sql, [...values])).pipe(map(({ rows }) => rows));

/** Runs a statement, and emits its rows; errors if it takes too long. */
export const query = (
  db: ClientBase | Pool,
  timeoutMs: number,
  sql: string,
  values: readonly unknown[],
): Observable<readonly QueryResultRow[]> => run(db, sql, values).pipe(timeout(timeoutMs));

/** How transactions begin. */
interface TransactionOptions {
  readonly begin: string;
  /** How long the database may take to begin, commit or roll back a transaction, in milliseconds. */
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
  { begin, timeoutMs, processor }: TransactionOptions,
): Transactions<PoolClient> {
  const commitError = (reason: string, cause?: unknown): StoreError =>
    new StoreError('commit', processor, reason, cause);
  const send = (sql: string): Observable<unknown> => defer(() => client.query(sql)).pipe(timeout(timeoutMs));
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
      concat(
        begin$.pipe(ignoreElements()),
        defer(() => work(client)).pipe(
          toArray(),
          concatMap((values) => commit$.pipe(concatMap(() => values))),
          catchError((error: unknown) =>
            // a handler that took too long still uses the connection, which is closed next
            isLedgerError(error, 'HandlerError')
              ? throwError(() => error)
              : rollback$.pipe(concatMap(() => throwError(() => error))),
          ),
        ),
      ).pipe(
        retry({
          delay: (error: unknown, count) => {
            if (!mustRepeat(error) || count > maxRepeats) throw error;
            return timer(Math.random() * repeatDelayMs * count);
          },
        }),
      ),
  };
}

const isCommit = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'command' in result && result.command === 'COMMIT';

/** The lock on a processor's name, and the transactions under it. */
interface LockOptions {
  /** The table with the fencing tokens, for SQL, and what identifies it in the name of the lock. */
  readonly tables: { readonly cursors: string; readonly id: string };
  readonly name: string;
  readonly isolation: string;
  readonly timeoutMs: number;
  /** How often to try to acquire the lock, in milliseconds. */
  readonly pollMs: number;
  /** Checks over the connection whether the name can be used, before the lock is acquired. */
  readonly ready?: (client: PoolClient) => Observable<unknown>;
  /** Called each time that another connection is found to hold the lock. */
  readonly standBy?: (() => void) | undefined;
}

/** A connection that holds the lock. */
export interface HeldLock {
  readonly client: PoolClient;
  /** The fencing token. */
  readonly fence: string;
  readonly transactions: Transactions<PoolClient>;
}

/**
 * Holds a processor's name with an advisory lock, which the database releases when the connection ends, and with a
 * fencing token, a number that each holder increments. A holder that lost the lock without noticing cannot save a
 * cursor, because its token is no longer the current one.
 */
export const acquireLock = (pool: Pool, options: LockOptions): Observable<HeldLock> =>
  connect(pool, options.timeoutMs).pipe(
    switchMap((connection) =>
      (options.ready?.(connection.client) ?? of(true)).pipe(
        takeLast(1),
        switchMap(() => nextFence(connection, options)),
        switchMap((fence) => whileConnected(connection, options, fence)),
      ),
    ),
  );

/**
 * A machine that fails does not close its connections. With these settings the database notices that within half a
 * minute instead of hours, even while it is waiting (since version 14). The values are in seconds, the last one in
 * milliseconds.
 */
const keepAliveSettings = `SELECT set_config(wanted.name, wanted.value, false)
  FROM (VALUES ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
    ('client_connection_check_interval', '5000')) AS wanted (name, value)
  JOIN pg_settings USING (name)`;

/** Waits for the lock, then increments the fencing token and emits it. */
const nextFence = ({ client }: Connection, options: LockOptions): Observable<string> => {
  const { tables, name, timeoutMs, pollMs, standBy } = options;
  const lock = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isLocked"';
  const fence = `INSERT INTO ${tables.cursors} AS c (name, fence) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET fence = c.fence + 1 RETURNING fence::text AS fence`;
  return query(client, timeoutMs, keepAliveSettings, []).pipe(
    concatMap(() => query(client, timeoutMs, lock, [`${tables.id} ${name}`]).pipe(repeat({ delay: pollMs }))),
    filter(([row]) => {
      if (row?.['isLocked'] === true) return true;
      standBy?.();
      return false;
    }),
    take(1),
    concatMap(() => query(client, timeoutMs, fence, [name])),
    map(([row]) => String(row?.['fence'])),
  );
};

/**
 * Returns transactions that carry the fencing token. Errors when the connection breaks while no transaction is open; an
 * open one fails by itself.
 */
function whileConnected(
  { client, lost$ }: Connection,
  { tables, name, isolation, timeoutMs }: LockOptions,
  fence: string,
): Observable<HeldLock> {
  let isInTransaction = false;
  // a projection records where the cursor is, to know how far the processor has come
  const cursor = client.escapeLiteral(JSON.stringify([tables.id, name]));
  const begin = `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL canton_rx.fence = '${fence}'; SET LOCAL canton_rx.cursor = ${cursor}`;
  const transactions = trackOpen(transactionsOn(client, { begin, timeoutMs, processor: name }), (isOpen) => {
    isInTransaction = isOpen;
  });
  const lostWhileIdle$ = lost$.pipe(
    catchError((error: unknown) => {
      if (isInTransaction) return NEVER;
      throw error;
    }),
  );
  return merge([{ client, fence, transactions }], lostWhileIdle$);
}
