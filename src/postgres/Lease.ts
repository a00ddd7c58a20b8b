import type { ClientBase, Pool, PoolClient, QueryResult } from 'pg';
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  repeat,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import { StoreError } from '../errors/process.js';
import type { Transactions } from '../process/CheckpointStore.js';
import { clampTimer } from '../http/retry.js';
import { trackOpen } from '../process/whileHeld.js';
import { randomUuid } from '../submission/Run.js';
import { checkSession } from './checkSession.js';
import { connect, type Connection, query, transactionsOn } from './connection.js';
import { firstFence } from './CursorRows.js';
import { hasEnded, isExpired, isFree, isLockOf, leaseMs, lockKey, renewedAt } from './leaseSql.js';

/** The names of the tables of leases and fencing tokens, for SQL, and what identifies them in the names of locks. */
export interface LeaseTables {
  readonly cursors: string;
  readonly leases: string;
  readonly id: string;
}

/** The name to hold, and how. */
interface LeaseOptions {
  readonly tables: LeaseTables;
  readonly name: string;
  readonly isolation: string;
  readonly timeoutMs: number;
  /** The interval between attempts to acquire the lease while another holder has it, in milliseconds. */
  readonly pollMs: number;
  /** The last holder of each name in this program, which may have ended without releasing its lease. */
  readonly lastHolders: Map<string, string>;
  /** Checks over the connection whether the name can be used, before the lease is acquired. */
  readonly ready?: (client: PoolClient) => Observable<unknown>;
  /** Called each time that another holder is found to have the lease, or that the name is paused. */
  readonly standBy?: ((reason?: 'paused') => void) | undefined;
  /** Called when the name is released while no transaction may be open, with the fencing token if its row still exists. */
  readonly released?: (fence: string) => void;
}

/** A lease that is held. */
export interface Lease {
  readonly client: PoolClient;
  /** The fencing token. */
  readonly fence: string;
  readonly transactions: Transactions<PoolClient>;
}

/** The interval at which a lease is renewed, in milliseconds. */
const renewMs = 4_000;

/**
 * How many times a standby must find the same lease expired, and the interval in milliseconds. After the database stood still, or
 * its clock was set forward, this lets the leader renew its lease first.
 */
const confirmations = 5;
const confirmMs = 1_000;

/**
 * The time limit of a renewal over an idle connection, in milliseconds. Another holder may have the lease after that time.
 */
const maxRenewalMs = leaseMs + confirmations * confirmMs;

/**
 * Holds a processor's name. Emits once, and errors when the name is lost; unsubscribing releases the name.
 *
 * A lease is a row that its holder renews. Another one takes it over when it is released, when it has expired by the clock of
 * the database, or immediately when the database no longer has the holder's connection. So it works over any connection pooler
 * that keeps a transaction on one connection. A holder that was suspended may not know that it has lost its lease: each holder
 * increments a fencing token, without which no transaction can save a cursor.
 */
export const holdLease = (pool: Pool, options: LeaseOptions): Observable<Lease> =>
  connect(pool, options.timeoutMs).pipe(
    switchMap((connection) => {
      const { client } = connection;
      const { ready, timeoutMs } = options;
      return checkSession(client, timeoutMs).pipe(
        concatMap((isDirect) => {
          const holder = new Holder(pool, connection, options, isDirect);
          return (ready?.(client) ?? EMPTY).pipe(ignoreElements(), endWith(holder));
        }),
      );
    }),
    switchMap((holder) => holder.acquired$().pipe(switchMap((fence) => holder.held$(fence)))),
  );

/** The row of a lease. */
interface Found {
  readonly isFree: boolean;
  readonly isExpired: boolean;
  /** Whether no process may take it until it is resumed. */
  readonly isPaused: boolean;
  /** When it was last renewed, in seconds. */
  readonly renewedAt: string;
  /** The server process of the holder; `null` if it is not known. */
  readonly pid: number | null;
}

/** What an attempt to acquire a lease has found: the fencing token, or why there is none. */
type Attempt = { readonly fence: string } | 'held' | 'paused';

/** A holder of a name, or one that waits for it. */
class Holder {
  readonly #id = randomUuid();
  #isInTransaction = false;
  /** Whether the last transaction has not been committed. It may still be open, if it was unsubscribed from. */
  #mayBeInTransaction = false;

  constructor(
    private readonly pool: Pool,
    private readonly connection: Connection,
    private readonly options: LeaseOptions,
    private readonly isDirect: boolean,
  ) {}

  /** Waits for the lease, and emits the fencing token. */
  acquired$(): Observable<string> {
    const { pollMs, standBy } = this.options;
    return defer(() => {
      let expired: { readonly renewedAt: string; readonly times: number } | undefined;
      return this.#find().pipe(
        concatMap((found) => {
          if (found?.isPaused === true) return of<Attempt>('paused');
          if (found === undefined || found.isFree) return this.#take(found);
          const { isExpired, renewedAt } = found;
          const times = expired?.renewedAt === renewedAt ? expired.times + 1 : 1;
          expired = isExpired ? { renewedAt, times } : undefined;
          return isExpired && times >= confirmations ? this.#take(found) : of<Attempt>('held');
        }),
        tap((attempt) => {
          if (typeof attempt === 'string') standBy?.(attempt === 'paused' ? attempt : undefined);
        }),
        repeat({ delay: () => timer(expired === undefined ? clampTimer(pollMs) : confirmMs) }),
        filter((attempt) => typeof attempt !== 'string'),
        map(({ fence }) => fence),
        take(1),
      );
    });
  }

  /** Emits the lease, and renews it. Errors when it is lost while no transaction is open; an open one fails by itself. */
  held$(fence: string): Observable<Lease> {
    const { client, lost$ } = this.connection;
    const { tables, name, isolation, timeoutMs } = this.options;
    // a projection records where the cursor is, to know how far the processor has come
    const cursor = client.escapeLiteral(JSON.stringify([tables.id, name]));
    const begin = [
      `BEGIN ISOLATION LEVEL ${isolation}`,
      `SET LOCAL canton_rx.fence = '${fence}'`,
      `SET LOCAL canton_rx.cursor = ${cursor}`,
      // through a pooler, this shows the next holder which server process to end
      ...(this.isDirect ? [] : [`SELECT pg_advisory_xact_lock_shared(${lockKey(client.escapeLiteral(this.#lock))})`]),
      pausedIn(tables, client.escapeLiteral(name)),
    ].join('; ');
    const begun = (results: unknown): void => {
      if (isPausedIn(results)) throw paused(name);
    };
    const opened = trackOpen(transactionsOn(client, { begin, begun, timeoutMs, processor: name }), (isOpen) => {
      this.#isInTransaction = isOpen;
      this.#mayBeInTransaction ||= isOpen;
    });
    const transactions: Transactions<PoolClient> = {
      transact: (work) =>
        opened.transact(work).pipe(
          tap({
            complete: () => {
              this.#mayBeInTransaction = false;
            },
          }),
        ),
    };
    const lostWhileIdle$ = merge(lost$, this.#renewals$()).pipe(
      catchError((error: unknown) => {
        if (this.#isInTransaction) return NEVER;
        throw error;
      }),
    );
    return merge([{ client, fence, transactions }], lostWhileIdle$);
  }

  /** Identifies the name in the name of a lock. */
  get #lock(): string {
    return `${this.options.tables.id} ${this.options.name}`;
  }

  #query(sql: string, values: readonly unknown[], db: ClientBase | Pool = this.connection.client) {
    return query(db, this.options.timeoutMs, sql, values);
  }

  /** Emits the row of the lease; `undefined` if the name was never held. */
  #find(): Observable<Found | undefined> {
    const { tables, name, lastHolders } = this.options;
    const sql = `SELECT coalesce(${isFree} OR l.holder = $2, false) AS "isFree", ${isExpired} AS "isExpired",
      l.paused_at IS NOT NULL AS "isPaused", ${renewedAt} AS "renewedAt", l.pid FROM ${tables.leases} l WHERE l.name = $1`;
    return this.#query(sql, [name, lastHolders.get(name)]).pipe(map(([row]) => row as Found | undefined));
  }

  /**
   * Takes the lease if it has not changed since it was found, ends what its former holder still does, and emits the incremented
   * fencing token. Emits `'held'` if another holder was faster, or a pause.
   */
  #take(found: Found | undefined): Observable<Attempt> {
    const { tables, name, lastHolders } = this.options;
    const take = `INSERT INTO ${tables.leases} AS l (name, holder, pid, renewed_at)
      VALUES ($1, $2, CASE WHEN $3::boolean THEN pg_backend_pid() END, clock_timestamp())
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, pid = excluded.pid, renewed_at = excluded.renewed_at
      WHERE l.paused_at IS NULL AND (${isFree} OR l.holder = $4 OR (${renewedAt} = $5 AND ${isExpired}))
      RETURNING true`;
    const fence = `INSERT INTO ${tables.cursors} AS c (name, fence) SELECT name, ${firstFence} FROM ${tables.leases} WHERE name = $1 AND holder = $2
      ON CONFLICT (name) DO UPDATE SET fence = c.fence + 1 RETURNING fence::text AS fence`;
    const values = [name, this.#id, this.isDirect, lastHolders.get(name), found?.renewedAt];
    return defer(() => {
      this.connection.setLast(this.#released$());
      return this.#query(take, values);
    }).pipe(
      concatMap((taken) => {
        if (taken.length === 0) return of<Attempt>('held');
        return concat(
          this.#formerEnded$(found),
          this.#query(fence, [name, this.#id]).pipe(
            map(([row]): Attempt => (typeof row?.['fence'] === 'string' ? { fence: row['fence'] } : 'held')),
          ),
        );
      }),
    );
  }

  /**
   * Ends the server processes of former holders: the connection of one that is suspended or has vanished, and open transactions,
   * which would keep rows locked. A process that is younger than the lease has only the same ID. Not every user may end those of
   * another: then they remain until the database notices.
   */
  #formerEnded$(found: Found | undefined): Observable<never> {
    const sql = `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
      WHERE a.pid <> pg_backend_pid() AND (a.pid = $1::int AND a.backend_start <= to_timestamp($2::float8)
        OR a.pid IN (SELECT l.pid FROM pg_locks l WHERE ${isLockOf('$3')}))`;
    return this.#query(sql, [found?.pid, found?.renewedAt, this.#lock]).pipe(
      catchError(() => EMPTY),
      ignoreElements(),
    );
  }

  /**
   * Renews the lease from time to time. Errors when another holder has it, when the name is paused, when it was released because the
   * cursor was moved, or when the database does not answer in time.
   */
  #renewals$(): Observable<never> {
    const { tables, name } = this.options;
    // a pooler may have announced the ID of a server process; this detects it
    const renew = `UPDATE ${tables.leases} l SET renewed_at = clock_timestamp(), pid = CASE WHEN $3::boolean OR pid = pg_backend_pid() THEN pid END
      WHERE name = $1 AND holder = $2 RETURNING l.paused_at IS NOT NULL AS "isPaused", ${hasEnded} AS "hasEnded"`;
    return timer(renewMs, renewMs).pipe(
      exhaustMap(() => {
        const { pool } = this;
        // in an open transaction, the renewal would be visible only after the commit
        const isElsewhere = this.#isInTransaction;
        if (isElsewhere && !mayConnect(pool)) return EMPTY;
        return query(isElsewhere ? pool : this.connection.client, maxRenewalMs, renew, [
          name,
          this.#id,
          isElsewhere,
        ]).pipe(
          map(([row]) => {
            // its transaction cannot be committed, and where the network has swallowed the end, its statement would wait forever
            if (isElsewhere && row?.['hasEnded'] !== false) void this.connection.client.end();
            if (row === undefined) throw new StoreError('hold', name, 'another processor holds the name now');
            if (row['isPaused'] === true) throw paused(name);
          }),
          catchError((error: unknown) => {
            if (this.#isInTransaction || isElsewhere) return EMPTY;
            throw error;
          }),
        );
      }),
      ignoreElements(),
    );
  }

  /** Reports that the row of the fencing token still exists. The lease is released also if that cannot be read. */
  #rowFound$(): Observable<never> {
    const { tables, name, released } = this.options;
    if (released === undefined) return EMPTY;
    return this.#query(`SELECT fence::text AS fence FROM ${tables.cursors} WHERE name = $1`, [name]).pipe(
      tap(([row]) => {
        if (typeof row?.['fence'] === 'string') released(row['fence']);
      }),
      ignoreElements(),
      catchError(() => EMPTY),
    );
  }

  /** Releases the lease: over another connection if this one may have an open transaction, which is rolled back. */
  #released$(): Observable<unknown> {
    const { tables, name, lastHolders } = this.options;
    const release = `UPDATE ${tables.leases} SET holder = NULL, pid = NULL WHERE name = $1 AND holder = $2`;
    return defer(() => {
      lastHolders.set(name, this.#id);
      if (!this.#mayBeInTransaction) return concat(this.#rowFound$(), this.#query(release, [name, this.#id]));
      return mayConnect(this.pool) ? this.#query(release, [name, this.#id], this.pool) : EMPTY;
    });
  }
}

/** SQL: has a row if a name is paused. It is the last statement that begins a transaction, so that none begins after a pause. */
const pausedIn = ({ leases }: LeaseTables, name: string): string =>
  `SELECT FROM ${leases} WHERE name = ${name} AND paused_at IS NOT NULL`;

/** Whether the results of these statements say that the name is paused. */
const isPausedIn = (results: unknown): boolean =>
  Array.isArray(results) && (results.at(-1) as QueryResult | undefined)?.rowCount === 1;

/** The error of a holder whose name was paused: it waits until it is resumed. */
const paused = (name: string): StoreError =>
  new StoreError('hold', name, 'it is paused, and waits until it is resumed');

/** Whether a pool can give a connection immediately. */
const mayConnect = ({ waitingCount, idleCount, totalCount, options }: Pool): boolean =>
  waitingCount === 0 && (idleCount > 0 || totalCount < options.max);
