import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import {
  acsDelta,
  createLedger,
  type Handler,
  isHandlerError,
  isStoreError,
  type Diagnostic,
  type ProcessOptions,
} from '../../src/index.js';
import { postgresStore } from '../../src/postgres/index.js';
import { comesToBe } from '../helpers/comesToBe.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../helpers/postgresServer.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { until } from '../helpers/servers.js';
import { cuttingProxy } from './cuttingProxy.js';

const sandbox = sandboxes();

describeWithPostgres('postgresStore and others', () => {
  let server: PostgresServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    pool = new Pool({ connectionString: server.url, max: 12 });
    pool.on('error', () => undefined);
    await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, seen, total, owner');
    await pool.query('CREATE TABLE seen (n serial, "offset" bigint PRIMARY KEY)');
    await pool.query('CREATE TABLE total (id int PRIMARY KEY, n int NOT NULL)');
    await pool.query('INSERT INTO total VALUES (1, 0), (2, 0)');
  });
  afterEach(async () => {
    await pool.end();
  });

  const insert: Handler<PoolClient> = ({ offset }, tx) => tx.query('INSERT INTO seen ("offset") VALUES ($1)', [offset]);
  const seen = async (): Promise<readonly number[]> => {
    const { rows } = await pool.query<{ offset: string }>('SELECT "offset"::text AS "offset" FROM seen ORDER BY n');
    return rows.map(({ offset }) => Number(offset));
  };
  const totals = async (): Promise<readonly number[]> => {
    const { rows } = await pool.query<{ n: number }>('SELECT n FROM total ORDER BY id');
    return rows.map(({ n }) => n);
  };
  const request = (endInclusive?: number) => ({
    beginExclusive: 0,
    updateFormat: acsDelta({ parties: 'any' }),
    ...(endInclusive !== undefined && { endInclusive }),
  });
  const options = (more: Omit<ProcessOptions<PoolClient>, 'batch'> = {}) => ({
    name: 'seen',
    store: postgresStore({ pool, pollMs: 20 }),
    ...more,
  });
  const world = async (updates: number) => {
    const service = await sandbox();
    service.generate(updates, { seed: 5 });
    const ledger = createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    const all = (await lastValueFrom(ledger.updates(request(service.ledgerEnd)).pipe(toArray()))).map(
      ({ offset }) => offset,
    );
    const events: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((event) => events.push(event));
    return { service, ledger, all, events };
  };

  it.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'does a transaction once more that another has come in the way of: %s',
    async (isolation) => {
      const { service, ledger, all } = await world(60);
      let others = 0;
      const handler: Handler<PoolClient> = async (update, tx) => {
        const { rows } = await tx.query<{ n: number }>('SELECT n FROM total WHERE id = 1');
        // another writer commits in between, now and then
        if (update.offset % 7 === 0 && others < 15) {
          others += 1;
          await pool.query('UPDATE total SET n = n + 1 WHERE id = 1');
        }
        await tx.query('UPDATE total SET n = $1 WHERE id = 1', [(rows[0]?.n ?? 0) + 1]);
        await insert(update, tx);
      };
      const store = postgresStore({ pool, pollMs: 20, isolation });
      await lastValueFrom(
        ledger.process(request(service.ledgerEnd), handler, options({ store, commitEvery: { updates: 1 } })),
      );
      expect(await seen()).toEqual(all);
      expect(others).toBeGreaterThan(3);
      // no write of either is lost
      expect((await totals())[0]).toBe(all.length + others);
    },
  );

  it('does the transactions of two processors again that wait for each other', async () => {
    const { service, ledger, all } = await world(40);
    await pool.query(`ALTER DATABASE postgres SET deadlock_timeout = '10ms'`);
    const begun = new Set<number>();
    const crossing =
      (first: number, second: number): Handler<PoolClient> =>
      async (_, tx) => {
        await tx.query('UPDATE total SET n = n + 1 WHERE id = $1', [first]);
        // the first time, each waits for the other to have locked what it wants next
        begun.add(first);
        await until(() => begun.has(second));
        await tx.query('UPDATE total SET n = n + 1 WHERE id = $1', [second]);
      };
    const ends = [crossing(1, 2), crossing(2, 1)].map((handler, n) =>
      lastValueFrom(
        ledger.process(
          request(service.ledgerEnd),
          handler,
          options({ name: `p${n}`, commitEvery: { updates: 3 }, handlerRetry: { giveUpAfterMs: 0 } }),
        ),
      ),
    );
    await Promise.all(ends);
    expect(await totals()).toEqual([2 * all.length, 2 * all.length]);
    // a server process tells now and then, or when it ends
    await until(async () => {
      const { rows } = await pool.query<{ deadlocks: string }>(
        `SELECT pg_stat_clear_snapshot(), deadlocks FROM pg_stat_database WHERE datname = current_database()`,
      );
      return Number(rows[0]?.deadlocks) > 0;
    });
  });

  it.each(['stop', 'park'] as const)(
    'takes what cannot be committed for the work of its handler: %s',
    async (onPoison) => {
      const { service, ledger, all } = await world(30);
      await pool.query('CREATE TABLE owner ("offset" bigint REFERENCES seen ("offset") DEFERRABLE INITIALLY DEFERRED)');
      const poison = all[13] ?? 0;
      const handler: Handler<PoolClient> = async (update, tx) => {
        await insert(update, tx);
        if (update.offset === poison) await tx.query('INSERT INTO owner VALUES (-1)');
      };
      const how = options({ handlerRetry: { giveUpAfterMs: 0 }, onPoison });
      const error = await lastValueFrom(ledger.process(request(service.ledgerEnd), handler, how)).catch(
        (cause: unknown) => cause,
      );
      if (onPoison === 'stop') expect(isHandlerError(error) && error.offset).toBe(poison);
      expect(await seen()).toEqual(all.filter((offset) => (onPoison === 'stop' ? offset < poison : offset !== poison)));
    },
  );

  it('takes a commit that the database refuses time and again for its failure', async () => {
    const { service, ledger, all } = await world(10);
    await pool.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '40001'; END $$`);
    await pool.query(`CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON seen DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW."offset" = ${all[5] ?? 0}) EXECUTE FUNCTION refuse()`);
    const done = lastValueFrom(ledger.process(request(service.ledgerEnd), insert, options()));
    const event = await firstValueFrom(ledger.diagnostics$);
    expect(event).toBeDefined();
    const scheduled = await new Promise<unknown>((resolve, reject) => {
      ledger.diagnostics$.subscribe((told) => {
        if (told._tag === 'RetryScheduled') resolve(told.cause);
      });
      done.catch(reject);
    });
    expect(isStoreError(scheduled)).toBe(true);
    await pool.query('DROP TRIGGER refused ON seen');
    await done;
    expect(await seen()).toEqual(all);
  });

  it.each(['before', 'behind'] as const)(
    'neither loses nor repeats anything when connections are cut %s a COMMIT',
    async (when) => {
      const { service, ledger, all, events } = await world(400);
      const proxy = await cuttingProxy(server.url, when, 3);
      const cut = new Pool({ connectionString: proxy.url, max: 5 });
      cut.on('error', () => undefined);
      const store = postgresStore({ pool: cut, pollMs: 5 });
      const committed = await lastValueFrom(
        ledger
          .process(request(service.ledgerEnd), insert, options({ store, commitEvery: { updates: 5 } }))
          .pipe(toArray()),
      );
      await cut.end();
      proxy.close();
      expect(await seen()).toEqual(all);
      expect(proxy.cuts()).toBeGreaterThan(20);
      const offsets = committed.map(({ offset }) => offset);
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      expect(events.filter((event) => event._tag === 'RetryScheduled').length).toBeGreaterThanOrEqual(20);
    },
  );

  it.each([1, 2])('works in a pool of %i connections', async (max) => {
    const { service, ledger, all } = await world(50);
    const small = new Pool({ connectionString: server.url, max });
    small.on('error', () => undefined);
    const store = postgresStore({ pool: small, pollMs: 5, timeoutMs: 60_000 });
    const half = all[25] ?? 0;
    for (const end of [half, service.ledgerEnd])
      await lastValueFrom(ledger.process(request(end), insert, options({ store, retry: { giveUpAfterMs: 0 } })));
    await small.end();
    expect(await seen()).toEqual(all);
  });

  it('does not wait for ever for the tables to be made by another', async () => {
    const { ledger } = await world(1);
    const other = await pool.connect();
    await other.query(`SELECT pg_advisory_lock(hashtextextended('public.canton_rx_cursors', 1))`);
    const store = postgresStore({ pool, timeoutMs: 100 });
    const failing = lastValueFrom(ledger.process(request(), insert, options({ store, retry: { giveUpAfterMs: 0 } })));
    await expect(failing).rejects.toMatchObject({ _tag: 'StoreError', operation: 'hold' });
    other.release(true);
  });

  it('leaves no connections behind, whenever it is left', async () => {
    const { ledger } = await world(30);
    const store = postgresStore({ pool, pollMs: 5 });
    for (let n = 0; n < 200; n += 1) {
      const subscriptions = [1, 2].map(() =>
        ledger.process(request(), () => undefined, options({ store, commitEvery: { updates: 7 } })).subscribe(),
      );
      await new Promise((resolve) => setTimeout(resolve, n % 25));
      for (const subscription of subscriptions) subscription.unsubscribe();
    }
    await until(() => pool.waitingCount === 0 && pool.totalCount === pool.idleCount);
    await comesToBe(
      async () => (await pool.query<object>(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).rows,
      [],
    );
    expect(pool.totalCount).toBe(pool.idleCount);
  });
});
