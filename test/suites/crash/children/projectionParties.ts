import { Pool, type PoolClient } from 'pg';
import { concat, defer, EMPTY, ignoreElements, map, type Observable, of, takeWhile, timer } from 'rxjs';
import { contractsProjection, postgresStore } from '../../../../src/postgres/index.js';
import { contractsFeed, type ContractsWork, processFeed } from '../../../../src/process/index.js';
import { randomFrom } from '../../campaign/runs.js';
import { markCommits, openLedger, orders } from './child.js';
import { mark, markTransactionalStore } from './marks.js';

const { storeUrl, life, commitEvery, parties = [], end = Infinity } = orders;
const pool = new Pool({ connectionString: storeUrl, application_name: `life ${life}`, max: 4 });
pool.on('error', () => undefined);

const random = randomFrom((orders.seed ?? 0) + life);
const anyOf = (list: readonly string[]): readonly string[] => list.filter(() => random() < 0.5);

/** Other parties from time to time, soon after the start and among them none; the last process has the given ones. */
const parties$: Observable<readonly string[]> =
  end < Infinity ? of(parties) : concat(of(0), timer(random() * 300, 400)).pipe(map(() => anyOf(parties)));

const query = { parties: parties$ };
const project = contractsProjection({ pool, query });
const handle = (works: readonly ContractsWork[], tx: PoolClient): Observable<unknown> => {
  mark('u', works.length);
  mark('r', works.filter(({ _tag }) => _tag === 'ResetBatch').length);
  const takesOver = works.some(({ _tag, reason }) => _tag === 'ContractsChanged' && reason !== undefined);
  if (takesOver) mark('x');
  return concat(
    // a change takes less time than a kill needs
    defer(() => (takesOver ? timer(20) : EMPTY)).pipe(ignoreElements()),
    defer(() => project(works, tx)),
  );
};

const ledger = openLedger();
ledger.diagnostics$.subscribe(({ _tag }) => {
  if (_tag === 'SnapshotPageReceived' || _tag === 'RetryScheduled') mark('p');
});

// in small batches, a load is in several transactions
const batchSize = life % 2 === 0 ? 5 : 100;
processFeed(contractsFeed(ledger, query, { batchSize, maxSnapshotPageSize: 20 }), handle, {
  name: 'contracts',
  store: markTransactionalStore(postgresStore({ pool, pollMs: 10 })),
  storeRetry: { baseDelayMs: 1, maxDelayMs: 20 },
  batch: { size: commitEvery, withinMs: 2 },
})
  .pipe(takeWhile(({ offset }) => offset < end, true))
  .subscribe(markCommits(() => pool.end()));
