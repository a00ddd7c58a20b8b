import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, it } from '@jest/globals';
import { filter, firstValueFrom, map, merge, skip, throwError, timeout, timer } from 'rxjs';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import type { Child } from './Child.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { withDatabase } from './database.js';
import { findFlaws, type Taken } from './flaws.js';
import { postgresProxy } from './proxy.js';
import { world } from './world.js';

const commitEvery = 20;

describeWithPostgres('a table of PostgreSQL has each update of the ledger once and in order', () => {
  const database = withDatabase('postgres');

  beforeEach(async () => {
    await database.pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, seen');
    // without a constraint that would reject a repeated update
    await database.pool.query('CREATE TABLE seen (n bigserial, "offset" bigint, update_id text, hash text, life int)');
  });

  const readTable = async (): Promise<readonly Taken[]> => {
    const { rows } = await database.pool.query<Omit<Taken, 'offset'> & { offset: string }>(
      'SELECT "offset"::text AS "offset", update_id AS "updateId", hash, life FROM seen ORDER BY n',
    );
    return rows.map((row) => ({ ...row, offset: Number(row.offset) }));
  };

  const one = parameters(100, 10);
  it.each([
    ['its processor is killed at any moment', 1],
    ['two processors compete, and each is killed at any moment', 2],
  ])(
    'when %s (G34)',
    async (what, processes) => {
      const given = await world(one);
      try {
        const start = (life: number, end?: number) =>
          database.programs.start('postgres', {
            ledgerUrl: given.sandbox.url,
            storeUrl: database.server.url,
            life,
            end,
            commitEvery,
          });
        const { kills, phases } = await runWithCrashes({ what, processes, start }, given, one);
        expect(kills).toBe(one.kills);
        expect(findFlaws(await given.entries(), await readTable())).toEqual([]);
        // of so many kills, some are during the work, and some during a commit
        const hit = [['handler'], ['save', 'commit']].filter((some) => some.some((phase) => phases.has(phase)));
        if (kills >= 24) expect(hit).toHaveLength(2);
      } finally {
        await given.close();
      }
    },
    one.timeoutMs,
  );

  it(
    'when its processor is paused, loses its name meanwhile, and resumes (G39)',
    async () => {
      const rounds = Math.ceil(one.kills / 10);
      const { random } = one;
      const given = await world({ ...one, updates: rounds * 300 });
      const proxies = await Promise.all([postgresProxy(database.server.url), postgresProxy(database.server.url)]);
      const begunAt = performance.now();
      try {
        const [ledgerUrl, end] = [given.sandbox.url, undefined];
        const both = proxies.map(({ url, inject }, index) => ({
          inject,
          child: database.programs.start('postgres', { ledgerUrl, storeUrl: url, life: index + 1, end, commitEvery }),
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
          const way = round % 2 === 0 ? 'its connection is ended' : 'its lease is released';
          const handled$ = working.child.mark$.pipe(filter((mark) => mark === 'u'));
          await firstValueFrom(merge(handled$.pipe(skip(Math.floor(random() * 60))), timer(300)));
          await wait(random() * 5);
          const phase = await working.child.suspend();
          const tookOver = nextMark(waiting.child, 'd', 2, 'did not take over');
          const noticed = nextMark(working.child, 'h', 1, 'has not noticed that it lost the name');
          if (way === 'its connection is ended')
            await database.pool.query(
              'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
              [`life ${working.child.life}`],
            );
          else if (phase === 'save' || phase === 'commit') {
            // it holds the lock of its row, for which the other would wait
            working.child.signal('SIGCONT');
            round -= 1;
            continue;
          } else await database.pool.query('UPDATE canton_rx_leases SET holder = NULL');
          given.grow(0.8 / rounds);
          await tookOver;
          working.child.signal('SIGCONT');
          await noticed;
          ways.set(`${way} in ${phase}`, (ways.get(`${way} in ${phase}`) ?? 0) + 1);
          [working, waiting] = [waiting, working];
        }
        for (const { child } of both) child.signal('SIGKILL');
        await Promise.all(both.map(({ child }) => child.over));
        given.grow(1);
        const orders = { ledgerUrl, storeUrl: database.server.url, life: 3, end: given.end(), commitEvery };
        expect(await database.programs.start('postgres', orders).over).toBeUndefined();
        const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
        print(
          `paused: ${rounds} times in ${seconds} s: ${[...ways].map(([way, count]) => `${way} ${count}`).join(', ')}`,
        );
        expect(findFlaws(await given.entries(), await readTable())).toEqual([]);
      } finally {
        for (const { close } of proxies) close();
        await given.close();
      }
    },
    one.timeoutMs,
  );
});

/** Resolves when a process has written a mark the given number of times from now on. */
function nextMark(child: Child, mark: string, times: number, failure: string): Promise<unknown> {
  const marks$ = child.mark$.pipe(
    filter((each) => each === mark),
    skip(times - 1),
    timeout({ first: 60_000, with: () => throwError(() => new Error(`life ${child.life} ${failure}`)) }),
  );
  const result = firstValueFrom(marks$);
  // awaited later
  result.catch(() => undefined);
  return result;
}
