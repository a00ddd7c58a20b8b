import { expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { migrateProjection } from '../../../src/postgres/index.js';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { tokenOf } from './children/rows.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { withDatabase } from './database.js';
import { creationsOf } from './LedgerHistory.js';
import { LedgerStates } from './LedgerStates.js';
import { world } from './world.js';

/** In the middle of a load, of a change of the parties, and of the commits of both. */
const moments = ['r', 'x', 'p', 's', 'x', 'early', 'r', 'c', 'x', 's'] as const;

describeWithPostgres('a projection whose parties come and go', () => {
  const database = withDatabase('projectionParties');
  const read = async <A>(sql: string): Promise<readonly A[]> => (await database.pool.query(sql)).rows as readonly A[];

  const one = parameters(120, 12);
  it(
    'has exactly what its parties see, wherever its process is killed while contracts are taken over (G82)',
    async () => {
      await lastValueFrom(migrateProjection({ pool: database.pool }));
      const extent = { ...one, updates: one.kills * 12 };
      const given = await world(extent);
      const { sandbox } = given;
      sandbox.generate(300, { seed: one.seed });
      const all = [...new Set([...creationsOf(sandbox.updates).values()].flatMap(stakeholdersOf))];
      const orders = { ledgerUrl: sandbox.url, storeUrl: database.server.url, commitEvery: 3, seed: one.seed };
      const start = (life: number, end?: number, parties = all) =>
        database.programs.start('projectionParties', { ...orders, life, end, parties });
      try {
        const { kills, phases } = await runWithCrashes(
          { what: 'a projection whose parties come and go', processes: 2, start, moments },
          given,
          extent,
        );
        await given.endFaults();
        expect(kills).toBe(one.kills);
        for (const parties of [all.slice(1, 3), all.slice(0, 1), all]) {
          sandbox.generate(10, { seed: one.seed + parties.length });
          expect(await start(-parties.length, given.end(), parties).over).toBeUndefined();
          await check(sandbox, new Set(parties));
        }
        const ends = await read<{ reason: string; count: string }>(
          'SELECT end_reason AS reason, count(*) FROM contracts.archives() GROUP BY 1 ORDER BY 1',
        );
        print(`ended: ${ends.map(({ reason, count }) => `${reason} ${count}`).join(', ')}`);
        expect(ends.map(({ reason }) => reason)).toEqual(['archived', 'selectionChanged']);
        if (kills < 40) return;
        // of so many kills, some are in the middle of a load, and some in that of a change or its commit
        const during = (...names: readonly string[]): number =>
          names.reduce((sum, name) => sum + (phases.get(name) ?? 0), 0);
        expect(during('reset', 'snapshot')).toBeGreaterThan(0);
        expect(during('selection', 'save', 'commit')).toBeGreaterThan(0);
      } finally {
        await given.close();
      }
    },
    one.timeoutMs,
  );

  /** Compares the rows with the ledger, which is folded without the library. */
  async function check({ updates, ledgerEnd }: Sandbox, parties: ReadonlySet<string>): Promise<void> {
    const creations = creationsOf(updates);
    const witnessesOf = (contractId: string): readonly string[] => {
      const creation = creations.get(contractId);
      return creation === undefined ? [] : stakeholdersOf(creation).filter((party) => parties.has(party));
    };
    const states = [...new LedgerStates(updates).at(ledgerEnd).values()];
    const seen = states.filter(({ contractId }) => witnessesOf(contractId).length > 0);
    const active = await read<Row>('SELECT * FROM contracts.active()');
    const tokens = active.map((row) =>
      tokenOf({
        contractId: row.contract_id,
        synchronizerId: row.synchronizer_id,
        inFlightTo: row.in_flight_to,
        reassignmentCounter: Number(row.reassignment_counter),
        payload: row.payload,
      }),
    );
    expect(tokens.sort()).toEqual(seen.map(tokenOf).sort());
    for (const { contract_id, witnesses, end_reason } of active)
      expect([contract_id, end_reason, [...witnesses].sort()]).toEqual([
        contract_id,
        null,
        [...witnessesOf(contract_id)].sort(),
      ]);
    // each contract once, whatever became of it, and each update
    expect(await read('SELECT contract_id, count(*) FROM contracts.creates() GROUP BY 1 HAVING count(*) > 1')).toEqual(
      [],
    );
    const known = await read<{ id: string }>('SELECT transaction_id AS id FROM contracts.transactions ORDER BY ix');
    const committed = new Set(updates.map((update) => updateValue(update).updateId));
    expect(known.filter(({ id }) => !committed.has(id))).toEqual([]);
    expect(new Set(known.map(({ id }) => id)).size).toBe(known.length);
    // an archival is where the ledger has it, and nothing else is one
    const ends = archivalsOf(updates);
    const archived = await read<Row>("SELECT * FROM contracts.archives() WHERE end_reason = 'archived'");
    for (const { contract_id, archived_at_offset } of archived)
      expect([contract_id, Number(archived_at_offset)]).toEqual([contract_id, ends.get(contract_id)]);
    expect(await read('SELECT FROM contracts.archives() WHERE archived_in_gap')).toEqual([]);
  }
});

/** A row of a function, as the driver of the database returns it. */
interface Row {
  readonly contract_id: string;
  readonly synchronizer_id: string;
  readonly in_flight_to: string | null;
  readonly reassignment_counter: string;
  readonly payload: unknown;
  readonly witnesses: readonly string[];
  readonly end_reason: string | null;
  readonly archived_at_offset: string;
}

const stakeholdersOf = ({ signatories, observers }: ReturnType<Creations['get']> & object): readonly string[] => [
  ...new Set([...signatories, ...observers]),
];

type Creations = ReturnType<typeof creationsOf>;

const archivalsOf = (updates: Sandbox['updates']): ReadonlyMap<string, number> =>
  new Map(
    updates.flatMap((update) => {
      const { offset, events } = updateValue(update);
      return events.flatMap((event): readonly (readonly [string, number])[] => {
        if ('ArchivedEvent' in event) return [[event.ArchivedEvent.contractId, offset]];
        return 'ExercisedEvent' in event && event.ExercisedEvent.consuming
          ? [[event.ExercisedEvent.contractId, offset]]
          : [];
      });
    }),
  );
