import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'pg';
import { filter, firstValueFrom, map, merge, skip, throwError, timeout, timer } from 'rxjs';
import { describeWithPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import { programs, type Child, type Programs } from './Child.js';
import { crashes } from './crashes.js';
import { flawsOfOnce, type Taken } from './flawsOf.js';
import { parameters, print } from './parameters.js';
import { proxyOf } from './proxy.js';
import { world } from './world.js';

const commitEvery = 20;

describeWithPostgres('a table of PostgreSQL is the ledger, each update once and in order', () => {
  let server: TestServer;
  let pool: Pool;
  let children: Programs;

  beforeAll(async () => {
    children = await programs('postgres');
    server = await postgresServer();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
  });
  afterAll(async () => {
    await children.remove();
    await pool.end();
    await server.stop();
  });
  beforeEach(async () => {
    await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, seen');
    // nothing in it that would refuse a repeat
    await pool.query('CREATE TABLE seen (n bigserial, "offset" bigint, update_id text, hash text, life int)');
  });

  const taken = async (): Promise<readonly Taken[]> => {
    const { rows } = await pool.query<Omit<Taken, 'offset'> & { offset: string }>(
      'SELECT "offset"::text AS "offset", update_id AS "updateId", hash, life FROM seen ORDER BY n',
    );
    return rows.map((row) => ({ ...row, offset: Number(row.offset) }));
  };

  const one = parameters(100);
  it.each([
    ['its processor is killed at any moment', 1],
    ['two processors compete, and each is killed at any moment', 2],
  ])(
    'when %s',
    async (what, processes) => {
      const given = await world(one);
      try {
        const start = (life: number, end?: number) =>
          children.start('postgres', { ledgerUrl: given.sandbox.url, storeUrl: server.url, life, end, commitEvery });
        const { kills, phases } = await crashes({ what, processes, start }, given, one);
        expect(kills).toBe(one.kills);
        expect(flawsOfOnce(await given.entries(), await taken())).toEqual([]);
        // of so many, some before it has begun, some in the midst of its work, and some while it commits
        const hit = [['start'], ['handler'], ['save', 'commit']].filter((some) =>
          some.some((phase) => phases.has(phase)),
        );
        expect(hit).toHaveLength(kills < 100 ? hit.length : 3);
      } finally {
        await given.close();
      }
    },
    one.timeoutMs,
  );

  it(
    'when its processor is paused, loses the name meanwhile, and goes on as if nothing had happened',
    async () => {
      const rounds = Math.ceil(one.kills / 10);
      const { random } = one;
      const given = await world({ ...one, updates: rounds * 300 });
      const proxies = await Promise.all([proxyOf(server.url), proxyOf(server.url)]);
      const begunAt = performance.now();
      try {
        const [ledgerUrl, end] = [given.sandbox.url, undefined];
        const both = proxies.map(({ url, inject }, index) => ({
          inject,
          child: children.start('postgres', { ledgerUrl, storeUrl: url, life: index + 1, end, commitEvery }),
        }));
        const [one, two] = both;
        if (one === undefined || two === undefined) throw new Error('two are needed');
        given.grow(0.2);
        let [working, waiting] = [one, two];
        const first = await firstValueFrom(
          merge(
            ...both.map((each) =>
              each.child.mark$.pipe(
                filter((mark) => mark === 'u'),
                map(() => each),
              ),
            ),
          ),
        );
        if (first === two) [working, waiting] = [two, one];
        const ways = new Map<string, number>();
        for (let round = 0; round < rounds; round += 1) {
          const way = round % 2 === 0 ? 'its connection is ended' : 'its lock is lost';
          const handled$ = working.child.mark$.pipe(filter((mark) => mark === 'u'));
          await firstValueFrom(merge(handled$.pipe(skip(Math.floor(random() * 60))), timer(300)));
          await wait(random() * 5);
          working.child.signal('SIGSTOP');
          // what was asked is answered, and what was told is read
          await wait(50);
          const phase = working.child.phase();
          const has = next(waiting.child, 'd', 2, 'did not take over');
          const back = next(working.child, 'h', 1, 'has not noticed that it lost the name');
          if (way === 'its connection is ended')
            await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
              `life ${working.child.life}`,
            ]);
          else if (phase === 'save' || phase === 'commit') {
            // it has locked its row, and the other would wait for it
            working.child.signal('SIGCONT');
            round -= 1;
            continue;
          } else expect(await working.inject('SELECT pg_advisory_unlock_all()')).toBeGreaterThan(0);
          given.grow(0.8 / rounds);
          await has;
          working.child.signal('SIGCONT');
          await back;
          ways.set(`${way} in ${phase}`, (ways.get(`${way} in ${phase}`) ?? 0) + 1);
          [working, waiting] = [waiting, working];
        }
        for (const { child } of both) child.signal('SIGKILL');
        await Promise.all(both.map(({ child }) => child.over));
        given.grow(1);
        const orders = { ledgerUrl, storeUrl: server.url, life: 3, end: given.end(), commitEvery };
        expect(await children.start('postgres', orders).over).toBeUndefined();
        const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
        print(
          `paused: ${rounds} times in ${seconds} s: ${[...ways].map(([way, count]) => `${way} ${count}`).join(', ')}`,
        );
        expect(flawsOfOnce(await given.entries(), await taken())).toEqual([]);
      } finally {
        for (const { close } of proxies) close();
        await given.close();
      }
    },
    one.timeoutMs,
  );
});

/** When a process has told something so many times from now on. */
function next(child: Child, mark: string, times: number, otherwise: string): Promise<unknown> {
  const told$ = child.mark$.pipe(
    filter((each) => each === mark),
    skip(times - 1),
    timeout({ first: 15_000, with: () => throwError(() => new Error(`life ${child.life} ${otherwise}`)) }),
  );
  const told = firstValueFrom(told$);
  // it is awaited later
  told.catch(() => undefined);
  return told;
}
