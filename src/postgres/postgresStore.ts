import type { ClientBase, Pool, PoolClient } from 'pg';
import {
  catchError,
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
} from 'rxjs';
import { StoreError } from '../errors/process.js';
import { HandlerFailure } from '../process/callHandler.js';
import type { TransactionalStore } from '../process/CheckpointStore.js';
import type { Cursor } from '../process/Cursor.js';
import { query, connect, isSpoilt, transactionsOn } from './connection.js';
import { acquireLock } from './lock.js';
import { type Tables, tablesIn, ensureTables } from './tables.js';

/** How a store uses the database. */
export interface PostgresStoreOptions {
  /**
   * The database. A processor keeps one of its connections for as long as it works, or waits for another to end; a pool
   * in transaction mode in between (PgBouncer, say) keeps no locks, and only the check at each commit is left then.
   */
  readonly pool: Pool;
  /**
   * The schema of the tables, a plain name.
   *
   * @defaultValue 'public'
   */
  readonly schema?: string | undefined;
  /**
   * Whether to make the tables where they are missing; {@link postgresTables} has the SQL for those who do it themselves.
   *
   * @defaultValue true
   */
  readonly createTables?: boolean | undefined;
  /**
   * The isolation of the transactions. Where the database fails one because of others, it is done once more.
   *
   * @defaultValue 'READ COMMITTED'
   */
  readonly isolation?: 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE' | undefined;
  /**
   * How often a processor that waits for another of its name looks whether that has ended, in milliseconds.
   *
   * @defaultValue 1000
   */
  readonly pollMs?: number | undefined;
  /**
   * How long the database may take to begin or end a transaction, or for a lock, in milliseconds. Then the connection is
   * taken for lost.
   *
   * @defaultValue 30000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Keeps the place of processors in PostgreSQL (12 and later), in the transactions in which their handlers work: what a
 * handler does with its `tx`, and that it has done so, are committed together or not at all. Of several processors of one
 * name, one works; when it ends, the next goes on, and no update takes effect twice.
 *
 * @throws TypeError for a schema that is no plain name
 * @example
 * ```ts
 * import { acsDelta, type Ledger } from 'canton-rx';
 * import { postgresStore } from 'canton-rx/postgres';
 * import { Pool } from 'pg';
 *
 * export const balances = (ledger: Ledger) =>
 *   ledger.process(
 *     { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) },
 *     (update, tx) => tx.query('INSERT INTO seen ("offset") VALUES ($1)', [update.offset]),
 *     { name: 'balances', store: postgresStore({ pool: new Pool() }) },
 *   );
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): TransactionalStore<PoolClient> {
  const { pool, schema = 'public', createTables = true, isolation = 'READ COMMITTED', pollMs = 1_000 } = options;
  const { timeoutMs = 30_000 } = options;
  const tables = tablesIn(schema);
  const { cursors, parked } = tables;
  const ask = (db: ClientBase | Pool, sql: string, values: readonly unknown[]): ReturnType<typeof query> =>
    query(db, timeoutMs, sql, values);
  // by name: another connection, for the place alone, might never come where each of the pool holds a name
  const holders = new Map<string, PoolClient>();
  const made$ = defer(() => (createTables ? ensureTables(pool, schema, timeoutMs) : of(true)));
  return {
    hold: (name) =>
      made$.pipe(
        switchMap(() => acquireLock(pool, { tables, name, isolation, timeoutMs, pollMs })),
        tap(({ client }) => holders.set(name, client)),
        map(({ transactions }) => transactions),
        finalize(() => holders.delete(name)),
      ),
    transactions: {
      transact: (work) =>
        made$.pipe(
          switchMap(() => connect(pool, timeoutMs)),
          // connected until the work is over
          switchMap(({ client }) => {
            const begin = `BEGIN ISOLATION LEVEL ${isolation}`;
            return transactionsOn(client, { begin, timeoutMs, processor: 'parked' }).transact(work).pipe(materialize());
          }),
          dematerialize(),
        ),
    },
    load: (name) =>
      defer(() =>
        ask(holders.get(name) ?? pool, `SELECT cursor::text AS cursor FROM ${cursors} WHERE name = $1`, [name]),
      ).pipe(map(([row]): unknown => (typeof row?.['cursor'] === 'string' ? JSON.parse(row['cursor']) : undefined))),
    save: (name, cursor, tx) => saveCursor(tx, tables, name, cursor, timeoutMs),
    park: (name, offset, record, tx) =>
      ask(
        tx,
        `INSERT INTO ${parked} (name, "offset", record) VALUES ($1, $2, $3)
        ON CONFLICT (name, "offset") DO UPDATE SET record = excluded.record`,
        [name, offset, JSON.stringify(record)],
      ),
    parked: (name) => made$.pipe(concatMap(() => readParked(pool, tables, name, timeoutMs))),
    unpark: (name, offset, tx) =>
      ask(tx, `DELETE FROM ${parked} WHERE name = $1 AND "offset" = $2 RETURNING true`, [name, offset]).pipe(
        map((rows) => rows.length === 1),
      ),
  };
}

/** The number of this transaction's holder; the database forgets it when the transaction ends, whoever ends it. */
const fence = `nullif(current_setting('canton_rx.fence', true), '')`;

/** Saves a cursor in a transaction, if it is still the same one, and the name still held. */
const saveCursor = (
  tx: ClientBase,
  { cursors }: Tables,
  name: string,
  cursor: Cursor,
  timeoutMs: number,
): Observable<unknown> => {
  const save = `UPDATE ${cursors} SET cursor = $2, saved_at = now()
    WHERE name = $1 AND fence = ${fence}::bigint RETURNING true`;
  return query(tx, timeoutMs, save, [name, JSON.stringify(cursor)]).pipe(
    concatMap((rows) => (rows.length === 1 ? of(true) : refused(tx, name, timeoutMs))),
    catchError((error: unknown) => {
      throw isSpoilt(error)
        ? new HandlerFailure(new Error('the handler left its transaction failed', { cause: error }), 0)
        : error;
    }),
  );
};

const refused = (tx: ClientBase, name: string, timeoutMs: number): Observable<never> =>
  query(tx, timeoutMs, `SELECT ${fence} IS NULL AS "isEnded"`, []).pipe(
    concatMap(([row]) => {
      if (row?.['isEnded'] === true) throw new HandlerFailure(new Error('the handler has ended its transaction'), 0);
      throw new StoreError('save', name, 'another process holds the name by now');
    }),
  );

/** How many records are read at a time. */
const pageSize = 100;

/** What was parked under a name, by ascending offset. */
const readParked = (pool: Pool, { parked }: Tables, name: string, timeoutMs: number): Observable<unknown> => {
  const select = `SELECT "offset"::text AS "offset", record::text AS record FROM ${parked}
    WHERE name = $1 AND "offset" > $2 ORDER BY ${parked}."offset" LIMIT ${pageSize}`;
  const after = (offset: string): ReturnType<typeof query> => query(pool, timeoutMs, select, [name, offset]);
  return after('-1').pipe(
    expand((rows) => (rows.length < pageSize ? EMPTY : after(String(rows.at(-1)?.['offset'])))),
    concatMap((rows) => rows),
    map((row): unknown => JSON.parse(String(row['record']))),
  );
};
