import { beforeEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { contractType, interfaceType } from '../../src/index.js';
import { contractsProjection } from '../../src/postgres/index.js';
import { toStorableJson } from '../../src/postgres/projection/toJson.js';
import type { ContractsWork } from '../../src/process/index.js';
import { archived, created, exercised, transactionOf } from '../helpers/contractEvents.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { batchesOf, withoutCopy, worksOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

const sync = 'sync-a::1220ab';

/** A transaction with a record time. */
const transactionAt = (offset: number, time: string, events: readonly object[]): object => {
  const element = transactionOf(offset, sync, events) as { update: { Transaction: { value: object } } };
  Object.assign(element.update.Transaction.value, {
    recordTime: time,
    effectiveAt: time,
    workflowId: `flow ${offset}`,
  });
  return element;
};

/** Every kind of text that a format could take for something else. */
const texts = {
  quotes: `'"\`$$ $body$ \\ \\\\ \\N \\. \\u0041 {"a"} %s`,
  lines: 'a\tb\nc\r\nd',
  unicode: 'ö 漢 \u{1F600} \u2028 \uFEFF',
  big: '170141183460469231731687303715884105727.0000000001',
  number: 12345678901234567890123n.toString(),
  empty: '',
};

describeWithPostgres("a projection's functions", () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
  });
  const read = async (sql: string, values: readonly unknown[] = []) =>
    (await database.pool.query<Record<string, unknown>>(sql, [...values])).rows;
  const ids = async (sql: string, values: readonly unknown[] = []): Promise<readonly unknown[]> =>
    (await read(`SELECT contract_id FROM ${sql} ORDER BY 1`, values)).map((row) => row['contract_id']);
  const project = (works: readonly ContractsWork[], options: object = {}): Promise<void> =>
    write(database.pool, contractsProjection({ pool: database.pool, query: { parties: 'any' }, ...options }), works);

  /** Uses one connection, as the settings of a session do. */
  const withSession = async (use: (run: (sql: string) => Promise<readonly object[]>) => Promise<void>) => {
    const client = await database.pool.connect();
    try {
      await use(async (sql) => (await client.query<object>(sql)).rows);
    } finally {
      client.release(true);
    }
  };

  it('find templates by any name that is not ambiguous, and say what else there is', async () => {
    const at = (offset: number, templateId: string, packageName: string): object =>
      transactionOf(offset, sync, [created({ contractId: `00${offset}`, offset, templateId, packageName })]);
    const types = {
      iou: contractType('#finance:Main:Iou', t.unknown),
      later: contractType('#late:Main:Later', t.unknown),
    };
    const elements = [
      at(1, 'aa:Main:Iou', 'finance'),
      at(2, 'bb:Main:Iou', 'finance'),
      at(3, 'cc:Main:Token', 'tokens'),
      at(4, 'dd:Main:Token', "o'brien"),
      at(5, 'ee:Deep.Path.Main:Only', 'deep'),
    ];
    await project(worksOf(elements), { query: { parties: 'any', types } });
    for (const name of ['iou', 'Iou', 'Main:Iou', 'finance:Main:Iou', '#finance:Main:Iou'])
      expect(await ids('contracts.active($1)', [name])).toEqual(['001', '002']);
    expect(await ids('contracts.active($1)', ['bb:Main:Iou'])).toEqual(['002']);
    expect(await ids('contracts.active($1)', ["o'brien:Main:Token"])).toEqual(['004']);
    expect(await ids('contracts.active($1)', ['Deep.Path.Main:Only'])).toEqual(['005']);
    expect(await ids('contracts.active($1)', ['later'])).toEqual([]);
    expect(await ids('contracts.active($1)', [null])).toHaveLength(5);
    expect(await ids("contracts.creates('')")).toHaveLength(5);
    await expect(ids('contracts.active($1)', ['Main:Token'])).rejects.toMatchObject({
      message: 'more than one template or interface is called "Main:Token"',
      hint: "Use one of: o'brien:Main:Token, tokens:Main:Token",
    });
    for (const name of ['Nobody', '#Iou', "'; DROP SCHEMA contracts; --", '漢"', '%s', 'iou ', 'IOU'])
      await expect(ids('contracts.active($1)', [name])).rejects.toMatchObject({
        message: `no template or interface is called "${name}"`,
        hint: expect.stringContaining('finance:Main:Iou'),
      });
    // the query has other names for its types now
    await project(worksOf(elements), { query: { parties: 'any', types: { note: types.iou } } });
    expect(await ids('contracts.active($1)', ['note'])).toEqual(['001', '002']);
    await expect(ids('contracts.active($1)', ['iou'])).rejects.toThrow();
  });

  it.each(['in a snapshot', 'in a snapshot without COPY', 'in a snapshot after pruning', 'in a change'])(
    'keep every payload as it is, %s',
    async (where) => {
      const odd = { ...texts, [texts.quotes]: texts.lines, deep: [{ list: [null, true, 1.5, [texts.unicode]] }] };
      const parties = ['party \\ "a",{b}', 'NULL', ''];
      const event = created({
        contractId: '001',
        offset: 1,
        createArgument: odd,
        ...{ contractKey: odd, signatories: parties },
      });
      const works = worksOf([transactionOf(1, sync, [event])]);
      const contracts = works.flatMap((work) => (work._tag === 'ContractsChanged' ? work.added : []));
      const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
      if (where === 'in a change') await project(works);
      else if (where === 'in a snapshot without COPY')
        await write(database.pool, handler, batchesOf('start', 1, contracts), 1, { clientOf: withoutCopy });
      else if (where === 'in a snapshot') await project(batchesOf('start', 1, contracts));
      else await project([...batchesOf('start', 0, []), ...batchesOf('pruned', 1, contracts)]);
      expect(await read('SELECT payload, contract_key, signatories, as_sent FROM contracts.active()')).toEqual([
        { payload: odd, contract_key: odd, signatories: parties, as_sent: null },
      ]);
    },
  );

  it.each(['in a snapshot', 'in a change'])(
    'have U+FFFD in place of what jsonb cannot store, and beside it the payload as it was sent, %s',
    async (where) => {
      const argument = { 'a\0': 'b\0c', half: 'x\uD800y', whole: '\u{1F600}', literal: String.raw`\u0000 \ud800` };
      const works = worksOf([
        transactionOf(1, sync, [created({ contractId: '001', offset: 1, createArgument: argument })]),
        transactionOf(2, sync, [created({ contractId: '002', offset: 2, createArgument: { a: String.raw`\u0000` } })]),
      ]);
      const contracts = works.flatMap((work) => (work._tag === 'ContractsChanged' ? work.added : []));
      await project(where === 'in a change' ? works : batchesOf('start', 2, contracts));
      const rows = await read('SELECT payload, as_sent::text AS as_sent FROM contracts.active() ORDER BY contract_id');
      expect(rows[0]?.['payload']).toEqual({ ...argument, 'a\0': undefined, 'a\uFFFD': 'b\uFFFDc', half: 'x\uFFFDy' });
      expect(JSON.parse(String(rows[0]?.['as_sent']))).toEqual([argument, null]);
      expect(rows[1]).toEqual({ payload: { a: String.raw`\u0000` }, as_sent: null });
      expect(toStorableJson(['a\\', undefined])).toEqual({ texts: [String.raw`"a\\"`, undefined] });
    },
  );

  it('have a row for each view of a contract, and one for a contract without arguments', async () => {
    const view = (viewValue: unknown, code = 0): object => ({
      interfaceId: 'ii:Api:Holding',
      viewStatus: { code },
      viewValue,
    });
    const types = { holding: interfaceType('#holdings:Api:Holding', t.unknown) };
    const elements = [
      transactionOf(1, sync, [
        created({ contractId: '001', offset: 1, interfaceViews: [view({ owner: 'alice' })] }),
        created({
          contractId: '002',
          offset: 1,
          nodeId: 1,
          createArgument: null,
          interfaceViews: [view({ owner: 'bob' })],
        }),
        created({ contractId: '003', offset: 1, nodeId: 2, createArgument: null, interfaceViews: [view(null, 9)] }),
      ]),
      transactionOf(2, sync, [archived('001', 2)]),
    ];
    await project(worksOf(elements, types), { query: { parties: 'any', types } });
    expect(await read('SELECT * FROM contracts.summary_active()')).toEqual([
      { template_fqn: 'holdings:Api:Holding', payload_type: 'interface', count: '2' },
    ]);
    expect(await read(`SELECT contract_id, payload FROM contracts.active('holding') ORDER BY 1`)).toEqual([
      { contract_id: '002', payload: { owner: 'bob' } },
      { contract_id: '003', payload: null },
    ]);
    const rows =
      await read(`SELECT payload_type, type_name, create_event_id::text AS created, archive_event_id::text AS archived
      FROM contracts.lookup_contract('001') ORDER BY payload_type`);
    expect(rows).toEqual([
      { payload_type: 'interface', type_name: 'holding', created: '(1,0)', archived: '(2,0)' },
      { payload_type: 'template', type_name: null, created: '(1,0)', archived: '(2,0)' },
    ]);
  });

  it('read at an offset of the session, and find offsets by time', async () => {
    const elements = [1, 2, 3, 4].map((offset) =>
      transactionAt(offset * 10, `2026-01-0${offset}T00:00:00Z`, [
        created({ contractId: `00${offset}`, offset: offset * 10 }),
      ]),
    );
    await project(worksOf([...elements, transactionAt(50, '2026-01-05T00:00:00Z', [archived('001', 50)])]));
    await withSession(async (run) => {
      const one = async (sql: string): Promise<unknown> => Object.values((await run(sql))[0] ?? {})[0];
      expect(await one('SELECT contracts.set_latest(30)')).toBe('30');
      expect(await one('SELECT array_agg(contract_id ORDER BY contract_id) FROM contracts.active()')).toEqual([
        '001',
        '002',
        '003',
      ]);
      expect(await one('SELECT contracts.set_oldest(20)')).toBe('20');
      expect(await one('SELECT array_agg(contract_id ORDER BY contract_id) FROM contracts.creates()')).toEqual([
        '002',
        '003',
      ]);
      expect(await one('SELECT contracts.latest_offset()')).toBe('30');
      expect(await one('SELECT contracts.set_latest(NULL)')).toBe('50');
      expect(await one('SELECT count(*) FROM contracts.archives()')).toBe('1');
      await expect(run('SELECT contracts.set_latest(51)')).rejects.toThrow(
        'offset 51 is not reached: the latest is 50',
      );
    });
    expect(await read(`SELECT contracts.nearest_offset('2026-01-03T12:00:00Z'::timestamptz) AS o`)).toEqual([
      { o: '30' },
    ]);
    expect(await read(`SELECT contracts.nearest_offset('1 hour'::interval) AS o`)).toEqual([{ o: '50' }]);
    expect(await read(`SELECT contracts.nearest_offset('2025-01-01'::timestamptz) AS o`)).toEqual([{ o: null }]);
    expect(
      await read(
        'SELECT ix, transaction_id, workflow_id, synchronizer_id FROM contracts.transactions ORDER BY 1 LIMIT 1',
      ),
    ).toEqual([{ ix: '10', transaction_id: '122010', workflow_id: 'flow 10', synchronizer_id: sync }]);
  });

  it('read at an offset until a transaction ends, and then at the latest again', async () => {
    const at = (offset: number): object =>
      transactionOf(offset, sync, [created({ contractId: `00${offset}`, offset })]);
    await project(worksOf([at(1), at(2)]));
    await withSession(async (run) => {
      const one = async (sql: string): Promise<unknown> => Object.values((await run(sql))[0] ?? {})[0];
      await run('BEGIN');
      expect(await one('SELECT contracts.set_latest(1, true)')).toBe('1');
      expect(await one('SELECT contracts.set_oldest(1, true)')).toBe('1');
      expect(await one('SELECT count(*) FROM contracts.active()')).toBe('1');
      await run('COMMIT');
      expect(await one('SELECT contracts.latest_offset()')).toBe('2');
      expect(await one('SELECT contracts.oldest_offset()')).toBe('0');
      expect(await one('SELECT count(*) FROM contracts.active()')).toBe('2');
      // a session that reads an older offset moves on
      expect(await one('SELECT contracts.set_latest(1)')).toBe('1');
      expect(await one('SELECT contracts.set_latest(contracts.set_latest(NULL))')).toBe('2');
    });
  });

  it('remove what ended in a gap once updates after the gap are older than history must be kept', async () => {
    const hour = (offset: number, time: string, events: readonly object[] = []): object =>
      transactionAt(offset, `2026-01-01T${time}:00Z`, [created({ contractId: `00${offset}`, offset }), ...events]);
    const elements = [hour(1, '00:00'), hour(2, '00:01'), hour(50, '09:00'), hour(51, '09:30'), hour(52, '10:30')];
    const [empty, first, second, ...later] = worksOf(elements);
    if (empty === undefined || first?._tag !== 'ContractsChanged' || second === undefined) throw new Error('no change');
    await project([empty, first, second]);
    await project([...batchesOf('pruned', 20, first.added), ...batchesOf('pruned', 40, [])]);
    expect(await ids('contracts.archives()')).toEqual(['001', '002']);
    const keep = { keepArchivedMs: 3_600_000 };
    for (const work of later.slice(0, 2)) await project([work], keep);
    // what ended in the first gap may have ended just before the second reload
    expect(await ids('contracts.archives()')).toEqual(['001', '002']);
    await project(later.slice(2), keep);
    expect(await ids('contracts.archives()')).toEqual([]);
  });

  it('remove history: as it becomes older than it must be kept, and by hand', async () => {
    const elements = Array.from({ length: 9 }, (_, index) => {
      const offset = index + 1;
      return transactionAt(offset, `2026-01-0${offset}T00:00:00Z`, [
        created({ contractId: `00${offset}`, offset }),
        ...(offset > 1 ? [exercised(`00${offset - 1}`, offset, { consuming: true, acsDelta: true })] : []),
      ]);
    });
    const [empty, ...changes] = worksOf(elements);
    if (empty === undefined) throw new Error('no reset');
    await project([empty, ...changes.slice(0, 6)]);
    expect(await ids('contracts.archives()')).toEqual(['001', '002', '003', '004', '005']);
    // what was archived on the 2nd, 3rd and 4th is older than three days before the 8th
    await project(changes.slice(6, 8), { keepArchivedMs: 3 * 86_400_000 });
    expect(await ids('contracts.archives()')).toEqual(['004', '005', '006', '007']);
    expect(await ids('contracts.exercises()')).toEqual(['004', '005', '006', '007']);
    expect(await read('SELECT contracts.oldest_offset() AS o')).toEqual([{ o: '4' }]);
    await expect(ids('contracts.active(NULL, 3)')).rejects.toThrow('offset 3 is before the oldest available offset, 4');
    expect(await read('SELECT contracts.prune_archived_to_offset(7) AS o')).toEqual([{ o: '7' }]);
    expect(await ids('contracts.archives()')).toEqual(['007']);
    expect(await ids('contracts.active()')).toEqual(['008']);
    await expect(read('SELECT contracts.prune_archived_to_offset(99)')).rejects.toThrow('offset 99 is not reached');
    for (const keepArchivedMs of [-1, NaN])
      expect(() => contractsProjection({ pool: database.pool, query: { parties: 'any' }, keepArchivedMs })).toThrow(
        TypeError,
      );
  });

  it('use indexes on payloads, with conditions on what they return', async () => {
    const elements = Array.from({ length: 400 }, (_, index) =>
      transactionOf(index + 1, sync, [
        created({
          contractId: `c${index}`,
          offset: index + 1,
          createArgument: { owner: `party ${index}`, size: index },
        }),
      ]),
    );
    await project(worksOf(elements));
    await read(`SELECT contracts.create_index_for_contract('marble owner', 'Marble', $$(payload ->> 'owner')$$)`);
    await read(`SELECT contracts.create_index_for_contract('marble_all', NULL, 'payload jsonb_path_ops', 'gin')`);
    await read('ANALYZE contracts.projection_contracts');
    const plan = async (condition: string): Promise<string> =>
      JSON.stringify(await read(`EXPLAIN SELECT * FROM contracts.active('Marble') WHERE ${condition}`));
    expect(await plan(`payload ->> 'owner' = 'party 7'`)).toContain('marble owner');
    expect(await plan(`payload @> '{"size": 7}'`)).toContain('marble_all');
    expect(await ids(`contracts.active('Marble') WHERE payload ->> 'owner' = 'party 7'`)).toEqual(['c7']);
    await expect(
      read(`SELECT contracts.create_index_for_contract('a', 'Marble', '(payload)', 'bogus')`),
    ).rejects.toThrow('"bogus" is not an index method');
    await expect(read(`SELECT contracts.create_index_for_contract('a', 'Nobody', '(payload)')`)).rejects.toThrow(
      'no template',
    );
  });
});
