import { expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { concatMap, from, lastValueFrom, Subject, takeUntil, timer } from 'rxjs';
import { isLedgerError } from '../../src/index.js';
import { commandOutbox, postgresStore } from '../../src/postgres/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { describeWithPgbouncer, pgbouncer } from '../helpers/pgbouncer.js';
import type { TestServer } from '../helpers/servers.js';
import { eventually, until } from '../helpers/time.js';
import { committedIds, outboxes, soon } from './outboxSupport.js';
import { insert, offsetsOf, poolOf, sandboxWorlds, withDatabase } from './support.js';

const takeoverMs = 60_000;

describeWithPgbouncer('postgresStore behind PgBouncer', () => {
  const database = withDatabase();
  const { seen } = database;
  const world = sandboxWorlds(database);
  const outbox = outboxes(database);

  /** Runs a test with a pooler, and with other clients of it between the statements of the processors. */
  const withPooler = async (
    settings: Readonly<Record<string, string | number>>,
    use: (pooler: TestServer, storeOf: () => ReturnType<typeof postgresStore>, pools: Pool[]) => Promise<void>,
  ): Promise<void> => {
    const pooler = await pgbouncer(database.server.url, settings);
    const pools = [poolOf(pooler.url, 4)];
    const ended$ = new Subject<void>();
    const others = timer(0, 10)
      .pipe(concatMap(() => from(pools[0]?.query('SELECT pg_sleep(0.005)') ?? [])))
      .subscribe({ error: () => undefined });
    try {
      await use(
        pooler,
        () => {
          const pool = poolOf(pooler.url, 3);
          pools.push(pool);
          const store = postgresStore({ pool, pollMs: 50 });
          // released also by a test that fails
          return { ...store, hold: (...how) => store.hold(...how).pipe(takeUntil(ended$)) };
        },
        pools,
      );
    } finally {
      ended$.next();
      others.unsubscribe();
      await Promise.all(pools.map((pool) => pool.end()));
      await pooler.stop();
    }
  };

  it.each(['transaction', 'session'])(
    'lets one of two processors work with pool_mode = %s, and the other when the first ends',
    async (pool_mode) => {
      const { all, service, ledger, process$ } = await world(200);
      await withPooler({ pool_mode }, async (_, storeOf) => {
        const one = observe(process$(insert('one'), { store: storeOf() }, Infinity));
        await until(async () => (await seen()).length === all.length);
        const two = observe(process$(insert('two'), { store: storeOf() }, Infinity));
        const roles: unknown[] = [];
        ledger.diagnostics$.subscribe((each) => each._tag === 'RoleChanged' && roles.push(each.role));
        await until(() => roles.includes('standby'));
        one.subscription.unsubscribe();
        const stoppedAt = performance.now();
        await until(() => roles.includes('leader'));
        expect(performance.now() - stoppedAt).toBeLessThan(5_000);
        service.generate(20, { seed: 9 });
        await until(async () => (await seen()).length > all.length);
        two.subscription.unsubscribe();
        expect(two.error).toBeUndefined();
      });
      expect((await seen()).slice(0, all.length)).toEqual(all);
      // nothing of a session is left with the pooler, once the server has ended a statement that was given up
      await eventually(() => database.read(`SELECT FROM pg_locks WHERE locktype = 'advisory'`), []);
    },
  );

  it('sends the commands of an outbox once and in order, also after another process took over or the pooler was restarted', async () => {
    await withPooler({ pool_mode: 'transaction' }, async (pooler, _, pools) => {
      const [one, two] = [poolOf(pooler.url, 3), poolOf(pooler.url, 3)];
      pools.push(one, two);
      const { sandbox, ledger, create, inTransaction, rows } = await outbox({ pool: one });
      const ids = Array.from({ length: 30 }, (_, index) => `c${index}`);
      const enqueue = async (some: readonly string[]): Promise<void> => {
        for (const id of some)
          await inTransaction((tx) => commandOutbox({ pool: one }).enqueue(tx, create(id), { key: 'all' }));
      };
      const sendOver = (pool: Pool) => observe(commandOutbox({ pool }).submitAll(ledger, soon));
      const first = sendOver(one);
      await enqueue(ids.slice(0, 10));
      await until(() => first.values.length === 10);
      const second = sendOver(two);
      await enqueue(ids.slice(10, 15));
      await until(() => first.values.length === 15);
      expect(second.values).toEqual([]);
      first.subscription.unsubscribe();
      await enqueue(ids.slice(15, 20));
      await until(() => second.values.length === 5, 10_000);
      await pooler.restart();
      await enqueue(ids.slice(20));
      await until(() => second.values.length === 15, 10_000);
      second.subscription.unsubscribe();
      expect(committedIds(sandbox)).toEqual(ids);
      expect((await rows()).filter(({ state }) => state !== 'committed')).toEqual([]);
    });
  });

  it('handles updates again that a standby which took over has not, although the pooler kept the connection (G34)', async () => {
    const { service, ledger, process$ } = await world(20);
    const catchUp = async (): Promise<void> => {
      await eventually(seen, await offsetsOf(ledger, service.ledgerEnd));
    };
    await withPooler({ pool_mode: 'transaction' }, async (_, storeOf) => {
      const processor = observe(process$(insert(), { store: storeOf() }, Infinity));
      await catchUp();
      const [before] = await database.read(
        'SELECT name, cursor::text AS cursor, max("offset") AS last FROM canton_rx_cursors, seen GROUP BY 1, 2',
      );
      service.generate(5, { seed: 6 });
      await catchUp();
      // while no transaction is open
      await database.read(
        `WITH lost AS (DELETE FROM seen WHERE "offset" > $3) UPDATE canton_rx_cursors SET cursor = $2 WHERE name = $1`,
        [before?.['name'], before?.['cursor'], before?.['last']],
      );
      service.generate(5, { seed: 7 });
      await catchUp();
      processor.subscription.unsubscribe();
      expect(processor.error).toBeUndefined();
    });
  });

  it('renews its lease every few seconds, also while a transaction is open', async () => {
    await withPooler({ pool_mode: 'transaction' }, async (_, storeOf) => {
      const names = ['idle', 'open'];
      const held = names.map((name) => observe(storeOf().hold(name)));
      await until(() => held.every(({ values }) => values.length === 1));
      const open = held.slice(1).map((each) => observe(firstOf(each).transact(() => timer(takeoverMs))));
      await database.pool.query(`UPDATE canton_rx_leases SET renewed_at = now() - interval '10 s'`);
      const sql = `SELECT name FROM canton_rx_leases WHERE renewed_at > now() - interval '5 s' ORDER BY name`;
      await until(async () => (await database.read(sql)).length === names.length, 9_000);
      for (const { subscription } of open) subscription.unsubscribe();
    });
  });

  it('refuses to start with pool_mode = statement, and says why', async () => {
    const { work } = await world(5);
    await withPooler({ pool_mode: 'statement' }, async (_, storeOf) => {
      const error: unknown = await work(insert(), { store: storeOf() }, Infinity).catch((cause: unknown) => cause);
      expect(isLedgerError(error, 'StoreError') && error).toMatchObject({ operation: 'hold', endsProcessor: true });
      expect(String(error)).toContain('the connection pooler does not keep a transaction on one connection');
      expect(String(error)).toContain('pool_mode = transaction');
    });
  });

  it('continues within seconds after the pooler was restarted, although its own lease has not expired', async () => {
    const { all, process$ } = await world(100);
    await withPooler({ pool_mode: 'transaction' }, async (pooler, storeOf) => {
      let restarted: Promise<void> | undefined;
      const begunAt = performance.now();
      await lastValueFrom(
        process$(
          async (update, tx) => {
            await insert()(update, tx);
            if (update.offset > (all[50] ?? 0)) restarted ??= pooler.restart();
          },
          { store: storeOf(), commitEvery: { updates: 5 } },
        ),
      );
      await restarted;
      expect(performance.now() - begunAt).toBeLessThan(14_000);
    });
    expect(await seen()).toEqual(all);
  });

  it(
    'takes over from a leader that is silent in a transaction, whose rows stay locked (G39)',
    async () => {
      await withPooler({ pool_mode: 'transaction' }, async (_, storeOf) => {
        const held = observe(storeOf().hold('silent'));
        await until(() => held.values.length === 1);
        // its transaction has changed a row; the program renews nothing from now on
        const silent = observe(
          firstOf(held).transact((tx) =>
            from(tx.query('UPDATE total SET n = 1 WHERE id = 1')).pipe(concatMap(() => timer(takeoverMs))),
          ),
        );
        await until(async () => (await database.read(`SELECT FROM pg_locks WHERE locktype = 'advisory'`)).length > 0);
        await database.pool.query(
          `UPDATE canton_rx_leases SET holder = 'one that is suspended', renewed_at = now() - interval '1 min'`,
        );
        const begunAt = performance.now();
        const standby = observe(storeOf().hold('silent'));
        await until(() => standby.values.length === 1 || standby.error !== undefined, 20_000);
        expect(standby.error).toBeUndefined();
        // it confirms that the lease stays expired
        expect(performance.now() - begunAt).toBeGreaterThan(3_500);
        const changed$ = firstOf(standby).transact((tx) => from(tx.query('UPDATE total SET n = n + 10 WHERE id = 1')));
        await lastValueFrom(changed$);
        expect(await database.read('SELECT n FROM total WHERE id = 1')).toEqual([{ n: 10 }]);
        silent.subscription.unsubscribe();
      });
    },
    takeoverMs,
  );
});

/** The first value of a subscription. */
function firstOf<A>({ values: [first] }: Observed<A>): A {
  if (first === undefined) throw new Error('it has emitted nothing');
  return first;
}
