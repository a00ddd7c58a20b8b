import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { filter, firstValueFrom, skip, timeout } from 'rxjs';
import { postgresStore } from '../../../src/postgres/index.js';
import { describeWithMachines, type Machine, startMachine } from '../../helpers/network.js';
import { describeWithPgbouncer, pgbouncer } from '../../helpers/pgbouncer.js';
import { type PostgresServer, postgresServer } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/servers.js';
import { bundlePrograms, type Child, type Programs } from './Child.js';
import { print } from './crashes.js';

/** How long a name may be without a leader, in milliseconds. */
const maxLeaderlessMs = 30_000;

/** How the program is started, and where. */
interface Start {
  readonly connections?: number;
  readonly machine?: Machine;
}

/** Starts a database server and the program; each test has databases of its own. */
function withHolders(addresses: () => Promise<readonly string[]>) {
  const ends: (() => unknown)[] = [];
  const given: { server?: PostgresServer; programs?: Programs } = {};
  beforeAll(async () => {
    given.programs = await bundlePrograms('holder');
    given.server = await postgresServer({ listen_addresses: ['127.0.0.1', ...(await addresses())].join(',') });
  });
  afterAll(async () => {
    await given.programs?.remove();
    for (const end of ends.reverse()) await end();
    await given.server?.stop();
  });
  return {
    ends,
    /** The URL of the server, for another host. */
    urlOf: (database: string, host = '127.0.0.1', url = given.server?.url ?? ''): string =>
      `postgres://postgres@${host}:${new URL(url).port}/${database}`,
    start: (storeUrl: string, life: number, sql: string, { connections = 3, machine }: Start = {}): Child => {
      if (given.programs === undefined) throw new Error('nothing is bundled');
      const orders = { ledgerUrl: '', storeUrl, life, sql, commitEvery: 1, connections };
      return given.programs.start('holder', orders, machine?.command);
    },
    /** Creates a database, with a table whose rows have the fencing token of their transaction. */
    create: async (database: string): Promise<Pool> => {
      const { url = '' } = given.server ?? {};
      const admin = new Pool({ connectionString: url });
      await admin.query(`CREATE DATABASE ${database}`);
      await admin.end();
      const pool = new Pool({ connectionString: url.replace(/postgres$/, database), max: 3 });
      pool.on('error', () => undefined);
      ends.push(() => pool.end());
      await pool.query(`CREATE TABLE effects (n bigserial, life int,
        fence bigint NOT NULL DEFAULT current_setting('canton_rx.fence')::bigint)`);
      return pool;
    },
  };
}

/** Waits for a mark, from now on. */
const next = (child: Child, mark: string, times = 1, withinMs = 60_000): Promise<unknown> =>
  firstValueFrom(
    child.mark$.pipe(
      filter((each) => each === mark),
      skip(times - 1),
      timeout({ first: withinMs }),
    ),
  );

const insertLife = 'INSERT INTO effects (life) VALUES ($1)';

describeWithPgbouncer('a leader that was suspended in a transaction, and continues after another took over', () => {
  const { ends, create, start, urlOf } = withHolders(() => Promise.resolve([]));

  /** Returns what the suspended one says, and how often each has committed, by their own account and that of the database. */
  const suspend = async (pool: Pool, leaderUrl: string, standbyUrl: string, connections: number) => {
    const leader = start(leaderUrl, 1, insertLife, { connections });
    await next(leader, 'd', 2);
    const standby = start(standbyUrl, 2, insertLife);
    await next(standby, 'h', 2);
    for (;;) {
      await next(leader, 'u');
      // not later: after a save, it holds the lock of its row, for which a standby that may not end its connection would wait
      if ((await leader.suspend()) === 'handler') break;
      leader.signal('SIGCONT');
    }
    const begunAt = performance.now();
    await next(standby, 'd');
    const leaderlessMs = performance.now() - begunAt;
    leader.signal('SIGCONT');
    const end = await leader.over;
    await next(standby, 'd', 3);
    standby.signal('SIGKILL');
    await standby.over;
    const sql = 'SELECT life, fence::int AS fence FROM effects ORDER BY n';
    const { rows } = await pool.query<{ life: number; fence: number }>(sql);
    const byLeader = rows.filter(({ life }) => life === 1).length;
    print(`a leader was suspended: another one committed after ${(leaderlessMs / 1_000).toFixed(1)} s`);
    return { end, leaderlessMs, rows, byLeader, marked: leader.count('d') };
  };

  it.each([
    ['directly', 'direct', /terminat|Connection|server conn/, 3],
    ['through PgBouncer', 'pooled', /terminat|Connection|server conn/, 3],
    // then the token alone refuses it; over another connection, a renewal could show it first that the lease is lost
    ['and the other user may not end its connection', 'guarded', /another processor holds the name now/, 1],
  ])('commits nothing: connected %s (G39)', async (_, database, reason, connections) => {
    let [leaderUrl, standbyUrl] = [urlOf(database), urlOf(database)];
    if (database === 'pooled') {
      const pooler = await pgbouncer(urlOf('postgres'), { pool_mode: 'transaction' });
      ends.push(() => pooler.stop());
      leaderUrl = standbyUrl = urlOf(database, '127.0.0.1', pooler.url);
    }
    const pool = await create(database);
    if (database === 'guarded') {
      await pool.query('CREATE ROLE other LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO other');
      await pool.query('GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO other');
      await pool.query('ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO other');
      standbyUrl = urlOf(database).replace('postgres@', 'other@');
    }
    const { end, leaderlessMs, rows, byLeader, marked } = await suspend(pool, leaderUrl, standbyUrl, connections);
    expect(end).toMatch(reason);
    expect(leaderlessMs).toBeLessThan(maxLeaderlessMs);
    // each commit that it has reported, and no other
    expect(byLeader).toBe(marked);
    const fences = rows.map(({ fence }) => fence);
    expect(fences).toEqual([...fences].sort((a, b) => a - b));
    expect(new Set(rows.map(({ life, fence }) => `${life} ${fence}`)).size).toBe(2);
  });
});

describeWithMachines('a leader whose machine loses its network', () => {
  const machines: Machine[] = [];
  const { create, start, urlOf, ends } = withHolders(async () => {
    for (let n = 0; n < 3; n += 1) machines.push(await startMachine());
    return machines.map(({ address }) => address);
  });
  afterAll(async () => {
    for (const machine of machines) await machine.remove();
  });

  /** Starts a leader on a machine, and a standby here; returns the standby's number of leases. */
  const begin = async (database: string, machine: Machine, sql: string) => {
    const pool = await create(database);
    const leader = start(urlOf(database, machine.address), 1, sql, { machine });
    await next(leader, 'd', 2);
    let waits = 0;
    let heldAt: number | undefined;
    const standby = postgresStore({ pool, pollMs: 250 })
      .hold('held', () => (waits += 1))
      .subscribe(() => (heldAt = performance.now()));
    ends.push(() => {
      standby.unsubscribe();
    });
    await until(() => waits > 2);
    return { leader, heldAt: () => heldAt };
  };

  it('is replaced within 30 s, also while queries run, or a result is sent', async () => {
    const statements = {
      short: 'SELECT count(*) FROM generate_series(1, 20000)',
      long: 'SELECT pg_sleep(1)',
      large: `SELECT repeat('x', 1000) FROM generate_series(1, 20000)`,
    };
    const times = await Promise.all(
      Object.entries(statements).map(async ([database, sql], index) => {
        const machine = machines[index];
        if (machine === undefined) throw new Error('there is no machine');
        const { heldAt } = await begin(database, machine, sql);
        const cutAt = performance.now();
        await machine.disconnect();
        await until(() => heldAt() !== undefined);
        return { database, ms: (heldAt() ?? 0) - cutAt };
      }),
    );
    print(
      `a machine vanished: ${times.map(({ database, ms }) => `${database} ${(ms / 1_000).toFixed(1)} s`).join(', ')}`,
    );
    expect(times.filter(({ ms }) => ms >= maxLeaderlessMs)).toEqual([]);
    // it may still be alive: not before its lease has expired
    expect(times.filter(({ ms }) => ms < 10_000)).toEqual([]);
    for (const machine of machines) await machine.reconnect();
  });

  it('keeps the name if the network is back before the lease expires', async () => {
    const [machine] = machines;
    if (machine === undefined) throw new Error('there is no machine');
    const { leader, heldAt } = await begin('brief', machine, 'SELECT count(*) FROM generate_series(1, 20000)');
    await machine.disconnect();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await machine.reconnect();
    await next(leader, 'd', 2);
    expect(heldAt()).toBeUndefined();
    expect(leader.isOver()).toBe(false);
  });
});
