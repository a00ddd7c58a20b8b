import { createHash } from 'node:crypto';
import { beforeEach, expect, it } from '@jest/globals';
import { filter, firstValueFrom, skip, timeout } from 'rxjs';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import type { Child } from './Child.js';
import type { ContractState } from './children/rows.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { withDatabase } from './database.js';
import { ledgerContracts } from './ledgerContracts.js';
import { world } from './world.js';

const commitEvery = 3;

/** How long a process may take for some batches, its start included, in milliseconds. */
const maxLoadMs = 60_000;

/** A contract, as the table has it. */
interface Row {
  readonly id: string;
  readonly location: string;
  readonly counter: number;
  readonly hash: string;
}

describeWithPostgres('a table of PostgreSQL has the active contracts of the ledger, each once', () => {
  const database = withDatabase('contracts');
  /** How often a cursor says that the contracts are not complete, after a process was killed. */
  let halves: number;

  beforeEach(async () => {
    await database.pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, contracts, loads');
    // without a constraint that would reject a contract that is there
    await database.pool.query('CREATE TABLE contracts (id text, location text, counter int, hash text)');
    await database.pool.query('CREATE TABLE loads (n bigserial, reason text, life int)');
  });

  const readTable = async (): Promise<readonly Row[]> => {
    const { rows } = await database.pool.query<Row>('SELECT id, location, counter, hash FROM contracts');
    return sorted(rows);
  };
  /** How many batches are loaded of a reset that is not complete. */
  const readLoading = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ loading: number | null }>(
      "SELECT (cursor ->> 'loading')::int AS loading FROM canton_rx_cursors",
    );
    return rows[0]?.loading ?? 0;
  };

  /** Kills a process after some batches of the first load, of which some are committed. */
  const killWhileLoading = async (child: Child): Promise<void> => {
    const batches$ = child.mark$.pipe(filter((mark) => mark === 'r'));
    const before = Math.floor(one.random() * 40);
    await firstValueFrom(batches$.pipe(skip(before), timeout(maxLoadMs)));
    child.signal('SIGKILL');
    await child.over;
    if ((await readLoading()) > 0) halves += 1;
  };

  const one = parameters(60, 30);
  it.each([
    ['its processor is killed at any moment, also between batches of a snapshot (pitfall 53)', 1],
    ['two processors compete, of which one writes, and each is killed at any moment (pitfall 55)', 2],
  ])(
    'when %s, and the ledger is pruned now and then',
    async (what, processes) => {
      const given = await world({ ...one, updates: one.updates / 4 });
      try {
        const start = (life: number, end?: number) =>
          database.programs.start('contracts', {
            ledgerUrl: given.sandbox.url,
            storeUrl: database.server.url,
            life,
            end,
            commitEvery,
          });
        halves = 0;
        const afterKill = async (): Promise<void> => {
          if (one.random() < 0.3) given.sandbox.prune(Math.max(0, given.end() - Math.floor(one.random() * 20)));
          if ((await readLoading().catch(() => 0)) > 0) halves += 1;
        };
        given.grow(0.25);
        for (let times = 0; times < one.kills / 4; times += 1) await killWhileLoading(start(-times));
        const { kills } = await runWithCrashes({ what, processes, start, afterKill }, given, one);
        // a gap at the end, whatever the others have met
        given.sandbox.generate(20, { seed: one.seed });
        given.sandbox.prune(given.end());
        expect(await start(0, given.end()).over).toBeUndefined();
        await given.endFaults();
        const { rows: loads } = await database.pool.query<{ reason: string; count: string }>(
          'SELECT reason, count(*) FROM loads GROUP BY reason ORDER BY reason',
        );
        expect(kills).toBe(one.kills);
        const [table, ledger] = [await readTable(), sorted((await ledgerContracts(given)).map(rowOf))];
        print(
          `loads: ${loads.map(({ reason, count }) => `${reason} ${count}`).join(', ')}; ${halves} kills in the middle; ${table.length} contracts`,
        );
        expect(table.length).toBe(ledger.length);
        expect(table).toEqual(ledger);
        expect(await readLoading()).toBe(0);
        expect(loads.map(({ reason }) => reason)).toEqual(['pruned', 'start']);
        // of so many kills, some are between batches
        if (kills >= 30) expect(halves).toBeGreaterThan(0);
      } finally {
        await given.close();
      }
    },
    one.timeoutMs,
  );
});

const sorted = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (a.id === b.id ? a.location.localeCompare(b.location) : a.id.localeCompare(b.id)));

const rowOf = ({ contractId, synchronizerId, inFlightTo, reassignmentCounter, payload }: ContractState): Row => ({
  id: contractId,
  location: inFlightTo === null ? synchronizerId : `${synchronizerId}>${inFlightTo}`,
  counter: reassignmentCounter,
  hash: createHash('sha256').update(JSON.stringify(payload)).digest('hex'),
});
