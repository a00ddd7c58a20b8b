import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractsChanged } from '../../src/contracts/ContractChange.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { makeContract } from '../../src/contracts/Contract.js';
import { contractsProjection } from '../../src/postgres/index.js';
import { contractHistories, contractsAt, entriesAt, type HistoryUpdate, offsetIn } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { decodeEntry, decodeUpdate, statesOf } from '../helpers/foldLaw.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { batchesOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

/** A stay of a contract in the projection, as the test keeps it. */
interface Stay {
  readonly id: string;
  readonly from: number;
  /** Absent while it is active. */
  until?: number;
}

/** What a projection should have, by the works that it got. */
class Model {
  stays: Stay[] = [];
  oldest = 0;
  latest = 0;
  gaps: { readonly after: number; readonly until: number }[] = [];

  get active(): readonly string[] {
    return this.#idsOf(({ until }) => until === undefined);
  }

  activeAt(at: number): readonly string[] {
    return this.#idsOf(({ from, until = Infinity }) => from <= at && until > at);
  }

  createdIn(first: number, last: number): readonly string[] {
    return this.#idsOf(({ from }) => from >= first && from <= last);
  }

  archivedIn(first: number, last: number): readonly string[] {
    return this.#idsOf(({ until = Infinity }) => until >= first && until <= last);
  }

  knows(at: number): boolean {
    return at >= this.oldest && at <= this.latest && !this.gaps.some(({ after, until }) => at > after && at < until);
  }

  reset(reason: 'start' | 'pruned' | 'ledgerReset', offset: number, contracts: readonly AnyContract[]): void {
    const now = new Set(contracts.map(({ contractId }) => contractId));
    if (reason === 'pruned') {
      for (const stay of this.#activeStays()) if (!now.has(stay.id)) stay.until = offset;
      if (offset > this.latest) this.gaps.push({ after: this.latest, until: offset });
    } else {
      this.stays = [];
      this.gaps = [];
      this.oldest = offset;
    }
    const known = new Set(this.active);
    for (const contract of contracts) {
      if (!known.has(contract.contractId)) this.stays.push({ id: contract.contractId, from: contract.offset });
    }
    this.latest = offset;
  }

  change({ offset, added, removed }: ContractsChanged): void {
    for (const { contractId } of removed) {
      for (const stay of this.#activeStays()) if (stay.id === contractId) stay.until = offset;
    }
    for (const contract of added) this.stays.push({ id: contract.contractId, from: contract.offset });
    this.latest = offset;
  }

  #activeStays(): readonly Stay[] {
    return this.stays.filter(({ until }) => until === undefined);
  }

  #idsOf(isMatch: (stay: Stay) => boolean): readonly string[] {
    return this.stays
      .filter(isMatch)
      .map(({ id }) => id)
      .sort();
  }
}

/** A snapshot of a history, and what happens after it until an offset. */
function play(history: readonly HistoryUpdate[], start: number, end: number) {
  const fold = new ContractsFold(makeContract());
  fold.load(entriesAt(history, start).map(decodeEntry));
  fold.settle();
  const contracts = fold.contracts.toArray();
  const changes = history
    .filter(({ offset }) => offset > start && offset <= end)
    .flatMap(({ element }) => fold.apply(decodeUpdate(element)) ?? []);
  return { contracts, changes, states: statesOf(fold.contracts) };
}

describeWithPostgres('the projection of a history', () => {
  const database = withDatabase();

  const { read } = database;
  /** Where the active contracts are. */
  const states = async () => {
    const { rows } = await database.pool.query<{ id: string; sync: string; target: string | null; counter: number }>(
      `SELECT contract_id AS id, synchronizer_id AS sync, in_flight_to AS target, reassignment_counter::int AS counter
      FROM contracts.active('Marble') ORDER BY contract_id`,
    );
    return new Map(
      rows.map(({ id, sync, target, counter }) => [
        id,
        {
          location: target === null ? { synchronizerId: sync } : { inFlight: { source: sync, target } },
          reassignmentCounter: counter,
        },
      ]),
    );
  };
  const checkHistory = async (model: Model, offsets: readonly number[]): Promise<void> => {
    const ids = (sql: string): string => `ARRAY(SELECT contract_id FROM ${sql} ORDER BY 1)`;
    expect(await read(`SELECT ${ids('contracts.active()')} AS active`)).toEqual([{ active: model.active }]);
    const known = offsets.filter((at) => model.knows(at));
    const rows = await read(
      `SELECT ${ids('contracts.active(NULL, o)')} AS active, ${ids('contracts.creates(NULL, o, o + 4)')} AS creates,
        ${ids("contracts.archives('', o, o + 4)")} AS archives
      FROM unnest($1::bigint[]) WITH ORDINALITY AS offsets(o, n) ORDER BY n`,
      [known],
    );
    expect(rows).toEqual(
      known.map((at) => ({
        active: model.activeAt(at),
        creates: model.createdIn(at, at + 4),
        archives: model.archivedIn(at, at + 4),
      })),
    );
    const unknown = offsets.find((at) => !model.knows(at));
    if (unknown !== undefined)
      await expect(read('SELECT contracts.validate_offset_exists($1)', [unknown])).rejects.toThrow('offset');
  };

  it('has what the fold has, at every offset, through resets that follow pruning, and new ledgers (G49)', async () => {
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
    const plan = fc.record({
      history: contractHistories({ maxEvents: 30 }),
      other: contractHistories({ maxEvents: 12 }),
      points: fc.tuple(fc.nat(60), fc.nat(60), fc.nat(60), fc.nat(60)),
      batchSize: fc.integer({ min: 1, max: 6 }),
      perCommit: fc.integer({ min: 1, max: 7 }),
      isInterrupted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ history, other, points, batchSize, perCommit, isInterrupted }) => {
        const model = new Model();
        const [start = 0, until = 0, again = 0, end = 0] = points
          .map((it) => offsetIn(history, it))
          .sort((a, b) => a - b);
        const all = history.map(({ offset }) => offset);

        const first = play(history, start, until);
        await write(database.pool, handler, batchesOf('start', start, first.contracts, batchSize), perCommit);
        model.reset('start', start, first.contracts);
        await write(database.pool, handler, first.changes, perCommit);
        for (const change of first.changes) model.change(change);
        if (first.contracts.length + first.changes.length > 0) expect(await states()).toEqual(first.states);
        await checkHistory(model, all);

        const second = play(history, again, end);
        const reload = batchesOf('pruned', again, second.contracts, batchSize);
        // a processor that dies in the middle of a load
        if (isInterrupted) {
          await write(database.pool, handler, reload.slice(0, -1), perCommit);
          await checkHistory(model, all);
        }
        await write(database.pool, handler, reload, perCommit);
        model.reset('pruned', again, second.contracts);
        await write(database.pool, handler, second.changes, perCommit);
        for (const change of second.changes) model.change(change);
        if (second.contracts.length + second.changes.length > 0) expect(await states()).toEqual(second.states);
        await checkHistory(model, all);

        const third = play(other, offsetIn(other, start), Infinity);
        const replacement = batchesOf('ledgerReset', offsetIn(other, start), third.contracts, batchSize);
        if (isInterrupted) await write(database.pool, handler, replacement.slice(0, -1), perCommit);
        await checkHistory(model, all);
        await write(database.pool, handler, replacement, perCommit);
        model.reset('ledgerReset', offsetIn(other, start), third.contracts);
        await write(database.pool, handler, third.changes, perCommit);
        for (const change of third.changes) model.change(change);
        if (third.contracts.length + third.changes.length > 0) {
          expect(await states()).toEqual(third.states);
          expect(third.states).toEqual(contractsAt(other, Infinity));
        }
        await checkHistory(
          model,
          other.map(({ offset }) => offset),
        );
        const { rows } = await database.pool.query<{ count: number }>(
          'SELECT count(*)::int AS count FROM contracts.projection_contracts WHERE generation < (SELECT generation FROM contracts.projection_state)',
        );
        // what nobody sees is removed with the next change or load
        if (third.changes.length > 0) expect(rows).toEqual([{ count: 0 }]);
      }),
      { numRuns: effort(12, 300) },
    );
  });
});
