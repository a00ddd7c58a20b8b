import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lastValueFrom, takeWhile } from 'rxjs';
import { createLedger } from '../../src/index.js';
import { contractsProjection, postgresStore } from '../../src/postgres/index.js';
import { contractsFeed, processFeed } from '../../src/process/index.js';
import type { WireUpdateInput } from '../../src/sandbox/index.js';
import { createdEvent } from '../helpers/contractEvents.js';
import { contractHistories, contractsAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { sandboxes } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { withDatabase } from './support.js';

const query = { parties: 'any' } as const;

/** The contracts of a history as the table has them, each with its own payload. */
const expectedRows = (history: readonly HistoryUpdate[]): object[] =>
  [...contractsAt(history, Infinity)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([contractId, { location, reassignmentCounter }]) => ({
      contract_id: contractId,
      payload: (createdEvent({ contractId, offset: 0 }) as { readonly createArgument: unknown }).createArgument,
      source: 'inFlight' in location ? location.inFlight.source : location.synchronizerId,
      target: 'inFlight' in location ? location.inFlight.target : null,
      counter: reassignmentCounter,
    }));

const flightsAt = (history: readonly HistoryUpdate[], offset: number): number =>
  [...contractsAt(history, offset).values()].filter(({ location }) => 'inFlight' in location).length;

/** The offsets at which the most contracts are in flight. */
const busiestOf = (history: readonly HistoryUpdate[]): number[] =>
  history
    .map(({ offset }) => offset)
    .sort((one, other) => flightsAt(history, other) - flightsAt(history, one))
    .slice(0, 3);

/** Histories with several contracts in flight. */
const busyHistories = contractHistories({ maxEvents: 40 }).filter((history) =>
  busiestOf(history).some((offset) => flightsAt(history, offset) > 2),
);

const updatesIn = (history: readonly HistoryUpdate[]): WireUpdateInput[] =>
  history.map(({ element }) => (element as { readonly update: WireUpdateInput }).update);

describeWithPostgres('the projection of a participant that mispairs contracts in flight', () => {
  const database = withDatabase();
  const sandbox = sandboxes();

  it('has each contract with its own payload, whatever the pages, and after a crash in each load (G28)', async () => {
    const plan = fc.record({
      history: busyHistories,
      loadedAt: fc.nat(2),
      reloadedAt: fc.nat(2),
      pageSize: fc.integer({ min: 1, max: 3 }),
      batchSize: fc.integer({ min: 1, max: 4 }),
      crashAfter: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ history, loadedAt, reloadedAt, pageSize, batchSize, crashAfter }) => {
        await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE; DROP TABLE IF EXISTS canton_rx_cursors');
        const service = await sandbox({ mispairsInFlight: true });
        const ledger = createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
        const project = async (worksUntilCrash: number): Promise<void> => {
          const { pool } = database;
          const write = contractsProjection({ pool, query });
          let rest = worksUntilCrash;
          const feed = contractsFeed(ledger, query, { batchSize, maxSnapshotPageSize: pageSize });
          const options = {
            name: 'contracts',
            store: postgresStore({ pool }),
            commitEvery: { updates: 1 },
            handlerRetry: { giveUpAfterMs: 0 },
          };
          const handled$ = processFeed(
            feed,
            Object.assign((...args: Parameters<typeof write>) => {
              rest -= 1;
              // its transaction is rolled back
              if (rest < 0) throw new Error('crash');
              return write(...args);
            }, write),
            options,
          );
          await lastValueFrom(handled$.pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)), { defaultValue: undefined });
        };
        const check = async (soFar: readonly HistoryUpdate[]): Promise<void> => {
          await project(crashAfter).catch((error: unknown) => {
            expect(error).toMatchObject({ _tag: 'HandlerError' });
          });
          await project(Infinity);
          const rows = await database.read(`SELECT contract_id, payload, synchronizer_id AS source,
            in_flight_to AS target, reassignment_counter::int AS counter
            FROM contracts.active() ORDER BY contract_id COLLATE "C"`);
          expect(rows).toEqual(expectedRows(soFar));
        };
        const offsets = busiestOf(history);
        const [first = 0, second = 0] = [offsets[loadedAt] ?? 0, offsets[reloadedAt] ?? 0].sort((a, b) => a - b);
        const append = (after: number, until: number): void => {
          service.append(...updatesIn(history.filter(({ offset }) => offset > after && offset <= until)));
        };
        append(0, first);
        await check(history.filter(({ offset }) => offset <= first));
        append(first, second);
        // all contracts are loaded again
        service.prune(service.ledgerEnd);
        await check(history.filter(({ offset }) => offset <= second));
        append(second, Infinity);
        await check(history);
      }),
      // a plan waits for minutes if the list lacks the half of a contract in flight, and the update that has it is pruned
      { numRuns: effort(3, 100, 3) },
    );
  }, 240_000);
});
