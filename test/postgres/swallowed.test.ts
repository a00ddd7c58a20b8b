import { expect, it } from '@jest/globals';
import type { Pool, PoolClient } from 'pg';
import { from, lastValueFrom, type Observable, Subject, toArray } from 'rxjs';
import { commandOutbox, liveQuery, migrateProjection, postgresStore } from '../../src/postgres/index.js';
import type { Handler } from '../../src/process/index.js';
import { tcpProxy } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { insert, poolOf, sandboxWorlds, withDatabase } from './support.js';

/** What is swallowed. In both directions, a client does not notice that the server closes the connection. */
type Direction = 'toServer' | 'both';

describeWithPostgres('a network that swallows what is sent over the connections of a pool', () => {
  const database = withDatabase();
  const world = sandboxWorlds(database);

  /** A pool, and what swallows all that its present connections send. New connections work, as after a failover. */
  async function swallowing(
    max: number,
    work: (pool: Pool, swallow: (direction?: Direction) => void) => Promise<void>,
  ): Promise<void> {
    const swallow$ = new Subject<Direction>();
    const proxy = await tcpProxy(database.server.url, (client, server) => {
      client.pipe(server).pipe(client);
      swallow$.subscribe((direction) => {
        client.unpipe(server).resume();
        if (direction === 'both') server.unpipe(client).removeAllListeners('close').resume();
      });
    });
    const pool = poolOf(proxy.url, max);
    try {
      await work(pool, (direction = 'toServer') => {
        swallow$.next(direction);
      });
      await pool.end();
    } finally {
      proxy.close();
    }
  }

  // enough to connect and to migrate on a machine that is busy
  const timeoutMs = 1_000;
  const calls: readonly (readonly [string, number, (pool: Pool) => Observable<unknown>])[] = [
    ['parked() of a store', 1, (pool) => from(postgresStore({ pool, timeoutMs }).parked('p'))],
    ['parked() of an outbox', 2, (pool) => commandOutbox({ pool, timeoutMs }).parked()],
    ['a migration', 1, (pool) => migrateProjection({ pool, timeoutMs })],
  ];

  it.each(calls)('gives the connection of %s back to the pool (G42)', async (_, max, call) => {
    await lastValueFrom(migrateProjection({ pool: database.pool }));
    await swallowing(max, async (pool, swallow) => {
      const run = (): Promise<unknown> => lastValueFrom(call(pool).pipe(toArray()));
      for (let times = 0; times < max; times += 1) {
        await run();
        swallow();
        await expect(run()).rejects.toThrow(/timeout/i);
      }
      await run();
    });
  });

  it.each([0, 1])('ends a statement whose server process has ended: with %d standbys (G42)', async (standbys) => {
    const { all, work, process$ } = await world(9);
    await swallowing(3, async (pool, swallow) => {
      let isSwallowed = false;
      const handler: Handler<PoolClient> = async (update, tx) => {
        if (!isSwallowed && update.offset === all[4]) {
          isSwallowed = true;
          const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          swallow('both');
          // what the database does when the network is away
          await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        }
        await insert()(update, tx);
      };
      const store = postgresStore({ pool, pollMs: 20, timeoutMs: 5_000 });
      const done = work(handler, { store, commitEvery: { updates: 3 } });
      await until(() => isSwallowed);
      const others = Array.from({ length: standbys }, () => lastValueFrom(process$()));
      await Promise.all([done, ...others]);
    });
    expect(await database.seen()).toEqual(all);
  });

  it('queries again over another connection (G87)', async () => {
    await lastValueFrom(migrateProjection({ pool: database.pool }));
    await swallowing(2, async (pool, swallow) => {
      let results = 0;
      const errors: unknown[] = [];
      const retry = { baseDelayMs: 5, maxDelayMs: 20, giveUpAfterMs: 5_000 };
      const live = liveQuery(pool, 'SELECT 1', [], { timeoutMs, retry }).subscribe({
        next: () => (results += 1),
        error: (error: unknown) => errors.push(error),
      });
      await until(() => results === 1);
      swallow();
      // the connection that listens still hears of it
      await database.pool.query('UPDATE contracts.projection_state SET latest_offset = 1');
      await until(() => results > 1 || errors.length > 0);
      live.unsubscribe();
      expect(errors).toEqual([]);
    });
  });
});
