import { expect, it } from '@jest/globals';
import { lastValueFrom, takeWhile } from 'rxjs';
import { createLedger } from '../../src/index.js';
import { activeContracts } from '../../src/contracts/index.js';
import { contractsProjection, postgresStore } from '../../src/postgres/index.js';
import { contractsFeed, processFeed } from '../../src/process/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { withDatabase } from './support.js';

const sandbox = sandboxes();

describeWithPostgres('contractsProjection', () => {
  const database = withDatabase();

  it('has the active contracts', async () => {
    const service = await sandbox();
    service.generate(400, { seed: 5 });
    const ledger = createLedger({ baseUrl: service.url });
    const { pool } = database;
    const query = { parties: 'any' } as const;
    const run = () =>
      lastValueFrom(
        processFeed(contractsFeed(ledger, query), contractsProjection({ pool, query }), {
          name: 'contracts',
          store: postgresStore({ pool }),
          batch: { size: 50, withinMs: 10 },
        }).pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)),
        { defaultValue: undefined },
      );
    await run();
    service.generate(400, { seed: 6 });
    await run();
    const entries = await lastValueFrom(activeContracts(ledger, { ...query, activeAtOffset: service.ledgerEnd }));
    console.log(entries);
    const { rows } = await pool.query('SELECT * FROM contracts.active() LIMIT 2');
    console.log(rows, (await pool.query('SELECT count(*), count(distinct contract_id) FROM contracts.active()')).rows);
    console.log((await pool.query('SELECT count(*), count(distinct contract_id) FROM contracts.archives()')).rows);
    console.log((await pool.query('SELECT * FROM contracts.projection_templates')).rows);
    console.log(
      (await pool.query(`EXPLAIN SELECT * FROM contracts.active($$Tasks.Model:Task$$) WHERE payload ->> 'owner' = 'a'`))
        .rows,
    );
    expect(rows.length).toBe(2);
  });
});
