import { Pool } from 'pg';
import { takeWhile } from 'rxjs';
import { natsFeed } from '../../../../src/nats/index.js';
import { postgresStore } from '../../../../src/postgres/index.js';
import { processFeed } from '../../../../src/process/index.js';
import { connectNats, orders, markCommits } from './child.js';
import { hashOf, idOf, mark, markTransactionalStore } from './marks.js';

const { databaseUrl, life, commitEvery, end, last } = orders;
const pool = new Pool({ connectionString: databaseUrl ?? '', application_name: `life ${life}`, max: 3 });
pool.on('error', () => undefined);
const never = new Promise<void>(() => undefined);

void connectNats().then((connection) =>
  processFeed(
    natsFeed({ connection, stream: 'ledger', timeoutMs: 1_000, retry: { baseDelayMs: 1, maxDelayMs: 20 } }),
    (update, tx) => {
      if (end === undefined && update.offset === last) return never;
      mark('u');
      const values = [update.offset, idOf(update), hashOf(update), life];
      return tx.query('INSERT INTO seen ("offset", update_id, hash, life) VALUES ($1, $2, $3, $4)', values);
    },
    {
      name: 'seen',
      store: markTransactionalStore(postgresStore({ pool, pollMs: 10 })),
      commitEvery: { updates: commitEvery },
    },
  )
    .pipe(takeWhile(({ offset }) => offset !== end, true))
    .subscribe(markCommits(() => Promise.all([pool.end(), connection.close()]))),
);
