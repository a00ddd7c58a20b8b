import { expect } from '@jest/globals';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import type { WireCreatedEvent, WireExercisedEvent } from '../../../src/sandbox/index.js';
import { canonical, type ContractState, tokenOf } from './children/rows.js';
import { creationsOf, type Gap, type HistoryEntry, historyOf } from './LedgerHistory.js';
import { LedgerStates } from './LedgerStates.js';
import type { World } from './world.js';

/** Compares every SQL function of a projection with the ledger, which is folded without the library. */
export async function checkFunctions(pool: Pool, { sandbox }: World): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SET search_path = contracts');
    const { rows: loads } = await pool.query<Load>('SELECT reason, before, "offset" FROM loads ORDER BY n');
    const gaps = gapsOf(loads);
    const { ledgerEnd: end, updates } = sandbox;
    const history = historyOf(updates, gaps);
    const checked = { client, end, gaps, history, ledger: new LedgerStates(updates), creations: creationsOf(updates) };
    await checkActive(checked);
    await checkPast(checked);
    await checkOffsets(checked);
    await checkHistory(checked);
    await checkLookups(checked);
    await checkSummaries(checked);
    await checkMaintenance(checked);
  } finally {
    client.release(true);
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

interface Checked {
  readonly client: PoolClient;
  readonly end: number;
  readonly gaps: readonly Gap[];
  readonly history: readonly HistoryEntry[];
  readonly ledger: LedgerStates;
  readonly creations: ReadonlyMap<string, WireCreatedEvent>;
}

async function read(
  { client }: Checked,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly QueryResultRow[]> {
  const { rows } = await client.query<QueryResultRow>(sql, [...values]);
  return rows;
}
async function one(checked: Checked, sql: string, values: readonly unknown[] = []): Promise<unknown> {
  const [row = {}] = await read(checked, `SELECT (${sql})::text AS value`, values);
  return row['value'];
}
const ids = (rows: readonly QueryResultRow[]): readonly string[] =>
  rows.map((row) => String(row['contract_id'])).sort();

/** A sample of a list, from its start to its end. */
const sampleOf = <A>(list: readonly A[], size: number): readonly A[] =>
  list.filter((_, index) => index % Math.max(1, Math.ceil(list.length / size)) === 0);

async function checkOffsets(checked: Checked): Promise<void> {
  const { end, gaps, history } = checked;
  expect(await one(checked, 'latest_offset()')).toBe(String(end));
  expect(await one(checked, 'oldest_offset()')).toBe(String(gaps[0]?.offset));
  await read(checked, 'SELECT validate_offset_exists($1)', [end]);
  await expect(read(checked, 'SELECT validate_offset_exists($1)', [end + 1])).rejects.toThrow();
  const changes = history.filter(({ isChange }) => isChange);
  const transactions = await read(checked, 'SELECT "offset" FROM transactions ORDER BY "offset"');
  expect(transactions.map((row) => Number(row['offset']))).toEqual(changes.map(({ offset }) => offset));
}

const templateOf = ({ packageName, templateId }: WireCreatedEvent): readonly string[] => {
  const [, module = '', entity = ''] = templateId.split(':');
  return [
    templateId,
    `#${packageName}:${module}:${entity}`,
    `${packageName}:${module}:${entity}`,
    `${module}:${entity}`,
    entity,
  ];
};

async function checkActive(checked: Checked): Promise<void> {
  const { end, ledger, creations } = checked;
  const states = [...ledger.at(end).values()];
  for (const all of ["''", 'NULL']) expect(await tokensOf(checked, all)).toEqual(states.map(tokenOf).sort());
  const templates = new Map([...creations.values()].map((created) => [created.templateId, templateOf(created)]));
  for (const names of templates.values()) {
    const expected = states.filter(({ contractId }) => creations.get(contractId)?.templateId === names[0]);
    for (const name of names) expect(await tokensOf(checked, `'${name}'`)).toEqual(expected.map(tokenOf).sort());
  }
  await expect(read(checked, "SELECT * FROM active('No:Such')")).rejects.toThrow(/No:Such/);
}

async function tokensOf(checked: Checked, name: string): Promise<readonly string[]> {
  const rows = await read(checked, `SELECT * FROM active(${name})`);
  const states = rows.map((row): ContractState => {
    const { contract_id, synchronizer_id, in_flight_to, reassignment_counter, payload } = row as Record<string, string>;
    return {
      contractId: String(contract_id),
      synchronizerId: String(synchronizer_id),
      inFlightTo: in_flight_to ?? null,
      reassignmentCounter: Number(reassignment_counter),
      payload,
    };
  });
  return states.map(tokenOf).sort();
}

/** The contracts of former offsets, also those before a gap. */
async function checkPast(checked: Checked): Promise<void> {
  const { ledger, history } = checked;
  const changes = history.filter(({ isChange }) => isChange);
  for (const { offset } of sampleOf(changes, 25)) {
    const expected = [...ledger.at(offset).keys()].sort();
    expect(ids(await read(checked, "SELECT * FROM active('', $1)", [offset]))).toEqual(expected);
    await read(checked, 'SELECT set_latest($1)', [offset]);
    expect(ids(await read(checked, "SELECT * FROM active('')"))).toEqual(expected);
    await read(checked, 'SELECT set_latest(NULL)');
  }
}

/** What each known update created, archived and exercised, and nothing else. */
async function checkHistory(checked: Checked): Promise<void> {
  const { history, creations } = checked;
  const known = new Set(history.map(({ offset }) => offset));
  const at = (column: string, rows: readonly QueryResultRow[]): readonly string[] =>
    rows
      .filter((row) => known.has(Number(row[column])))
      .map((row) => `${String(row[column])} ${String(row['contract_id'])}`)
      .sort();
  const of = (list: (entry: HistoryEntry) => readonly string[]): readonly string[] =>
    history.flatMap((entry) => list(entry).map((id) => `${entry.offset} ${id}`)).sort();
  const created = await read(checked, "SELECT * FROM creates('')");
  expect(at('created_at_offset', created)).toEqual(of(({ appeared }) => appeared));
  const archived = await read(checked, "SELECT * FROM archives('')");
  expect(at('archived_at_offset', archived)).toEqual(of(({ disappeared }) => disappeared));
  const exercised = await read(checked, "SELECT * FROM exercises('')");
  const expected = history.flatMap(({ exercises }) => exercises);
  expect(exercised.map(exerciseOf).sort()).toEqual(expected.map(wireExercise).sort());
  // a row of each kind, as the ledger has it
  for (const row of sampleOf(created, 20)) {
    const { contractId, signatories, observers, packageName } = creations.get(String(row['contract_id'])) ?? {};
    expect(row).toMatchObject({ contract_id: contractId, signatories, observers, package_name: packageName });
  }
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

async function checkLookups(checked: Checked): Promise<void> {
  const { end, ledger, history } = checked;
  const active = sampleOf([...ledger.at(end).keys()], 10);
  const gone = sampleOf(
    history.flatMap(({ disappeared }) => disappeared),
    10,
  );
  for (const id of [...active, ...gone]) {
    const rows = await read(checked, 'SELECT * FROM lookup_contract($1)', [id]);
    expect(ids(rows)).toEqual([id]);
    expect(rows[0]?.['archived_at_offset'] === null).toBe(active.includes(id));
    const exercises = history.flatMap((entry) => entry.exercises).filter(({ contractId }) => contractId === id);
    const found = await read(checked, 'SELECT * FROM lookup_exercises($1)', [id]);
    expect(found.map(exerciseOf).sort()).toEqual(exercises.map(wireExercise).sort());
  }
}

async function checkSummaries(checked: Checked): Promise<void> {
  for (const [summary, rows] of [
    ['summary_active()', "active('')"],
    ['summary_creates()', "creates('')"],
    ['summary_archives()', "archives('')"],
    ['summary_exercises()', "exercises('')"],
  ] as const) {
    const found = await one(checked, `SELECT sum(count) FROM ${summary}`);
    expect(found).toBe(await one(checked, `SELECT count(*) FROM ${rows}`));
  }
}

/** Maintenance changes nothing that is active. */
async function checkMaintenance(checked: Checked): Promise<void> {
  const { history, end, ledger } = checked;
  const archivals = history.filter(({ disappeared }) => disappeared.length > 0);
  const middle = archivals[Math.floor(archivals.length / 2)]?.offset ?? end;
  await read(checked, "SELECT create_index_for_contract('by_owner', 'Main:Asset', '{owner}')");
  await read(checked, 'SELECT prune_archived_to_offset($1)', [middle]);
  const archived = await read(checked, "SELECT archived_at_offset FROM archives('')");
  expect(archived.every((row) => Number(row['archived_at_offset']) > middle)).toBe(true);
  expect(archived.length).toBeGreaterThan(0);
  expect(await tokensOf(checked, "''")).toEqual([...ledger.at(end).values()].map(tokenOf).sort());
}
