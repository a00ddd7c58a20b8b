import { Pool, type PoolClient } from 'pg';
import { filter, firstValueFrom, lastValueFrom } from 'rxjs';
import { acsDelta, type CreatedEvent } from '../../../../src/index.js';
import { copyRows } from '../../../../src/postgres/projection/loadContracts.js';
import { contractColumns } from '../../../../src/postgres/projection/tables.js';
import { contractsProjection, migrateProjection, postgresStore } from '../../../../src/postgres/index.js';
import { contractsFeed, type ContractsWork, type HandlerResult, processFeed } from '../../../../src/process/index.js';
import { type Load, type Outcome, stopwatch } from '../Load.js';
import { origin } from '../ledgerText.js';
import { ledgerOf } from './feed.js';

const query = { parties: 'any' } as const;

const columns = { generation: 'int', ...contractColumns } as const;

/** The number of contracts in a transaction. */
const batchSize = 500;

/** An empty projection, and a pool. */
async function withProjection<A>({ databaseUrl }: Load, use: (pool: Pool) => Promise<A>): Promise<A> {
  const pool = new Pool({ connectionString: databaseUrl });
  await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked');
  await pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
  await lastValueFrom(migrateProjection({ pool }));
  // what the server has to do for the run before is not part of this one
  await pool.query('CHECKPOINT');
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
}

/** Loads the contracts of a ledger. */
export const loadProjection = (load: Load): Promise<Outcome> =>
  withProjection(load, async (pool) => {
    const { count } = load;
    const project = contractsProjection({ pool, query });
    const startedAt = performance.now();
    let writingSince = NaN;
    const handler = (work: ContractsWork, tx: PoolClient): HandlerResult => {
      if (work._tag === 'ResetBatch' && work.isFirst) writingSince = performance.now();
      return project(work, tx);
    };
    const feed = contractsFeed(await ledgerOf(load), query, { batchSize });
    const committed$ = processFeed(feed, handler, { name: 'bench', store: postgresStore({ pool }) });
    await firstValueFrom(committed$.pipe(filter(({ offset }) => offset > 0)));
    return outcome(count, startedAt, writingSince);
  });

/** Reads the same snapshot with fetch, and copies the same rows into the same table in a loop. */
export const loopProjection = (load: Load): Promise<Outcome> =>
  withProjection(load, async (pool) => {
    const startedAt = performance.now();
    const contracts = await readSnapshot(load);
    const writingSince = performance.now();
    const client = await pool.connect();
    const { rows } = await client.query<{ pk: number }>(insertTemplate);
    const templatePk = rows[0]?.pk ?? 0;
    for (let first = 0; first < contracts.length; first += batchSize) {
      const batch = contracts.slice(first, first + batchSize).map((entry) => rowOf(entry, templatePk));
      await client.query('BEGIN');
      await lastValueFrom(copyRows(client, 'contracts.projection_contracts', columns, batch), {
        defaultValue: undefined,
      });
      await client.query('COMMIT');
    }
    client.release();
    return outcome(load.count, startedAt, writingSince);
  });

/** Follows a ledger whose updates create and archive contracts, in batches. */
export const projectChanges = (load: Load): Promise<Outcome> =>
  withProjection(load, async (pool) => {
    const { count } = load;
    const watch = stopwatch(count);
    const project = contractsProjection({ pool, query });
    const handler = async (works: readonly ContractsWork[], tx: PoolClient): Promise<void> => {
      await lastValueFrom(project(works, tx), { defaultValue: undefined });
      watch.add(works.filter(({ _tag }) => _tag === 'ContractsChanged').length);
    };
    const committed$ = processFeed(contractsFeed(await ledgerOf(load), query), handler, {
      name: 'bench',
      store: postgresStore({ pool }),
      batch: { size: 200, withinMs: 10 },
    });
    await firstValueFrom(committed$.pipe(filter(({ offset }) => offset >= origin + count)));
    return { cost: watch.each() };
  });

const outcome = (count: number, startedAt: number, writingSince: number): Outcome => {
  const end = performance.now();
  const each = (since: number): number => ((end - since) * 1_000) / count;
  return { cost: each(startedAt), figures: { writingUs: each(writingSince) } };
};

/** An active contract, as the ledger sends it. */
interface Entry {
  readonly createdEvent: CreatedEvent;
  readonly synchronizerId: string;
  readonly reassignmentCounter: number;
}

async function readSnapshot({ url, count, step }: Load): Promise<readonly Entry[]> {
  const { includeReassignments: eventFormat } = acsDelta({ parties: 'any' });
  const entries: Entry[] = [];
  let pageToken: string | null | undefined;
  while (pageToken !== null) {
    const response = await fetch(`${url}/v2/state/active-contracts-page`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ activeAtOffset: origin + count * step, eventFormat, maxPageSize: 500, pageToken }),
    });
    const page = JSON.parse(await response.text()) as Page;
    for (const { contractEntry } of page.activeContracts) entries.push(contractEntry.JsActiveContract);
    pageToken = page.nextPageToken;
  }
  return entries;
}

interface Page {
  readonly activeContracts: readonly { readonly contractEntry: { readonly JsActiveContract: Entry } }[];
  readonly nextPageToken: string | null;
}

const insertTemplate = `INSERT INTO contracts.projection_templates
  (payload_type, template_id, template_fqn, module, entity, package_id, choice)
  VALUES ('template', 'p:Main:Asset', 'main:Main:Asset', 'Main', 'Asset', 'p', '') RETURNING template_pk AS pk`;

const rowOf = ({ createdEvent, synchronizerId, reassignmentCounter }: Entry, template_pk: number) => ({
  generation: 1,
  template_pk,
  contract_id: createdEvent.contractId,
  created_at_offset: createdEvent.offset,
  created_node_id: createdEvent.nodeId,
  created_effective_at: createdEvent.createdAt,
  synchronizer_id: synchronizerId,
  reassignment_counter: reassignmentCounter,
  payload: JSON.stringify(createdEvent.createArgument),
  signatories: createdEvent.signatories,
  observers: createdEvent.observers,
  witnesses: createdEvent.witnessParties,
  metadata: createdEvent.createdEventBlob === '' ? undefined : createdEvent.createdEventBlob,
});
