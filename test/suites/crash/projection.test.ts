import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { migrateProjection } from '../../../src/postgres/index.js';
import type { Sandbox, WireUpdate } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/time.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { withDatabase } from './database.js';
import { LedgerStates } from './LedgerStates.js';
import { checkHistory } from './projectionHistory.js';
import { findHalves, readObservations } from './projectionNotes.js';
import { world } from './world.js';

const commitEvery = 2;

/** Also while contracts are loaded. */
const moments = ['late', 'r', 's', 'late', 'early', 'c', 'r', 'late', 's', 'p'] as const;

describeWithPostgres('a projection in PostgreSQL is the ledger at its offset, whatever is killed', () => {
  const database = withDatabase('projection', 'projectionReader');
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'canton-rx-projection-'));
    await lastValueFrom(migrateProjection({ pool: database.pool }));
    await database.pool.query('CREATE TABLE loads (n bigserial, reason text, before bigint, "offset" bigint)');
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const one = parameters(200, 16);
  it(
    'its processors and the database at any moment, while others read it, the ledger is pruned now and then, and once restored (G48)',
    async () => {
      const given = await world({ ...one, updates: one.updates / 9 });
      const { sandbox } = given;
      const notes = join(folder, 'observations');
      const orders = { ledgerUrl: sandbox.url, storeUrl: database.server.url, commitEvery };
      const start = (life: number, end?: number) => database.programs.start('projection', { ...orders, life, end });
      const reader = database.programs.start('projectionReader', { ...orders, life: 0, notes });
      const isLong = one.kills >= 40;
      let former: readonly WireUpdate[] = [];
      // not while the database is down, which it is after each sixth
      const restoredAt = Math.ceil(one.kills / 3) + 3;
      let prunedTo = 0;
      /** Whether a query has rows; not if the database is down, or has no tables yet. */
      const has = (sql: string): Promise<boolean> =>
        database.pool.query(sql).then(
          ({ rows }) => rows.length > 0,
          () => false,
        );
      const afterKill = async (killed: number): Promise<void> => {
        // the processor must have something that the restored ledger lacks, and that was not pruned: it knows its ledger by it
        if (killed === restoredAt && isLong) {
          const known = (): number => Math.max(prunedTo, offsetFromEnd(sandbox, restoredUpdates - 10));
          await until(() => has(`SELECT FROM contracts.latest_offset() AS latest WHERE latest > ${known()}`));
          // long enough for a processor to request something meanwhile
          await sandbox.restart({
            downMs: 2_000,
            whileDown: () => {
              former = restore(sandbox, one.seed);
            },
          });
        }
        const isKnown = killed < restoredAt || !isLong || (await has("SELECT FROM loads WHERE reason = 'ledgerReset'"));
        if (one.random() >= 0.25 || !isKnown) return;
        prunedTo = Math.max(0, given.end() - Math.floor(one.random() * 6));
        sandbox.prune(prunedTo);
      };
      try {
        const { kills, phases } = await runWithCrashes(
          { what: 'a projection', processes: 2, start, moments, server: database.server, afterKill },
          given,
          { ...one, updates: one.updates / 9 },
        );
        // a gap at the end, whatever the others have met
        sandbox.generate(40, { seed: one.seed });
        sandbox.prune(given.end() - 10);
        for (const life of [-1, -2]) {
          sandbox.generate(20, { seed: one.seed + life });
          expect(await start(life, given.end()).over).toBeUndefined();
        }
        expect(reader.isOver() ? await reader.over : undefined).toBeUndefined();
        reader.signal('SIGKILL');
        await reader.over;
        await given.endFaults();

        const ledger = new LedgerStates(sandbox.updates);
        const observations = await readObservations(notes);
        const { rows: loads } = await database.pool.query<{ reason: string; count: string }>(
          'SELECT reason, count(*) FROM loads GROUP BY reason ORDER BY reason',
        );
        const reasons = loads.map(({ reason, count }) => `${reason} ${count}`).join(', ');
        print(
          `loads: ${reasons}; ${observations.length} states read; ${ledger.at(given.end()).size} contracts at the end`,
        );
        expect(kills).toBe(one.kills);
        expect(findHalves([ledger, new LedgerStates(former)], observations)).toEqual([]);
        await checkHistory(database.pool, sandbox);
        if (!isLong) return;
        expect(loads.map(({ reason }) => reason)).toEqual(['ledgerReset', 'pruned', 'start']);
        // of so many kills, some are in the middle of a reset, and some during a commit
        expect(phases.get('reset') ?? 0).toBeGreaterThan(0);
        expect((phases.get('save') ?? 0) + (phases.get('commit') ?? 0)).toBeGreaterThan(0);
        expect(observations.length).toBeGreaterThan(kills / 2);
      } finally {
        if (!reader.isOver()) reader.signal('SIGKILL');
        await reader.over;
        await given.close();
      }
    },
    one.timeoutMs,
  );
});

/** How many of the last updates the restored ledger lacks. */
const restoredUpdates = 60;

const offsetFromEnd = ({ updates }: Sandbox, count: number): number =>
  updateValue(updates[updates.length - count] ?? raise()).offset;

/**
 * Restores a ledger to an earlier end, from which it goes on in another way, and returns the updates that it had. It grows
 * beyond its former end at once: a processor whose cursor is beyond the end would wait some seconds for the ledger.
 */
function restore(sandbox: Sandbox, seed: number): readonly WireUpdate[] {
  const updates = [...sandbox.updates];
  sandbox.restore(offsetFromEnd(sandbox, restoredUpdates));
  sandbox.generate(90, { seed: seed + 1 });
  return updates;
}

function raise(): never {
  throw new Error('the ledger is too short');
}
