import { beforeAll, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { commandOutbox } from '../../../src/postgres/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/time.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { withDatabase } from './database.js';
import { world } from './world.js';

describeWithPostgres('the ledger has each command of an outbox once', () => {
  const database = withDatabase('outbox');

  beforeAll(async () => {
    await database.pool.query('CREATE TABLE decisions (n bigserial, command_id text PRIMARY KEY)');
    await lastValueFrom(commandOutbox({ pool: database.pool }).parked(), { defaultValue: undefined });
  });

  const some = parameters(40, 6);
  it(
    'when two processes that enqueue and send are killed at any moment, and the database, too (G74)',
    async () => {
      const given = await world(some);
      const { sandbox } = given;
      const party = sandbox.hostedParty('alice');
      const orders = { ledgerUrl: sandbox.url, storeUrl: database.server.url, party, commitEvery: 1 };
      try {
        const { kills } = await runWithCrashes(
          {
            what: 'an outbox',
            processes: 2,
            moments: ['late', 'early', 'd', 'c', 'late', 's', 'b', 'late'],
            server: database.server,
            start: (life, end) => database.programs.start('outbox', { ...orders, life, end }),
            // on a slow machine, each process may be killed before it has sent anything
            afterKill: (killed) => (killed < some.kills ? undefined : until(() => sandbox.updates.length > some.kills)),
          },
          // the processes themselves add what there is to send
          { grow: () => undefined, end: () => 1 },
          { ...some, updates: 40 * some.kills },
        );
        const sql = `SELECT command_id AS id, key, state, "offset"::int AS "offset" FROM canton_rx_outbox AS o ORDER BY o.id`;
        const { rows } = await database.pool.query<{ id: string; key: string | null; state: string; offset: number }>(
          sql,
        );
        const { rows: decided } = await database.pool.query<{ id: string }>('SELECT command_id AS id FROM decisions');
        const committed = sandbox.updates.map((update) => {
          const { commandId: id = '', offset } = updateValue(update) as { commandId?: string; offset: number };
          return { id, offset };
        });
        print(`an outbox: ${committed.length} commands, ${sandbox.requests.length} requests`);
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
        expect(committed.length).toBeGreaterThan(kills);
      } finally {
        await given.close();
      }
    },
    some.timeoutMs,
  );
});
