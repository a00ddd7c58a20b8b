import { beforeEach, expect, it, jest } from '@jest/globals';
import * as t from 'io-ts';
import { Client } from 'pg';
import { concat, defer, firstValueFrom, ReplaySubject, Subject, take } from 'rxjs';
import { contractType, interfaceType } from '../../src/index.js';
import type { ContractTypes } from '../../src/contracts/Contract.js';
import { contractsProjection, type ProjectionHandler } from '../../src/postgres/index.js';
import type { ContractsWork } from '../../src/process/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { batchesOf, contractsOf, creates, viewOf, worksOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

describeWithPostgres('a projection', () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
  });
  const { ids, read } = database;
  /** A processor of a name, as if it had just been started. */
  const start = (processor: string, types?: ContractTypes) => {
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any', types } });
    return (works: readonly ContractsWork[]): Promise<void> => write(database.pool, handler, works, 1, { processor });
  };
  const many = (prefix: string, count: number, more: object = {}): readonly object[] =>
    Array.from({ length: count }, (_, index) => creates(`${prefix}${index}`, index + 1, more));

  it('has one writer: a processor of another name is refused, and removes nothing (G50)', async () => {
    const [a, b] = [start('a'), start('b')];
    const load = (prefix: string) => batchesOf('start', 10, contractsOf(many(prefix, 6)), 2);
    const change = (contractId: string, offset: number) => worksOf([creates(contractId, offset)]).slice(1);
    const isRefused = { _tag: 'CursorError', reason: 'conflict', processor: 'b' };

    await a(load('a').slice(0, 1));
    // also while the first load is not complete
    await expect(b(load('b').slice(0, 1))).rejects.toMatchObject(isRefused);
    await a(load('a').slice(1));
    await expect(b(load('b'))).rejects.toThrow(
      /the schema contracts is written by the processor a[^]*Next: use another/,
    );
    await expect(b(batchesOf('pruned', 20, contractsOf(many('b', 1))))).rejects.toMatchObject(isRefused);
    await expect(b(change('b11', 11))).rejects.toThrow(/another processor writes it/);
    await a(change('a11', 11));
    expect(await ids('contracts.active()')).toEqual(['a0', 'a1', 'a11', 'a2', 'a3', 'a4', 'a5']);

    // once nothing owns the rows, a load of another name replaces them, and the former writer does not continue
    await read('UPDATE contracts.projection_state SET cursor_at = NULL');
    await b(batchesOf('pruned', 20, contractsOf(many('b', 1))));
    expect(await ids('contracts.creates()')).toEqual(['b0']);
    expect(await read('SELECT contracts.oldest_offset() AS o')).toEqual([{ o: '20' }]);
    await expect(a(change('a12', 12))).rejects.toThrow(/another processor writes it/);
  });

  it('has one writer, also if two begin to load into a new schema at the same time', async () => {
    const batches = batchesOf('start', 10, contractsOf(many('a', 6)), 2).slice(0, 1);
    const [isBegun$, mayEnd$] = [new Subject<void>(), new ReplaySubject<void>(1)];
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
    const holding: ProjectionHandler = Object.assign(
      (...args: Parameters<ProjectionHandler>) =>
        concat(
          handler(...args),
          defer(() => {
            isBegun$.next();
            return mayEnd$.pipe(take(1));
          }),
        ),
      { prepare: handler.prepare },
    );
    const begun = firstValueFrom(isBegun$);
    const first = write(database.pool, holding, batches, 1, { processor: 'a' });
    await begun;
    const second = start('b')(batches);
    second.catch(() => undefined);
    await until(async () => (await read('SELECT FROM pg_locks WHERE NOT granted')).length > 0);
    mayEnd$.next();
    await first;
    await expect(second).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict', processor: 'b' });
  });

  it('is not extended or replaced by contracts of the same ledger at an earlier offset', async () => {
    const a = start('a');
    await a(batchesOf('start', 10, contractsOf(many('a', 6))));
    await expect(a(batchesOf('pruned', 9, contractsOf(many('a', 5))))).rejects.toThrow(
      'the contracts at offset 9 are older than those in the schema contracts, which are at offset 10',
    );
    expect(await ids('contracts.creates()')).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5']);
    await a(batchesOf('pruned', 10, contractsOf(many('a', 6))));
    expect(await read('SELECT contracts.oldest_offset() AS o')).toEqual([{ o: '10' }]);
  });

  it('has each change once, although a cursor from before it makes its own processor apply it again', async () => {
    const a = start('a');
    await a(batchesOf('start', 10, contractsOf(many('a', 2))));
    const change = worksOf([creates('a11', 11)]).slice(1);
    await a(change);
    await expect(a(change)).rejects.toThrow(/does not end before offset 11: another processor writes it/);
    expect(await ids('contracts.creates()')).toEqual(['a0', 'a1', 'a11']);
  });

  it('names what is in it as the query does that its processor has now', async () => {
    const iou = contractType('#finance:Main:Iou', t.unknown);
    const holding = interfaceType('#holdings:Api:Holding', t.unknown);
    const finance = { packageName: 'finance', interfaceViews: [] };
    const elements = [
      creates('001', 1, { ...finance, templateId: 'v1:Main:Iou', interfaceViews: [viewOf({ owner: 'alice' })] }),
      creates('002', 2, { ...finance, templateId: 'v2:Main:Iou' }),
    ];
    const first = { token: iou, held: holding };
    await start('a', first)(batchesOf('start', 10, contractsOf(elements, first)));
    expect(await ids('contracts.active($1)', ['token'])).toEqual(['001', '002']);
    const second = { coin: iou, kept: holding };
    await start('a', second)(worksOf([creates('011', 11, { ...finance, templateId: 'v2:Main:Iou' })], second).slice(1));
    expect(await ids('contracts.active($1)', ['coin'])).toEqual(['001', '002', '011']);
    expect(await ids('contracts.active($1)', ['kept'])).toEqual(['001']);
    expect(await ids(`contracts.active() WHERE type_name IN ('token', 'held')`)).toEqual([]);
    for (const name of ['token', 'held'])
      await expect(ids('contracts.active($1)', [name])).rejects.toThrow('no template');
    // types of the query, where there were none
    await start('a')(worksOf([creates('012', 12)]).slice(1));
    expect(await ids('contracts.active($1)', ['finance:Main:Iou'])).toEqual(['001', '002', '011']);
    await start('a', first)(worksOf([creates('013', 13)]).slice(1));
    expect(await ids('contracts.active($1)', ['token'])).toEqual(['001', '002', '011']);
    expect(await ids('contracts.active($1)', ['holdings:Api:Holding'])).toEqual(['001']);
  });

  it('learns the package names of types that the query names by package id', async () => {
    const templateId = `${'01'.repeat(32)}:Main:Iou`;
    const types = { token: contractType(templateId, t.unknown) };
    const iou = { packageName: 'finance', templateId };
    await start('a', types)(batchesOf('start', 10, contractsOf([creates('001', 1, iou)], types)));
    await start('a', types)(worksOf([creates('002', 11, { ...iou, templateId: 'v2:Main:Iou' })]).slice(1));
    for (const name of ['finance:Main:Iou', 'Main:Iou', 'Iou'])
      expect(await ids('contracts.active($1)', [name])).toEqual(['001', '002']);
    expect(await ids('contracts.active($1)', ['token'])).toEqual(['001']);
  });

  it('sends no statement larger than the database can read, after pruning and in changes', async () => {
    const big = { createArgument: { text: 'x'.repeat(1_000_000) } };
    const works = worksOf(many('c', 20, big)).slice(1);
    const others = contractsOf(many('d', 20, big));
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
    await write(database.pool, handler, batchesOf('start', 0, []));
    const queries = jest.spyOn(Client.prototype, 'query');
    await write(database.pool, handler, [...works, ...batchesOf('pruned', 50, others)]);
    const sizes = queries.mock.calls.map(([, values]) => (Array.isArray(values) ? String(values[0]) : '').length);
    queries.mockRestore();
    expect(sizes.filter((size) => size > 2_000_000)).toHaveLength(4);
    expect(Math.max(...sizes)).toBeLessThan(17_000_000);
    expect(await read('SELECT count(*)::int AS n FROM contracts.active()')).toEqual([{ n: 20 }]);
    expect(await read('SELECT count(*)::int AS n FROM contracts.archives()')).toEqual([{ n: 20 }]);
  });

  it('does not pile up what loads have left that were not completed', async () => {
    const contracts = contractsOf(many('c', 30));
    const count = async (): Promise<unknown> =>
      (await read('SELECT count(*)::int AS n FROM contracts.projection_contracts'))[0]?.['n'];
    const a = start('a');
    await a(batchesOf('start', 10, contracts, 15).slice(0, 1));
    // more than one statement removes
    await read(`INSERT INTO contracts.projection_contracts (generation, template_pk, created_at_offset, created_node_id,
        created_effective_at, reassignment_counter, contract_id, signatories, observers, witnesses)
      SELECT 1, 1, 1, 0, now(), 0, 'left ' || n, '{}', '{}', '{}' FROM generate_series(1, 50000) AS n`);
    const [first, second] = batchesOf('start', 10, contracts, 5);
    if (first === undefined || second === undefined) throw new Error('no batches');
    await a([first, second, second]);
    expect(await count()).toBe(15);
  });
});
