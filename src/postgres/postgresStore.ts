import type { ClientBase, Pool, PoolClient } from 'pg';
import { concatMap, defer, dematerialize, finalize, map, materialize, of, switchMap, tap } from 'rxjs';
import type { TransactionalStore } from '../process/CheckpointStore.js';
import { asked } from './asked.js';
import { connected } from './connected.js';
import { holding } from './holding.js';
import { parkedIn } from './parkedIn.js';
import { tablesIn } from './postgresTables.js';
import { saved } from './saved.js';
import { tablesMade } from './tablesMade.js';
import { transactionsOn } from './transactionsOn.js';

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
  const ask = (db: ClientBase | Pool, sql: string, values: readonly unknown[]): ReturnType<typeof asked> =>
    asked(db, timeoutMs, sql, values);
  // by name: another connection, for the place alone, might never come where each of the pool holds a name
  const holders = new Map<string, PoolClient>();
  const made$ = defer(() => (createTables ? tablesMade(pool, schema, timeoutMs) : of(true)));
  return {
    hold: (name) =>
      made$.pipe(
        switchMap(() => holding(pool, { tables, name, isolation, timeoutMs, pollMs })),
        tap(({ client }) => holders.set(name, client)),
        map(({ transactions }) => transactions),
        finalize(() => holders.delete(name)),
      ),
    transactions: {
      transact: (work) =>
        made$.pipe(
          switchMap(() => connected(pool, timeoutMs)),
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
    save: (name, cursor, tx) => saved(tx, tables, name, cursor, timeoutMs),
    park: (name, offset, record, tx) =>
      ask(
        tx,
        `INSERT INTO ${parked} (name, "offset", record) VALUES ($1, $2, $3)
        ON CONFLICT (name, "offset") DO UPDATE SET record = excluded.record`,
        [name, offset, JSON.stringify(record)],
      ),
    parked: (name) => made$.pipe(concatMap(() => parkedIn(pool, tables, name, timeoutMs))),
    unpark: (name, offset, tx) =>
      ask(tx, `DELETE FROM ${parked} WHERE name = $1 AND "offset" = $2 RETURNING true`, [name, offset]).pipe(
        map((rows) => rows.length === 1),
      ),
  };
}
