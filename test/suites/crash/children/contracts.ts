import { createHash } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import { filter, takeWhile } from 'rxjs';
import type { AnyContract } from '../../../../src/contracts/Contract.js';
import { postgresStore } from '../../../../src/postgres/index.js';
import { contractsFeed } from '../../../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../../../src/process/ContractsWork.js';
import { processFeed } from '../../../../src/process/index.js';
import { markCommits, openLedger, orders } from './child.js';
import { mark, markTransactionalStore } from './marks.js';

const { storeUrl, life, commitEvery, end = Infinity } = orders;
const pool = new Pool({ connectionString: storeUrl, application_name: `life ${life}`, max: 3 });
pool.on('error', () => undefined);

const insertContracts = `INSERT INTO contracts
  SELECT * FROM json_to_recordset($1) AS c(id text, location text, counter int, hash text)`;

async function add(contracts: readonly AnyContract[], tx: PoolClient): Promise<void> {
  if (contracts.length === 0) return;
  const rows = contracts.map(({ contractId, location, reassignmentCounter, createdEvent }) => ({
    id: contractId,
    location:
      'inFlight' in location ? `${location.inFlight.source}>${location.inFlight.target}` : location.synchronizerId,
    counter: reassignmentCounter,
    hash: createHash('sha256').update(JSON.stringify(createdEvent.createArgument)).digest('hex'),
  }));
  await tx.query(insertContracts, [JSON.stringify(rows)]);
}

/** Removes contracts, each of which must be in the table. */
async function remove(contracts: readonly AnyContract[], tx: PoolClient): Promise<void> {
  if (contracts.length === 0) return;
  const ids = contracts.map(({ contractId }) => contractId);
  const { rowCount } = await tx.query('DELETE FROM contracts WHERE id = ANY($1)', [ids]);
  if (rowCount !== ids.length) throw new Error(`${rowCount ?? 0} of ${ids.length} contracts were in the table`);
}

async function handle(work: ContractsWork, tx: PoolClient): Promise<void> {
  mark('u');
  if (work._tag === 'ResetBatch') {
    mark('r');
    if (work.isFirst) {
      await tx.query('DELETE FROM contracts');
      await tx.query('INSERT INTO loads (reason, life) VALUES ($1, $2)', [work.reason, life]);
    }
    await add(work.contracts, tx);
    return;
  }
  await remove([...work.removed, ...work.moved.map(({ contract }) => contract)], tx);
  await add([...work.added, ...work.moved.map(({ contract }) => contract)], tx);
}

const ledger = openLedger();
// the processes are killed when they are silent, but a snapshot takes some time
ledger.diagnostics$
  .pipe(filter(({ _tag }) => _tag === 'SnapshotPageReceived' || _tag === 'RetryScheduled'))
  .subscribe(() => {
    mark('p');
  });

processFeed(contractsFeed(ledger, { parties: 'any' }, { batchSize: 10 }), handle, {
  name: 'contracts',
  store: markTransactionalStore(postgresStore({ pool, pollMs: 10 })),
  commitEvery: { updates: commitEvery },
  retry: { baseDelayMs: 1, maxDelayMs: 20 },
  handlerRetry: { giveUpAfterMs: 0 },
})
  .pipe(takeWhile(({ offset }) => offset < end, true))
  .subscribe(markCommits(() => pool.end()));
