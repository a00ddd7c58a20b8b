import { expect, it } from '@jest/globals';
import { Pool, type PoolClient } from 'pg';
import { filter, firstValueFrom, lastValueFrom, map, toArray } from 'rxjs';
import { isLedgerError } from '../../src/index.js';
import type { Handler } from '../../src/process/index.js';
import { processIdOf } from '../../src/postgres/checkSession.js';
import { connect } from '../../src/postgres/connection.js';
import { postgresStore } from '../../src/postgres/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { isAlive, sendSignal } from '../helpers/servers.js';
import { eventually, until } from '../helpers/time.js';
import { cuttingProxy, insert, poolOf, sandboxWorlds, withDatabase } from './support.js';

describeWithPostgres('postgresStore beside other users of the database', () => {
  const database = withDatabase();
  const { seen } = database;
  const world = sandboxWorlds(database);

  const totals = async (): Promise<readonly number[]> => {
    const { rows } = await database.pool.query<{ n: number }>('SELECT n FROM total ORDER BY id');
    return rows.map(({ n }) => n);
  };

  it.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'repeats a transaction that fails because of a concurrent one: %s (G41)',
    async (isolation) => {
      const { all, work } = await world(60);
      let others = 0;
      const handler: Handler<PoolClient> = async (update, tx) => {
        const { rows } = await tx.query<{ n: number }>('SELECT n FROM total WHERE id = 1');
        // sometimes another writer commits in between
        if (update.offset % 7 === 0 && others < 15) {
          others += 1;
          await database.pool.query('UPDATE total SET n = n + 1 WHERE id = 1');
        }
        await tx.query('UPDATE total SET n = $1 WHERE id = 1', [(rows[0]?.n ?? 0) + 1]);
        await insert()(update, tx);
      };
      const store = postgresStore({ pool: database.pool, pollMs: 20, isolation });
      await work(handler, { store, commitEvery: { updates: 1 } });
      expect(await seen()).toEqual(all);
      expect(others).toBeGreaterThan(3);
      // no write of either is lost
      expect((await totals())[0]).toBe(all.length + others);
    },
  );

  it('repeats the transactions of two processors after a deadlock', async () => {
    const { all, work } = await world(40);
    await database.pool.query(`ALTER DATABASE postgres SET deadlock_timeout = '10ms'`);
    const started = new Set<number>();
    const crossing =
      (first: number, second: number): Handler<PoolClient> =>
      async (_, tx) => {
        await tx.query('UPDATE total SET n = n + 1 WHERE id = $1', [first]);
        // the first time, each waits until the other has locked the row that it needs next
        started.add(first);
        await until(() => started.has(second));
        await tx.query('UPDATE total SET n = n + 1 WHERE id = $1', [second]);
      };
    const ends = [crossing(1, 2), crossing(2, 1)].map((handler, n) =>
      work(handler, { name: `p${n}`, commitEvery: { updates: 3 }, handlerRetry: { giveUpAfterMs: 0 } }),
    );
    await Promise.all(ends);
    expect(await totals()).toEqual([2 * all.length, 2 * all.length]);
    // a server process reports its statistics from time to time, and when it ends
    await until(async () => {
      const { rows } = await database.pool.query<{ deadlocks: string }>(
        `SELECT pg_stat_clear_snapshot(), deadlocks FROM pg_stat_database WHERE datname = current_database()`,
      );
      return Number(rows[0]?.deadlocks) > 0;
    });
  });

  it.each(['stop', 'park'] as const)(
    'treats a commit that breaks a rule as a failure of the handler: %s (G41)',
    async (onHandlerFailure) => {
      const { all, work } = await world(30);
      await database.pool.query(
        'CREATE TABLE owner ("offset" bigint REFERENCES seen ("offset") DEFERRABLE INITIALLY DEFERRED)',
      );
      const poison = all[13] ?? 0;
      const handler: Handler<PoolClient> = async (update, tx) => {
        await insert()(update, tx);
        if (update.offset === poison) await tx.query('INSERT INTO owner VALUES (-1)');
      };
      const how = { handlerRetry: { giveUpAfterMs: 0 }, onHandlerFailure } as const;
      const error = await work(handler, how).catch((cause: unknown) => cause);
      if (onHandlerFailure === 'stop') expect(isLedgerError(error, 'HandlerError') && error.offset).toBe(poison);
      expect(await seen()).toEqual(
        all.filter((offset) => (onHandlerFailure === 'stop' ? offset < poison : offset !== poison)),
      );
    },
  );

  it('treats a commit that a trigger of the user refuses as a failure of the handler (G41)', async () => {
    const { all, work } = await world(10);
    await database.pool.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the total is wrong'; END $$`);
    await database.pool.query(`CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON seen DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW."offset" = ${all[5] ?? 0}) EXECUTE FUNCTION refuse()`);
    await work(insert(), { handlerRetry: { giveUpAfterMs: 0 }, onHandlerFailure: 'park' });
    expect(await seen()).toEqual(all.filter((offset) => offset !== all[5]));
  });

  it('treats a commit that the database refuses repeatedly as a failure of the database', async () => {
    const { ledger, all, work } = await world(10);
    await database.pool.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '40001'; END $$`);
    await database.pool.query(`CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON seen DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW."offset" = ${all[5] ?? 0}) EXECUTE FUNCTION refuse()`);
    const done = work();
    const scheduled = await new Promise<unknown>((resolve, reject) => {
      ledger.diagnostics$.subscribe((diagnostic) => {
        if (diagnostic._tag === 'RetryScheduled') resolve(diagnostic.cause);
      });
      done.catch(reject);
    });
    expect(isLedgerError(scheduled, 'StoreError')).toBe(true);
    await database.pool.query('DROP TRIGGER refused ON seen');
    await done;
    expect(await seen()).toEqual(all);
  });

  it.each([
    ['has no room', '53100'],
    ['has no memory', '53200'],
    ['has no connection', '53300'],
    ['does not get a lock', '55P03'],
    ['is read-only after a failover', '25006'],
    ['cannot read a file', '58030'],
    ['requires a repetition each time', '40001'],
  ])('does not skip an update because the database %s while its handler works (G42)', async (_, code) => {
    const { ledger, all, diagnostics, work } = await world(10);
    await database.pool.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '${code}'; END $$`);
    await database.pool.query(`CREATE TRIGGER refused BEFORE INSERT ON seen
      FOR EACH ROW WHEN (NEW."offset" = ${all[5] ?? 0}) EXECUTE FUNCTION refuse()`);
    const refused = firstValueFrom(
      ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'RetryScheduled' || _tag === 'UpdateSkipped')),
    );
    const done = work(insert(), { handlerRetry: { giveUpAfterMs: 0 }, onHandlerFailure: 'skip' });
    expect(await refused).toMatchObject({ cause: { _tag: 'StoreError', operation: 'commit' } });
    await database.pool.query('DROP TRIGGER refused ON seen');
    await done;
    expect(await seen()).toEqual(all);
    expect(diagnostics.filter(({ _tag }) => _tag === 'UpdateSkipped')).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    'neither loses nor repeats an update when connections are cut %s a COMMIT (G40)',
    async (when) => {
      const { all, diagnostics, process$ } = await world(effort(150, 400));
      const proxy = await cuttingProxy(database.server.url, when, 3);
      const cut = poolOf(proxy.url, 5);
      const store = postgresStore({ pool: cut, pollMs: 5 });
      const committed = await lastValueFrom(process$(insert(), { store, commitEvery: { updates: 5 } }).pipe(toArray()));
      await cut.end();
      proxy.close();
      expect(await seen()).toEqual(all);
      expect(proxy.cuts()).toBeGreaterThan(effort(5, 20, 5));
      const offsets = committed.map(({ offset }) => offset);
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      expect(diagnostics.filter(({ _tag }) => _tag === 'RetryScheduled').length).toBeGreaterThanOrEqual(
        effort(5, 20, 5),
      );
    },
  );

  it('reports nothing of a connection that it has closed to a pool, which would end a program without a listener', async () => {
    const pool = new Pool({ connectionString: database.server.url });
    const errors: unknown[] = [];
    pool.on('error', (error) => errors.push(error));
    const ended$ = connect(pool, 5_000).pipe(
      map(({ client }) => {
        const pid = processIdOf(client);
        sendSignal([pid], 'SIGTERM');
        // it waits, and does not read: what the server has said arrives after the connection is closed
        while (isAlive(pid));
        return client;
      }),
    );
    const client = await firstValueFrom(ended$);
    await new Promise((resolve) => client.once('end', resolve));
    expect(errors).toEqual([]);
    await pool.end();
  });

  it.each([1, 2])('works in a pool of %i connections', async (max) => {
    const { service, all, work } = await world(50);
    const small = poolOf(database.server.url, max);
    const store = postgresStore({ pool: small, pollMs: 5, timeoutMs: 60_000 });
    const half = all[25] ?? 0;
    for (const end of [half, service.ledgerEnd]) await work(insert(), { store, storeRetry: { giveUpAfterMs: 0 } }, end);
    await small.end();
    expect(await seen()).toEqual(all);
  });

  it('does not wait without a limit while another process creates the tables', async () => {
    const { work } = await world(1);
    const other = await database.pool.connect();
    await other.query(`SELECT pg_advisory_lock(hashtextextended('public.canton_rx_cursors', 1))`);
    const store = postgresStore({ pool: database.pool, timeoutMs: 100 });
    const failing = work(insert(), { store, storeRetry: { giveUpAfterMs: 0 } }, Infinity);
    await expect(failing).rejects.toMatchObject({ _tag: 'StoreError', operation: 'hold' });
    other.release(true);
  });

  it('leaves no connection or lock open, whenever it is unsubscribed', async () => {
    const { process$ } = await world(30);
    const store = postgresStore({ pool: database.pool, pollMs: 5 });
    for (let n = 0; n < effort(50, 200); n += 1) {
      const subscriptions = [1, 2].map(() =>
        process$(() => undefined, { store, commitEvery: { updates: 7 } }, Infinity).subscribe(),
      );
      await new Promise((resolve) => setTimeout(resolve, n % 25));
      for (const subscription of subscriptions) subscription.unsubscribe();
    }
    await until(() => database.pool.waitingCount === 0 && database.pool.totalCount === database.pool.idleCount);
    await eventually(() => database.read('SELECT name FROM canton_rx_leases WHERE holder IS NOT NULL'), []);
    expect(database.pool.totalCount).toBe(database.pool.idleCount);
  });
});
