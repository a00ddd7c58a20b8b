import type { ClientBase, Pool, PoolClient } from 'pg';
import {
  concatMap,
  defer,
  dematerialize,
  EMPTY,
  expand,
  finalize,
  map,
  materialize,
  type Observable,
  of,
  switchMap,
  tap,
  throwError,
} from 'rxjs';
import { StoreError } from '../errors/process.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { mapError } from '../http/retry.js';
import { HandlerFailure } from '../process/callHandler.js';
import type { Cursor, TransactionalStore, Transactions } from '../process/CheckpointStore.js';
import { checkParked } from '../process/checkParked.js';
import { connect, query, transactionsOn } from './connection.js';
import { CursorRows } from './CursorRows.js';
import { asStoreError, isFailedTransaction } from './databaseErrors.js';
import { holdLease } from './Lease.js';
import { ensureTables, type StoreTables, tablesIn } from './storeTables.js';

/**
 * Options of {@link postgresStore}.
 *
 * @category Stores
 */
export interface PostgresStoreOptions {
  /**
   * The database. A processor uses one connection of the pool while it works or waits for another processor to end, and
   * another one to renew its lease during a transaction of more than a few seconds. A connection pooler such as PgBouncer may
   * pool by session or by transaction, but not by statement.
   */
  readonly pool: Pool;
  /**
   * The schema of the tables: lower-case letters, digits and underscores.
   *
   * @defaultValue 'public'
   */
  readonly schema?: string | undefined;
  /**
   * Whether to create the tables if they are missing. For migrations, {@link postgresStoreSql} returns the SQL.
   *
   * @defaultValue true
   */
  readonly createTables?: boolean | undefined;
  /**
   * The isolation level of the transactions. A transaction that fails because of a concurrent one is repeated.
   *
   * @defaultValue 'READ COMMITTED'
   */
  readonly isolation?: 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE' | undefined;
  /**
   * The interval at which a processor tries to acquire its name while another one holds it, in milliseconds.
   *
   * @defaultValue 1000
   */
  readonly pollMs?: number | undefined;
  /**
   * The time limit for the database to begin or end a transaction or to grant a lock, in milliseconds. After that time
   * the connection counts as lost.
   *
   * @defaultValue 30000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Returns a store that saves the cursors of processors in PostgreSQL (12 or later), in the transactions that their
 * handlers work in. The statements that a handler runs on its `tx` are committed together with the cursor or not at
 * all. Of several processors with the same name, one works; when it ends, another one continues. No update takes effect
 * twice.
 *
 * @throws TypeError if the schema name would have to be quoted, or if a time is not a positive number
 * @example
 * ```ts
 * import { acsDelta, type Ledger } from 'canton-rx';
 * import { postgresStore } from 'canton-rx/postgres';
 * import { processFeed, updatesFeed } from 'canton-rx/process';
 * import { Pool } from 'pg';
 *
 * export const balances = (ledger: Ledger) =>
 *   processFeed(
 *     updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
 *     (update, tx) => tx.query('INSERT INTO seen ("offset") VALUES ($1)', [update.offset]),
 *     { name: 'balances', store: postgresStore({ pool: new Pool() }) },
 *   );
 * ```
 *
 * @category Stores
 */
export function postgresStore(options: PostgresStoreOptions): Required<TransactionalStore<PoolClient>> {
  const { pool, schema = 'public', createTables = true, isolation = 'READ COMMITTED', pollMs = 1_000 } = options;
  const { timeoutMs = 30_000 } = options;
  checkPositive({ pollMs, timeoutMs });
  const tables = tablesIn(schema);
  const { cursors, parked } = tables;
  const run = (db: ClientBase | Pool, sql: string, values: readonly unknown[]): ReturnType<typeof query> =>
    query(db, timeoutMs, sql, values);
  // a cursor is loaded over the connection that holds the name, because the pool may have no other one left
  const holders = new Map<string, PoolClient>();
  const lastHolders = new Map<string, string>();
  /** What the present holder of each name knows of its cursor. */
  const known = new Map<string, KnownCursor>();
  /** The names that were held. */
  const held = new Set<string>();
  const rows = new CursorRows(tables.id);
  const tablesReady$ = defer(() => ensureTables(pool, schema, timeoutMs, createTables));
  return {
    hold: (name, standBy) => {
      if (name.startsWith(outboxPrefix)) return throwError(() => nameOfOutbox(name));
      const ready = (client: PoolClient): Observable<unknown> => {
        holders.set(name, client);
        return ensureTables(client, schema, timeoutMs, createTables);
      };
      const released = (fence: string): void => {
        rows.released(name, fence);
      };
      const how = { tables, name, isolation, timeoutMs, pollMs, lastHolders, ready, standBy, released };
      return holdLease(pool, how).pipe(
        map(({ transactions }) => {
          held.add(name);
          const cursor: KnownCursor = {};
          known.set(name, cursor);
          return noting(transactions, cursor);
        }),
        mapError((error) => asStoreError('hold', name, schema, error, held.has(name))),
        finalize(() => holders.delete(name)),
      );
    },
    transactions: {
      transact: (work) =>
        tablesReady$.pipe(
          switchMap(() => connect(pool, timeoutMs)),
          // the connection never completes: the end of the work is emitted as a value and ends both
          switchMap(({ client }) => {
            const begin = `BEGIN ISOLATION LEVEL ${isolation}`;
            return transactionsOn(client, { begin, timeoutMs, processor: 'parked' }).transact(work).pipe(materialize());
          }),
          dematerialize(),
        ),
    },
    load: (name) =>
      defer(() =>
        run(
          holders.get(name) ?? pool,
          `SELECT cursor::text AS cursor, fence::text AS fence FROM ${cursors} WHERE name = $1`,
          [name],
        ),
      ).pipe(
        map(([row]): unknown => {
          const { cursor = null, fence } = (row ?? {}) as { readonly cursor?: string | null; readonly fence?: string };
          rows.read(name, fence, cursor !== null);
          // a standby of this program may load it, too
          const holder = known.get(name);
          if (holder !== undefined && holder.committed === undefined) holder.committed = cursor;
          return cursor === null ? undefined : JSON.parse(cursor);
        }),
      ),
    save: (name, cursor, tx) => saveCursor(tx, tables, name, cursor, timeoutMs, known.get(name)),
    park: (name, offset, record, tx) =>
      // as text: the operators of JSON refuse a whole record for a NUL, or half of a surrogate pair, in any of its texts
      run(tx, `SELECT record::text AS record FROM ${parked} WHERE name = $1 AND "offset" = $2 FOR UPDATE`, [
        name,
        offset,
      ]).pipe(
        tap(([before]) => {
          if (before !== undefined) checkParked(name, offset, JSON.parse(String(before['record'])), record);
        }),
        concatMap(() =>
          run(
            tx,
            `INSERT INTO ${parked} (name, "offset", record) VALUES ($1, $2, $3)
            ON CONFLICT (name, "offset") DO UPDATE SET record = excluded.record`,
            [name, offset, JSON.stringify(record)],
          ),
        ),
      ),
    parked: (name) => tablesReady$.pipe(concatMap(() => readParked(pool, tables, name, timeoutMs))),
    unpark: (name, offset, tx) =>
      run(tx, `DELETE FROM ${parked} WHERE name = $1 AND "offset" = $2 RETURNING true`, [name, offset]).pipe(
        map((rows) => rows.length === 1),
      ),
  };
}

/** What the names begin with under which outboxes hold their leases, which are in the same table. */
export const outboxPrefix = 'outbox ';

/** The error of a processor that would wait for an outbox, or an outbox for it. */
const nameOfOutbox = (name: string): StoreError =>
  new StoreError(
    'hold',
    name,
    'the name is that of an outbox',
    undefined,
    `give the processor a name that does not begin with "${outboxPrefix}"`,
  );

/**
 * The fencing token of this transaction. The database forgets it when the transaction ends, even if the handler ends
 * it.
 */
const fence = `nullif(current_setting('canton_rx.fence', true), '')`;

/** What the holder of a name knows of its cursor. */
interface KnownCursor {
  /** The cursor that was last loaded or committed, as text; `null` if there was none. Absent before it is loaded. */
  committed?: string | null;
  /** The cursor that the open transaction has saved. */
  saved?: string | undefined;
}

/** Returns the same transactions, and notes the cursor that each of them commits. */
const noting = (transactions: Transactions<PoolClient>, known: KnownCursor): Transactions<PoolClient> => {
  const committed = (): void => {
    if (known.saved !== undefined) known.committed = known.saved;
  };
  return {
    transact: (work) =>
      defer(() => {
        known.saved = undefined;
        // emits when it has committed
        return transactions.transact(work).pipe(tap({ next: committed, complete: committed }));
      }),
  };
};

/**
 * Saves a cursor if the transaction is still open, the name is still held, and the database still has the cursor before. One that has
 * lost its last commits, as a standby that took over, has an earlier one, and a pooler keeps the connection meanwhile: what was
 * committed since then would be left out.
 */
const saveCursor = (
  tx: ClientBase,
  { cursors }: StoreTables,
  name: string,
  cursor: Cursor,
  timeoutMs: number,
  known: KnownCursor = {},
): Observable<unknown> => {
  // a rule saves all that it remembers, which restores what is lost
  const committed = 'actions' in cursor ? undefined : known.committed;
  const isSame = committed === undefined ? '' : `AND cursor::text IS NOT DISTINCT FROM $3::text`;
  const save = `UPDATE ${cursors} SET cursor = $2, saved_at = now()
    WHERE name = $1 AND fence = ${fence}::bigint ${isSame} RETURNING true`;
  const text = JSON.stringify(cursor);
  return query(tx, timeoutMs, save, [name, text, ...(committed === undefined ? [] : [committed])]).pipe(
    concatMap((rows) => (rows.length === 1 ? of(true) : saveRefused(tx, cursors, name, timeoutMs))),
    tap(() => {
      known.saved = text;
    }),
    mapError((error) =>
      isFailedTransaction(error)
        ? new HandlerFailure(
            new Error('a statement of the handler failed, and the handler ignored it', { cause: error }),
            0,
          )
        : error,
    ),
  );
};

/** Fails with the reason why the cursor was not saved. */
const saveRefused = (tx: ClientBase, cursors: string, name: string, timeoutMs: number): Observable<never> => {
  const sql = `SELECT ${fence} IS NULL AS "isEnded",
    EXISTS (SELECT FROM ${cursors} WHERE name = $1 AND fence = ${fence}::bigint) AS "isHeld"`;
  return query(tx, timeoutMs, sql, [name]).pipe(
    concatMap(([row]) => {
      if (row?.['isEnded'] === true) throw new HandlerFailure(new Error('the handler has ended its transaction'), 0);
      const reason = row?.['isHeld'] === true ? 'the database has another cursor than was committed' : takenOver;
      throw new StoreError('hold', name, reason);
    }),
  );
};

const takenOver = 'another processor holds the name now';

/** The number of records per query. */
const pageSize = 100;

/** Emits the records that are parked under a name, in ascending order of offset. */
const readParked = (pool: Pool, { parked }: StoreTables, name: string, timeoutMs: number): Observable<unknown> => {
  const select = `SELECT "offset"::text AS "offset", record::text AS record FROM ${parked}
    WHERE name = $1 AND "offset" > $2 ORDER BY ${parked}."offset" LIMIT ${pageSize}`;
  const after = (offset: string): ReturnType<typeof query> => query(pool, timeoutMs, select, [name, offset]);
  return after('-1').pipe(
    expand((rows) => (rows.length < pageSize ? EMPTY : after(String(rows.at(-1)?.['offset'])))),
    concatMap((rows) => rows),
    map((row): unknown => JSON.parse(String(row['record']))),
  );
};
