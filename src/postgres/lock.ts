import type { Pool, PoolClient } from 'pg';
import {
  catchError,
  concatMap,
  filter,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  repeat,
  switchMap,
  take,
  takeLast,
} from 'rxjs';
import type { Transactions } from '../process/CheckpointStore.js';
import { trackOpen } from '../process/whileStoreHeld.js';
import { connect, type Connection, query, transactionsOn } from './connection.js';
import type { Tables } from './tables.js';

/** The lock on a processor's name, and the transactions under it. */
interface LockOptions {
  readonly tables: Tables;
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
