import { expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { concat, defer, lastValueFrom, of } from 'rxjs';
import type { Update } from '../../src/index.js';
import { contractsProjection, migrateProjection, postgresStore } from '../../src/postgres/index.js';
import type { BatchHandler, Handler, Work } from '../../src/process/index.js';
import { runHandler } from '../../src/process/testing/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { batchesOf, creates, worksOf } from './projectionWorks.js';
import { withDatabase } from './support.js';

const update = (offset: number): Work & Update => ({
  _tag: 'Transaction',
  updateId: `1220${offset}`,
  offset,
  synchronizerId: 'global::1220ab',
  effectiveAt: '2026-07-24T10:00:00Z',
  recordTime: '2026-07-24T10:00:00.5Z',
  events: [],
});

describeWithPostgres('runHandler', () => {
  const database = withDatabase();
  const seen = (tx: PoolClient) =>
    tx.query('SELECT "offset"::int FROM seen ORDER BY n').then(({ rows }) => rows as unknown);
  const insert: Handler<PoolClient> = async ({ offset }, tx) => {
    await tx.query('INSERT INTO seen ("offset") VALUES ($1)', [offset]);
  };
  const isIdle = () => until(() => database.pool.totalCount === database.pool.idleCount);

  it('calls the handler in one transaction, shows what it wrote, and rolls it back', async () => {
    const store = postgresStore({ pool: database.pool });
    const run = await lastValueFrom(runHandler(insert, [update(1), update(2)], { store, find: seen }));
    expect(run).toEqual({ emitted: [[undefined], [undefined]], reports: [], found: [{ offset: 1 }, { offset: 2 }] });
    expect(await database.seen()).toEqual([]);
    await isIdle();
  });

  it('calls a handler of batches with each list, after its preparation', async () => {
    const order: string[] = [];
    const handler: BatchHandler<PoolClient> = Object.assign(
      (updates: readonly Work[], tx: PoolClient) => {
        order.push(updates.map(({ offset }) => offset).join('+'));
        return tx.query('SELECT 1');
      },
      { prepare: () => defer(() => of(order.push('prepared'))) },
    );
    const store = postgresStore({ pool: database.pool });
    await lastValueFrom(runHandler(handler, [[update(1), update(2)], [update(3)]], { store }));
    expect(order).toEqual(['prepared', '1+2', '3']);
  });

  it('fails with the error of the handler, calls it no more, and rolls back what it did before', async () => {
    const store = postgresStore({ pool: database.pool });
    const mistake = new Error('no such account');
    const called: number[] = [];
    const failing: Handler<PoolClient> = async (work, tx) => {
      called.push(work.offset);
      await insert(work, tx);
      if (work.offset === 2) throw mistake;
    };
    const run$ = runHandler(failing, [update(1), update(2), update(3)], { store });
    await expect(lastValueFrom(run$)).rejects.toBe(mistake);
    expect(called).toEqual([1, 2]);
    expect(await database.seen()).toEqual([]);
    await isIdle();
  });

  it('shows what the last attempt has done if the database requires a repetition', async () => {
    const store = postgresStore({ pool: database.pool });
    let attempts = 0;
    const conflict = `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`;
    const handler: Handler<PoolClient> = ({ offset }, tx, report) => {
      report?.(() => ({ _tag: 'UpdateSkipped', offset, attempts: (attempts += 1), cause: undefined }));
      return tx.query(attempts === 1 ? conflict : 'SELECT 1');
    };
    const { emitted, reports } = await lastValueFrom(runHandler(handler, [update(1)], { store }));
    expect(emitted).toHaveLength(1);
    expect(reports).toMatchObject([{ offset: 1, attempts: 2 }]);
  });

  it('shows what each call emitted and reported, in order', async () => {
    const handler: Handler = ({ offset }, _, report) => {
      report?.(() => ({ _tag: 'UpdateSkipped', offset, attempts: 1, cause: undefined }));
      return offset === 1 ? concat(of('a'), of('b')) : undefined;
    };
    const run = await lastValueFrom(runHandler(handler, of(update(1), update(2))));
    expect(run).toMatchObject({ emitted: [['a', 'b'], []], reports: [{ offset: 1 }, { offset: 2 }], found: undefined });
  });

  it('runs a projection, whose rows are gone afterwards', async () => {
    await lastValueFrom(migrateProjection({ pool: database.pool }));
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
    const works = [...batchesOf('start', 0, []), ...worksOf([creates('c1', 1)]).slice(1)];
    const active = 'SELECT contract_id AS id FROM contracts.active()';
    const { found } = await lastValueFrom(
      runHandler(handler, works, {
        store: postgresStore({ pool: database.pool }),
        find: (tx: PoolClient) => tx.query<{ id: string }>(active).then(({ rows }) => rows),
      }),
    );
    expect(found).toEqual([{ id: 'c1' }]);
    expect(await database.read(active)).toEqual([]);
    await database.pool.query('DROP SCHEMA contracts CASCADE');
  });
});
