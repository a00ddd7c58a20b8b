import { expect } from '@jest/globals';
import type { Pool, QueryResultRow } from 'pg';
import { type Sandbox, type WireExercisedEvent } from '../../../src/sandbox/index.js';
import { canonical, tokenOf } from './children/rows.js';
import { creationsOf, type Gap, type HistoryEntry, historyOf } from './LedgerHistory.js';
import { LedgerStates } from './LedgerStates.js';

/** Compares the rows of a projection with the ledger, which is folded without the library. */
export async function checkHistory(pool: Pool, { ledgerEnd, updates }: Sandbox): Promise<void> {
  const read = async (rows: string): Promise<readonly QueryResultRow[]> =>
    (await pool.query<QueryResultRow>(`SELECT * FROM contracts.${rows}`)).rows;
  const { rows: loads } = await pool.query<Load>('SELECT reason, before, "offset" FROM loads ORDER BY n');
  const gaps = gapsOf(loads);
  const history = historyOf(updates, gaps);
  const creations = creationsOf(updates);

  const states = [...new LedgerStates(updates).at(ledgerEnd).values()];
  const active = (await read("active('')")).map((row) =>
    tokenOf({
      contractId: String(row['contract_id']),
      synchronizerId: String(row['synchronizer_id']),
      inFlightTo: row['in_flight_to'] as string | null,
      reassignmentCounter: Number(row['reassignment_counter']),
      payload: row['payload'],
    }),
  );
  expect(active.sort()).toEqual(states.map(tokenOf).sort());
  const { rows: offsets } = await pool.query<{ oldest: string; latest: string }>(
    'SELECT contracts.oldest_offset() AS oldest, contracts.latest_offset() AS latest',
  );
  expect(offsets).toEqual([{ oldest: String(gaps[0]?.offset), latest: String(ledgerEnd) }]);

  // what each known update created, archived and exercised, and nothing else
  const known = new Set(history.map(({ offset }) => offset));
  const at = (column: string, rows: readonly QueryResultRow[]): readonly string[] =>
    rows
      .filter((row) => known.has(Number(row[column])))
      .map((row) => `${String(row[column])} ${String(row['contract_id'])}`)
      .sort();
  const of = (list: (entry: HistoryEntry) => readonly string[]): readonly string[] =>
    history.flatMap((entry) => list(entry).map((id) => `${entry.offset} ${id}`)).sort();
  const transactions = await read('transactions ORDER BY "offset"');
  const changes = history.filter(({ isChange }) => isChange);
  expect(transactions.map((row) => Number(row['offset']))).toEqual(changes.map(({ offset }) => offset));
  const created = await read("creates('')");
  expect(at('created_at_offset', created)).toEqual(of(({ appeared }) => appeared));
  expect(at('archived_at_offset', await read("archives('')"))).toEqual(of(({ disappeared }) => disappeared));
  const exercised = (await read("exercises('')")).map(exerciseOf).sort();
  expect(exercised).toEqual(
    history
      .flatMap(({ exercises }) => exercises)
      .map(wireExercise)
      .sort(),
  );
  for (const row of created) {
    const { contractId, signatories, observers, packageName } = creations.get(String(row['contract_id'])) ?? {};
    expect(row).toMatchObject({ contract_id: contractId, signatories, observers, package_name: packageName });
  }
}

/** A snapshot that was loaded, or was begun. */
interface Load {
  readonly reason: string;
  readonly before: string | null;
  readonly offset: string;
}

/** What the table does not know. A load that does not follow pruning replaces everything: the first gap is before the last of them. */
function gapsOf(loads: readonly Load[]): readonly Gap[] {
  const first = loads.findLastIndex(({ reason }) => reason !== 'pruned');
  return loads.slice(first).map(({ before, offset }, index) => ({
    before: index === 0 ? 0 : Number(before),
    offset: Number(offset),
  }));
}

const exerciseOf = (row: QueryResultRow): string => {
  const { exercised_at_offset, contract_id, choice, consuming, argument, result, controllers } = row;
  return JSON.stringify(
    canonical([Number(exercised_at_offset), contract_id, choice, consuming, argument, result, controllers]),
  );
};

const wireExercise = (event: WireExercisedEvent): string => {
  const { offset, contractId, choice, consuming, choiceArgument, exerciseResult, actingParties } = event;
  return JSON.stringify(
    canonical([offset, contractId, choice, consuming, choiceArgument, exerciseResult, actingParties]),
  );
};
