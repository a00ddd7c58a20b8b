import { Pool, type PoolClient } from 'pg';
import { concatMap, defer, type Observable, repeat, switchMap, tap } from 'rxjs';
import { postgresStore } from '../../../../src/postgres/index.js';
import type { Cursor } from '../../../../src/process/CheckpointStore.js';
import { markCommits, orders } from './child.js';
import { mark } from './marks.js';

/** The time in which it can be suspended with an open transaction, in milliseconds. */
const openMs = 250;

const { storeUrl, life, sql = '', connections = 3 } = orders;
const pool = new Pool({ connectionString: storeUrl, application_name: `life ${life}`, max: connections });
pool.on('error', () => undefined);
const store = postgresStore({ pool, pollMs: 250 });
const stopped = new Int32Array(new SharedArrayBuffer(4));
const cursor: Cursor = { version: 1, offset: 1, recordTimes: {}, selection: '' };

/** Runs a statement, and saves a cursor. */
const work = (tx: PoolClient): Observable<unknown> =>
  defer(() => tx.query(sql, sql.includes('$1') ? [life] : [])).pipe(
    tap(() => {
      mark('u');
      if (sql.includes('$1')) Atomics.wait(stopped, 0, 0, openMs);
    }),
    concatMap(() => {
      mark('s');
      return store.save('held', cursor, tx);
    }),
  );

store
  .hold('held', () => {
    mark('h');
  })
  .pipe(switchMap((transactions) => defer(() => transactions.transact(work)).pipe(repeat())))
  .subscribe(markCommits(() => pool.end()));
