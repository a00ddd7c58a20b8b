import { setTimeout as wait } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { Pool } from 'pg';
import { filter, firstValueFrom, skip, timeout } from 'rxjs';
import { ContractElement, type ContractEntry } from '../../../src/codecs/ContractEntry.js';
import type { CreatedEvent } from '../../../src/codecs/Event.js';
import { describeWithPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import { bundlePrograms, type Child, type Programs } from './Child.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { world, type World } from './world.js';

const commitEvery = 3;

/** How long a process may take for some batches, its start included, in milliseconds. */
const maxLoadMs = 30_000;

/** A contract, as the table has it. */
interface Row {
  readonly id: string;
  readonly location: string;
  readonly counter: number;
  readonly hash: string;
}

describeWithPostgres('a table of PostgreSQL has the active contracts of the ledger, each once', () => {
  let server: TestServer;
  let pool: Pool;
  let children: Programs;
  /** How often a cursor says that the contracts are not complete, after a process was killed. */
  let halves: number;

  beforeAll(async () => {
    children = await bundlePrograms('contracts');
    server = await postgresServer();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
  });
  afterAll(async () => {
    await children.remove();
    await pool.end();
    await server.stop();
  });
  beforeEach(async () => {
    await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, contracts, loads');
    // without a constraint that would reject a contract that is there
    await pool.query('CREATE TABLE contracts (id text, location text, counter int, hash text)');
    await pool.query('CREATE TABLE loads (n bigserial, reason text, life int)');
  });

  const readTable = async (): Promise<readonly Row[]> => {
    const { rows } = await pool.query<Row>('SELECT id, location, counter, hash FROM contracts');
    return sorted(rows);
  };
  /** How many batches are loaded of a reset that is not complete. */
  const readLoading = async (): Promise<number> => {
    const { rows } = await pool.query<{ loading: number | null }>(
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

  const one = parameters(60);
  it.each([
    ['its processor is killed at any moment, also between batches of a snapshot (pitfall 53)', 1],
    ['two processors compete, of which one writes, and each is killed at any moment (pitfall 55)', 2],
  ])(
    'when %s, and the ledger is pruned now and then',
    async (what, processes) => {
      const given = await world({ ...one, updates: one.updates / 4 });
      try {
        const start = (life: number, end?: number) =>
          children.start('contracts', { ledgerUrl: given.sandbox.url, storeUrl: server.url, life, end, commitEvery });
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
        const { rows: loads } = await pool.query<{ reason: string; count: string }>(
          'SELECT reason, count(*) FROM loads GROUP BY reason ORDER BY reason',
        );
        expect(kills).toBe(one.kills);
        const [table, ledger] = [await readTable(), await contractsOf(given)];
        print(
          `loads: ${loads.map(({ reason, count }) => `${reason} ${count}`).join(', ')}; ${halves} kills in the middle; ${table.length} contracts`,
        );
        expect(table.length).toBe(ledger.length);
        expect(table).toEqual(ledger);
        expect(await readLoading()).toBe(0);
        expect(loads.map(({ reason }) => reason)).toEqual(['pruned', 'start']);
        // of so many kills, many are between batches
        if (kills >= 60) expect(halves).toBeGreaterThan(kills / 8);
      } finally {
        await given.close();
      }
    },
    one.timeoutMs,
  );
});

const sorted = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (a.id === b.id ? a.location.localeCompare(b.location) : a.id.localeCompare(b.id)));

/** The contracts that the ledger has in the end, read without the library's snapshots and its fold. */
async function contractsOf({ sandbox }: World): Promise<readonly Row[]> {
  sandbox.configure({ maxListElements: 1_000_000 });
  const entries = await readEntries(`${sandbox.url}/v2/state/active-contracts`, sandbox.ledgerEnd);
  const latest = new Map<string, { readonly counter: number; readonly row: Row | undefined }>();
  const keep = (id: string, counter: number, row: Row | undefined): void => {
    const known = latest.get(id);
    // an entry of the same counter that has the contract is better than one that only says that the others are old
    if (known === undefined || known.counter < counter || (known.counter === counter && known.row === undefined))
      latest.set(id, { counter, row });
  };
  for (const entry of entries) {
    if (entry._tag === 'ActiveContract') {
      const { createdEvent, synchronizerId, reassignmentCounter } = entry;
      keep(createdEvent.contractId, reassignmentCounter, rowOf(createdEvent, synchronizerId, reassignmentCounter));
    } else if (entry._tag === 'IncompleteUnassigned') {
      const { source, target, reassignmentCounter } = entry.unassignedEvent;
      const row = rowOf(entry.createdEvent, `${source}>${target}`, reassignmentCounter);
      keep(row.id, reassignmentCounter, row);
    } else if (entry._tag === 'IncompleteAssigned') {
      const { createdEvent, reassignmentCounter } = entry.assignedEvent;
      keep(createdEvent.contractId, reassignmentCounter, undefined);
    } else throw new Error(`an entry of the kind ${entry.variant}`);
  }
  return sorted([...latest.values()].flatMap(({ row }) => row ?? []));
}

const rowOf = ({ contractId, createArgument }: CreatedEvent, location: string, counter: number): Row => ({
  id: contractId,
  location,
  counter,
  hash: createHash('sha256').update(JSON.stringify(createArgument)).digest('hex'),
});

/** The snapshot at an offset as one list; asked for again while faults are queued. */
async function readEntries(url: string, activeAtOffset: number): Promise<readonly ContractEntry[]> {
  const wildcard = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } };
  const eventFormat = { filtersByParty: {}, filtersForAnyParty: { cumulative: [wildcard] }, verbose: true };
  const body = JSON.stringify({ activeAtOffset, eventFormat });
  const headers = { 'content-type': 'application/json' };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
      const elements = t.array(ContractElement).decode(await response.json());
      if (response.ok && elements._tag === 'Right') return elements.right.map(({ contractEntry }) => contractEntry);
    } catch {
      // a fault
    }
    await wait(10);
  }
  throw new Error('the ledger does not serve its contracts');
}
