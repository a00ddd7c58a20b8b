import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, type QueryResult } from 'pg';
import { defer, repeat } from 'rxjs';
import type { ReadWay } from '../projectionNotes.js';
import { orders } from './child.js';
import { idTokenOf, tokenOf } from './rows.js';

/** Reads the table all the time, and notes what it has not read before: at which offset there were which contracts. */
const notes = openSync(orders.notes ?? '', 'a');
const noted = new Set<string>();

function note(way: ReadWay, offset: string, tokens: readonly string[]): void {
  const line = `${way} ${offset} ${tokens.toSorted().join(',')}`;
  if (noted.has(line)) return;
  noted.add(line);
  // a kill can cut a write: the mark is its end
  writeSync(notes, `\n${line} .`);
}

interface Row {
  readonly latest: string | null;
  readonly contract_id: string | null;
  readonly synchronizer_id: string;
  readonly in_flight_to: string | null;
  readonly reassignment_counter: string;
  readonly payload: unknown;
}
const columns = 'contract_id, synchronizer_id, in_flight_to, reassignment_counter, payload';

const stateTokens = (rows: readonly Row[]): readonly string[] =>
  rows.flatMap(({ contract_id: contractId, synchronizer_id, in_flight_to, reassignment_counter, payload }) =>
    contractId === null
      ? []
      : tokenOf({
          contractId,
          synchronizerId: synchronizer_id,
          inFlightTo: in_flight_to,
          reassignmentCounter: Number(reassignment_counter),
          payload,
        }),
  );
const idTokens = ({ rows }: QueryResult<Row>): readonly string[] =>
  rows.flatMap(({ contract_id: id }) => (id === null ? [] : idTokenOf(id)));

/** One statement: the offset and the contracts are of one moment. */
async function readAtOnce(client: Client): Promise<void> {
  const sql = `SELECT latest, ${columns} FROM (SELECT contracts.latest_offset() AS latest) AS now
    LEFT JOIN contracts.active('') ON true`;
  const { rows } = await client.query<Row>(sql);
  const [first] = rows;
  // before the contracts are complete for the first time there are none
  note('statement', first?.latest ?? '0', stateTokens(rows));
}

/** Several statements of one transaction, of which all have one snapshot of the database. */
async function readInTransaction(client: Client): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    const latest = await latestOffset(client);
    await wait(Math.random() * 5);
    const { rows } = await client.query<Row>(`SELECT ${columns} FROM contracts.active('')`);
    note('transaction', latest ?? '0', stateTokens(rows));
  } finally {
    await client.query('COMMIT');
  }
}

/** The contracts of an offset that is no longer the latest one. */
async function readPast(client: Client): Promise<void> {
  const latest = await latestOffset(client);
  if (latest === null) return;
  await wait(Math.random() * 30);
  try {
    note(
      'past',
      latest,
      idTokens(await client.query<Row>("SELECT contract_id FROM contracts.active('', $1)", [latest])),
    );
  } catch (error) {
    if (!isReplaced(error)) throw error;
  }
}

async function latestOffset(client: Client): Promise<string | null> {
  const { rows } = await client.query<Row>('SELECT contracts.latest_offset() AS latest');
  return rows[0]?.latest ?? null;
}

async function readWhileConnected(): Promise<void> {
  const client = new Client({ connectionString: orders.storeUrl, application_name: 'reader' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (;;) {
      for (const read of [readAtOnce, readInTransaction, readPast]) {
        await read(client);
        await wait(Math.random() * 40);
      }
    }
  } catch (error) {
    if (!isOutage(error)) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the ledger was restored, so that offsets are unknown that were there before: 22003 is out of range, 55000 not reached. */
const isReplaced = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['22003', '55000'].includes(String(error.code));

/** Whether the database is down, or was killed during a query. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return /^(57P|08|ECONN|EPIPE)/.test(code) || /[Cc]onnection (terminated|ended)|not queryable/.test(error.message);
}

defer(readWhileConnected)
  .pipe(repeat({ delay: 20 }))
  .subscribe({
    error: (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  });
