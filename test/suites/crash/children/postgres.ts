import { Pool } from 'pg';
import { processFeed, updatesFeed } from '../../../../src/process/index.js';
import { postgresStore } from '../../../../src/postgres/index.js';
import { openLedger, orders, request, markCommits } from './child.js';
import { hashOf, idOf, mark, markTransactionalStore } from './marks.js';

const { storeUrl, life, commitEvery, pollMs = 10 } = orders;
const pool = new Pool({ connectionString: storeUrl, application_name: `life ${life}`, max: 3 });
pool.on('error', () => undefined);

processFeed(
  updatesFeed(openLedger(), request),
  (update, tx) => {
    mark('u');
    const values = [update.offset, idOf(update), hashOf(update), life];
    return tx.query('INSERT INTO seen ("offset", update_id, hash, life) VALUES ($1, $2, $3, $4)', values);
  },
  {
    name: 'seen',
    store: markTransactionalStore(postgresStore({ pool, pollMs })),
    commitEvery: { updates: commitEvery },
    storeRetry: { baseDelayMs: 1, maxDelayMs: 20 },
  },
).subscribe(markCommits(() => pool.end()));
