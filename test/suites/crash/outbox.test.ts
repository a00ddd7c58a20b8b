import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, merge, type Observable, of, skip, switchMap, take, timer } from 'rxjs';
import { commandOutbox } from '../../../src/postgres/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/time.js';
import type { Child } from './Child.js';
import { parameters, print } from './crashes.js';
import { withDatabase } from './database.js';
import { world } from './world.js';

describeWithPostgres('the ledger has each command of an outbox once', () => {
  const database = withDatabase('outbox');

  beforeAll(async () => {
    await database.pool.query('CREATE TABLE decisions (n bigserial, command_id text PRIMARY KEY)');
    await lastValueFrom(commandOutbox({ pool: database.pool }).parked(), { defaultValue: undefined });
  });

  const some = parameters(40, 20);
  it(
    'when two processes that enqueue and send are killed at any moment, and the database once (G74)',
    async () => {
      const given = await world(some);
      const { sandbox } = given;
      const { random, kills } = some;
      const party = sandbox.hostedParty('alice');
      let life = 0;
      const start = (end?: number): Child =>
        database.programs.start('outbox', {
          ledgerUrl: sandbox.url,
          storeUrl: database.server.url,
          life: (life += 1),
          end,
          party,
          commitEvery: 1,
        });
      const phases = new Map<string, number>();
      try {
        const running = [start(), start()];
        for (let killed = 0; killed < kills; killed += 1) {
          const index = random() < 0.5 ? 0 : 1;
          const child = running[index];
          if (child === undefined) throw new Error('two are needed');
          const letter = ['u', 'u', 'd', 'c', 's', 'b'][Math.floor(random() * 6)];
          const marks$ = child.mark$.pipe(
            filter((mark) => mark === letter),
            skip(Math.floor(random() * 20)),
          );
          // most processes work before they are killed, however slow the machine is
          const begun$: Observable<unknown> =
            random() < 0.3 ? of(true) : merge(child.mark$, timer(10_000)).pipe(take(1));
          const silenceMs = 500 + random() * 1_000;
          await firstValueFrom(merge(marks$, begun$.pipe(switchMap(() => timer(silenceMs)))));
          if (random() < 0.5) await wait(random() * 4);
          if (child.isOver()) throw new Error(`it ended by itself: ${(await child.over) ?? 'without an error'}`);
          child.signal('SIGKILL');
          await child.over;
          phases.set(child.phase(), (phases.get(child.phase()) ?? 0) + 1);
          if (killed === Math.floor(kills / 2)) {
            await database.server.crash();
            await database.server.start();
          }
          running[index] = start();
        }
        for (const child of running) child.signal('SIGKILL');
        await Promise.all(running.map(({ over }) => over));
        await given.endFaults();
        const last = start(1);
        await until(async () => {
          if (last.isOver()) throw new Error((await last.over) ?? 'it ended');
          const { rows } = await database.pool.query("SELECT FROM canton_rx_outbox WHERE state = 'pending' LIMIT 1");
          return rows.length === 0;
        });
        last.signal('SIGKILL');
        await last.over;
        const sql = `SELECT command_id AS id, key, state, "offset"::int AS "offset" FROM canton_rx_outbox AS o ORDER BY o.id`;
        const { rows } = await database.pool.query<{ id: string; key: string | null; state: string; offset: number }>(
          sql,
        );
        const { rows: decided } = await database.pool.query<{ id: string }>('SELECT command_id AS id FROM decisions');
        const committed = sandbox.updates.map((update) => {
          const { commandId: id = '', offset } = updateValue(update) as { commandId?: string; offset: number };
          return { id, offset };
        });
        const hit = [...phases].map(([phase, times]) => `${phase} ${times}`).join(', ');
        print(`an outbox: ${kills} kills: ${hit}; ${committed.length} commands, ${sandbox.requests.length} requests`);
        expect(rows.filter(({ state }) => state !== 'committed')).toEqual([]);
        const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).sort();
        // each decision once, none that was rolled back
        expect(idsOf(committed)).toEqual(idsOf(decided));
        expect(idsOf(rows)).toEqual(idsOf(decided));
        const offsets = new Map(committed.map(({ id, offset }) => [id, offset]));
        expect(rows.filter(({ id, offset }) => offsets.get(id) !== offset)).toEqual([]);
        for (let key = 0; key < 4; key += 1) {
          const inOrder = rows.filter((row) => row.key === `key ${key}`).map(({ offset }) => offset);
          expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
        }
        expect(committed.length).toBeGreaterThan(kills * 2);
      } finally {
        await given.close();
      }
    },
    some.timeoutMs,
  );
});
