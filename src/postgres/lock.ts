import type { Pool, PoolClient } from 'pg';
import {
  catchError,
  concatMap,
  defer,
  filter,
  finalize,
  map,
  merge,
  NEVER,
  type Observable,
  repeat,
  switchMap,
  take,
} from 'rxjs';
import type { Transactions } from '../process/CheckpointStore.js';
import { query, connect, type Connection, transactionsOn } from './connection.js';
import type { Tables } from './tables.js';

/** What is held, and how. */
interface Holding {
  readonly tables: Tables;
  readonly name: string;
  readonly isolation: string;
  readonly timeoutMs: number;
  /** How often to look whether the name is free. */
  readonly pollMs: number;
}

/** The name is held, by a connection. */
interface Held {
  readonly client: PoolClient;
  readonly transactions: Transactions<PoolClient>;
}

/**
 * Holds a processor's name: by a lock that the database lets go of when the connection ends, and by a number that goes up
 * with every holder. A transaction of one that has lost the lock unawares does not get past that number.
 */
export const acquireLock = (pool: Pool, how: Holding): Observable<Held> =>
  connect(pool, how.timeoutMs).pipe(
    switchMap((connection) =>
      locked(connection, how).pipe(switchMap((fence) => whileConnected(connection, how, fence))),
    ),
  );

/**
 * A machine that is gone says no good-bye: the database is to notice within half a minute, not after hours; and also where
 * it waits for something itself, as far as it can (since 14). In seconds, the last in milliseconds.
 */
const keepAliveSettings = `SELECT set_config(wanted.name, wanted.value, false)
  FROM (VALUES ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
    ('client_connection_check_interval', '5000')) AS wanted (name, value)
  JOIN pg_settings USING (name)`;

/** Waits for the lock, and emits the number of its holder. */
const locked = ({ client }: Connection, { tables, name, timeoutMs, pollMs }: Holding): Observable<string> => {
  const lock = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isLocked"';
  const fence = `INSERT INTO ${tables.cursors} AS c (name, fence) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET fence = c.fence + 1 RETURNING fence::text AS fence`;
  return query(client, timeoutMs, keepAliveSettings, []).pipe(
    concatMap(() => query(client, timeoutMs, lock, [`${tables.cursors} ${name}`]).pipe(repeat({ delay: pollMs }))),
    filter(([row]) => row?.['isLocked'] === true),
    take(1),
    concatMap(() => query(client, timeoutMs, fence, [name])),
    map(([row]) => String(row?.['fence'])),
  );
};

/** Transactions that carry the number; errors when the connection breaks, but not in one, which fails by itself. */
function whileConnected(
  { client, lost$ }: Connection,
  { name, isolation, timeoutMs }: Holding,
  fence: string,
): Observable<Held> {
  let isBusy = false;
  const begin = `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL canton_rx.fence = '${fence}'`;
  const transactions = transactionsOn(client, { begin, timeoutMs, processor: name });
  const transact: Transactions<PoolClient>['transact'] = (work) =>
    defer(() => {
      isBusy = true;
      return transactions.transact(work);
    }).pipe(
      finalize(() => {
        isBusy = false;
      }),
    );
  const lostIdle$ = lost$.pipe(
    catchError((error: unknown) => {
      if (isBusy) return NEVER;
      throw error;
    }),
  );
  return merge([{ client, transactions: { transact } }], lostIdle$);
}
