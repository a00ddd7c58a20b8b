import { Pool, type PoolClient } from 'pg';
import { concat, defer, EMPTY, filter, ignoreElements, type Observable, takeWhile, timer } from 'rxjs';
import { contractsProjection, postgresStore } from '../../../../src/postgres/index.js';
import { contractsFeed, type ContractsWork, processFeed } from '../../../../src/process/index.js';
import { markCommits, openLedger, orders } from './child.js';
import { mark, markTransactionalStore } from './marks.js';

const { storeUrl, life, commitEvery, end = Infinity } = orders;
const pool = new Pool({ connectionString: storeUrl, application_name: `life ${life}`, max: 4 });
pool.on('error', () => undefined);

const query = { parties: 'any', includeExercises: true } as const;
const project = contractsProjection({ pool, query });

/** What is new after a gap is at the end of a snapshot: in small batches it is in several transactions. */
const isSmall = life % 3 === 0;

/** Where the contracts are loaded again: between these offsets the table knows no updates. */
const insertLoad = 'INSERT INTO loads (reason, before, "offset") SELECT $1, contracts.latest_offset(), $2';

const handle = (works: readonly ContractsWork[], tx: PoolClient): Observable<unknown> => {
  mark('u', works.length);
  const loads = works.flatMap((work) => (work._tag === 'ResetBatch' ? [work] : []));
  mark('r', loads.length);
  const first = loads.find(({ isFirst }) => isFirst);
  return concat(
    defer(() => (first === undefined ? [] : tx.query(insertLoad, [first.reason, first.offset]))).pipe(ignoreElements()),
    // time for readers to see what is committed before the last batch
    defer(() => (isSmall && loads.some(({ isLast }) => isLast) ? timer(40) : EMPTY)).pipe(ignoreElements()),
    defer(() => project(works, tx)),
  );
};

const ledger = openLedger();
// the processes are killed when they are silent, but a snapshot takes some time
ledger.diagnostics$
  .pipe(filter(({ _tag }) => _tag === 'SnapshotPageReceived' || _tag === 'RetryScheduled'))
  .subscribe(() => {
    mark('p');
  });

const batchSize = isSmall ? 5 : 100;
const feed = contractsFeed(ledger, query, { batchSize, maxSnapshotPageSize: 200 });
const options = {
  name: 'contracts',
  store: markTransactionalStore(postgresStore({ pool, pollMs: 10 })),
  storeRetry: { baseDelayMs: 1, maxDelayMs: 20 },
};
// both ways to call a handler, in turn
const committed$ =
  life % 2 === 0
    ? processFeed(feed, (work, tx: PoolClient) => handle([work], tx), {
        ...options,
        commitEvery: { updates: commitEvery },
      })
    : processFeed(feed, handle, { ...options, batch: { size: 2 * commitEvery, withinMs: 2 } });
committed$.pipe(takeWhile(({ offset }) => offset < end, true)).subscribe(markCommits(() => pool.end()));
