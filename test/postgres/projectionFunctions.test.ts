import { beforeEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { contractType, interfaceType } from '../../src/index.js';
import { contractsProjection } from '../../src/postgres/index.js';
import { toStorableJson } from '../../src/postgres/projection/tables.js';
import type { ContractsWork } from '../../src/process/index.js';
import { archived, created, exercised, transactionOf } from '../helpers/contractEvents.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { batchesOf, contractsOf, creates, sync, viewOf, withoutCopy, worksOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

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
  const { ids, read } = database;
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
      creates(`00${offset}`, offset, { templateId, packageName });
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
      const works = worksOf([creates('001', 1, { createArgument: odd, contractKey: odd, signatories: parties })]);
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
        creates('001', 1, { createArgument: argument }),
        creates('002', 2, { createArgument: { a: String.raw`\u0000` } }),
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
    const types = { holding: interfaceType('#holdings:Api:Holding', t.unknown) };
    const elements = [
      transactionOf(1, sync, [
        created({ contractId: '001', offset: 1, interfaceViews: [viewOf({ owner: 'alice' })] }),
        created({
          contractId: '002',
          offset: 1,
          nodeId: 1,
          createArgument: null,
          interfaceViews: [viewOf({ owner: 'bob' })],
        }),
        created({ contractId: '003', offset: 1, nodeId: 2, createArgument: null, interfaceViews: [viewOf(null, 9)] }),
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

  it('have the payloads of the snapshot after pruning, also where a view has failed since, or is storable again', async () => {
    const contracts = (...given: readonly { readonly argument: object; readonly view: object }[]) =>
      contractsOf([
        transactionOf(
          1,
          sync,
          given.map(({ argument, view }, nodeId) =>
            created({
              contractId: `00${nodeId}`,
              offset: 1,
              nodeId,
              createArgument: argument,
              interfaceViews: [view],
              ...{ contractKey: argument },
            }),
          ),
        ),
      ]);
    const rows = () =>
      read(`SELECT contract_id, payload_type, payload, contract_key, as_sent FROM contracts.active()
        ORDER BY contract_id, payload_type DESC`);
    const before = contracts(
      { argument: { text: 'a\0b' }, view: viewOf({ owner: 'bob' }) },
      { argument: { text: 'ab' }, view: viewOf(null, 9) },
      { argument: { text: 'same' }, view: viewOf({ owner: 'x\0' }) },
    );
    const after = contracts(
      { argument: { text: 'ab' }, view: viewOf(null, 9) },
      { argument: { text: 'a\0b' }, view: viewOf({ owner: 'eve' }) },
      { argument: { text: 'same' }, view: viewOf({ owner: 'y\0' }) },
    );
    await project(batchesOf('start', 5, after));
    const expected = await rows();
    expect(expected).toHaveLength(6);
    await database.pool.query('DROP SCHEMA contracts CASCADE');
    await project([...batchesOf('start', 1, before), ...batchesOf('pruned', 5, after)]);
    expect(await rows()).toEqual(expected);
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
    await project(worksOf([creates('001', 1), creates('002', 2)]));
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
    const times = ['09:00', '09:30', '10:00', '10:30'].map((time, index) => hour(50 + index, time));
    const elements = [hour(1, '00:00'), hour(2, '00:01'), ...times];
    const [empty, first, second, ...later] = worksOf(elements);
    if (empty === undefined || first?._tag !== 'ContractsChanged' || second === undefined) throw new Error('no change');
    await project([empty, first, second]);
    await project([...batchesOf('pruned', 20, first.added), ...batchesOf('pruned', 40, [])]);
    expect(await ids('contracts.archives()')).toEqual(['001', '002']);
    const keep = { keepArchivedMs: 3_600_000 };
    for (const work of later.slice(0, 3)) {
      await project([work], keep);
      // what ended in the first gap may have ended just before the second reload, which is an hour ago at last
      expect(await ids('contracts.archives()')).toEqual(['001', '002']);
    }
    await project(later.slice(3), keep);
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
    await project(changes.slice(8), { keepArchivedMs: Number.MAX_SAFE_INTEGER });
    expect(await ids('contracts.archives()')).toEqual(['007', '008']);
    for (const keepArchivedMs of [-1, NaN])
      expect(() => contractsProjection({ pool: database.pool, query: { parties: 'any' }, keepArchivedMs })).toThrow(
        TypeError,
      );
  });

  it('erase what ended contracts and exercises say, and keep that they were', async () => {
    const archiving = exercised('c1', 3, { consuming: true, acsDelta: true }) as { ExercisedEvent: object };
    Object.assign(archiving.ExercisedEvent, { choiceArgument: { of: 'Ann' }, exerciseResult: 'Ann' });
    const elements = [
      creates('c1', 1, { createArgument: { name: 'Ann' }, contractKey: 'Ann', createdEventBlob: 'YQ==' }),
      creates('c2', 2, { createArgument: { name: 'Bob' } }),
      transactionAt(3, '2026-01-03T00:00:00Z', [archiving]),
    ];
    await project(worksOf(elements));
    await expect(read("SELECT contracts.redact_contract('c2', 'r1')")).rejects.toMatchObject({ code: '55000' });
    await expect(read("SELECT contracts.redact_contract('c9', 'r1')")).rejects.toMatchObject({ code: 'P0002' });
    await expect(read("SELECT contracts.redact_contract('c1', '')")).rejects.toMatchObject({ code: '22023' });
    expect(await read("SELECT contracts.redact_contract('c1', 'r1')::int AS rows")).toEqual([{ rows: 1 }]);
    const [event] = await read('SELECT exercise_event_id::text AS id FROM contracts.exercises()');
    const redactExercise = (id: unknown) =>
      read(`SELECT contracts.redact_exercise('${String(id)}', 'r2')::int AS rows`);
    expect(await redactExercise(event?.['id'])).toEqual([{ rows: 1 }]);
    await expect(redactExercise('(3,77)')).rejects.toMatchObject({ code: 'P0002' });
    const names = await read(
      'SELECT contract_id, row_to_json(c)::text AS row, redaction_id FROM contracts.creates() c ORDER BY 1',
    );
    expect(names.map((row) => [row['contract_id'], row['redaction_id'], String(row['row']).includes('Ann')])).toEqual([
      ['c1', 'r1', false],
      ['c2', null, false],
    ]);
    const [exercise] = await read(
      'SELECT row_to_json(e)::text AS row, choice, redaction_id FROM contracts.exercises() e',
    );
    expect([exercise?.['redaction_id'], String(exercise?.['row']).includes('Ann')]).toEqual(['r2', false]);
    const { rows } = await database.pool.query('SELECT * FROM contracts.projection_contracts');
    expect(JSON.stringify(rows)).not.toContain('Ann');
    expect(await read('SELECT contracts.pruned_offset() = contracts.oldest_offset() AS same')).toEqual([
      { same: true },
    ]);
  });

  it('use indexes on payloads, with conditions on what they return', async () => {
    const elements = Array.from({ length: 400 }, (_, index) =>
      creates(`c${index}`, index + 1, { createArgument: { owner: `party ${index}`, size: index } }),
    );
    await project(worksOf(elements));
    await read(`SELECT contracts.create_index_for_contract('marble owner', 'Marble', '{owner}')`);
    await read(`SELECT contracts.create_index_for_contract('place', 'Marble', '{place,"the ''room"}')`);
    await read(`SELECT contracts.create_index_for_contract('marble_all', NULL, '{}', 'gin')`);
    await read(`SELECT contracts.create_index_for_contract('marble_place', NULL, '{place}', 'gin')`);
    await read('ANALYZE contracts.projection_contracts');
    const plan = async (condition: string): Promise<string> =>
      JSON.stringify(await read(`EXPLAIN SELECT * FROM contracts.active('Marble') WHERE ${condition}`));
    expect(await plan(`payload ->> 'owner' = 'party 7'`)).toContain('marble owner');
    expect(await plan(`payload #>> '{place,the ''room}' = '7'`)).toContain('using place on');
    expect(await plan(`payload @> '{"size": 7}'`)).toContain('marble_all');
    expect(await plan(`payload -> 'place' @> '{"floor": 7}'`)).toContain('marble_place');
    expect(await ids(`contracts.active('Marble') WHERE payload ->> 'owner' = 'party 7'`)).toEqual(['c7']);
    await expect(read(`SELECT contracts.create_index_for_contract('a', 'Marble', '{owner}', 'bogus')`)).rejects.toThrow(
      '"bogus" is not an index method',
    );
    await expect(read(`SELECT contracts.create_index_for_contract('a', 'Nobody', '{owner}')`)).rejects.toThrow(
      'no template',
    );
    for (const path of ['{}', null, '{owner,NULL}'])
      await expect(read('SELECT contracts.create_index_for_contract($1, $1, $2)', ['Marble', path])).rejects.toThrow(
        'a btree index needs a path of field names',
      );
  });

  it('refuse the name of an index that would be cut off, and is then that of another one', async () => {
    await project(worksOf([creates('001', 1)]));
    const create = (name: string, field: string) =>
      read('SELECT contracts.create_index_for_contract($1, NULL, ARRAY[$2])', [name, field]);
    await create('ö'.repeat(31), 'owner');
    await expect(create(`${'ö'.repeat(31)}_a`, 'color')).rejects.toMatchObject({ code: '42622' });
    const found = `SELECT count(*)::int AS n FROM pg_indexes WHERE schemaname = 'contracts' AND indexname LIKE 'ö%'`;
    expect(await read(found)).toEqual([{ n: 1 }]);
  });

  it('create an index for texts of any length, which others write', async () => {
    await project(worksOf([creates('001', 1)]));
    await read(`SELECT contracts.create_index_for_contract('memo', NULL, '{memo}', 'hash')`);
    // one that cannot be compressed
    const memo = Array.from({ length: 9_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)),
    ).join('');
    await project(worksOf([creates('001', 1), creates('002', 2, { createArgument: { memo } })]).slice(2));
    expect(await ids(`contracts.active() WHERE payload ->> 'memo' = '${memo}'`)).toEqual(['002']);
  });

  it('check names and offsets before they read, even if there is nothing to read', async () => {
    const types = { asset: contractType('#finance:Main:Asset', t.unknown) };
    const expectCode = async (sql: string, code: string): Promise<void> => {
      // as a constant, and as a parameter of a plan that is made for any value
      await expect(read(`SELECT * FROM contracts.${sql}`)).rejects.toMatchObject({ code });
      await expect(read(`SELECT count(*) FROM contracts.${sql}`)).rejects.toMatchObject({ code });
    };
    await project(batchesOf('start', 7, []), { query: { parties: 'any', types } });
    for (const sql of ["active('Nope')", "creates('Nope', 1000, 2000)", "archives('Nope')", "exercises('Nope')"])
      await expectCode(sql, '42704');
    for (const sql of ['active(NULL, 8)', "active('asset', 8)", 'summary_active(8)']) await expectCode(sql, '55000');
    for (const sql of ['active(NULL, 6)', "active('asset', 6)", 'summary_active(6)']) await expectCode(sql, '22003');
    await expectCode("creates('Nope') WHERE contract_id = 'none'", '42704');
    const both = [
      creates('001', 8, { templateId: 'a:Main:Token', packageName: 'a' }),
      creates('002', 9, { templateId: 'b:Main:Token', packageName: 'b' }),
    ];
    await project(worksOf(both).slice(1), { query: { parties: 'any', types } });
    for (const sql of ["active('Nope')", "creates('Nope', 1000, 2000)", "archives('Nope')"])
      await expectCode(sql, '42704');
    for (const sql of ["creates('Token', 1000, 2000)", "archives('Token')", "active('Token', 7)"])
      await expectCode(sql, '42P09');
    expect(await ids('contracts.active(NULL, 7)')).toEqual([]);
    expect(await ids("contracts.archives('asset')")).toEqual([]);
    await withSession(async (run) => {
      await run('SET plan_cache_mode = force_generic_plan');
      await run('PREPARE active (text, bigint) AS SELECT * FROM contracts.active($1, $2)');
      await expect(run("EXECUTE active('Nope', NULL)")).rejects.toMatchObject({ code: '42704' });
      await expect(run('EXECUTE active(NULL, 10)')).rejects.toMatchObject({ code: '55000' });
      expect(await run('EXECUTE active(NULL, NULL)')).toHaveLength(2);
    });
  });

  it('find the newest contracts by an index, whether many or few have the name', async () => {
    await project(
      worksOf([1, 2, 3].map((offset) => creates(`00${offset}`, offset, { templateId: `p:Main:T${offset}` }))),
    );
    await read(`INSERT INTO contracts.projection_contracts (generation, template_pk, created_at_offset, created_node_id,
        created_effective_at, reassignment_counter, contract_id, signatories, observers, witnesses, payload,
        archived_at_offset)
      SELECT s.generation, t.template_pk, n, 0, now(), 0, 'c' || n, '{}', '{}', '{}', '{}', CASE WHEN n % 5 = 0 THEN n + 1 END
      FROM generate_series(4, 20000) AS n, contracts.projection_state s, contracts.projection_templates t
      WHERE t.entity = CASE WHEN n % 4000 = 1 THEN 'T2' WHEN n % 2 = 0 THEN 'T1' ELSE 'T3' END`);
    await read('ANALYZE contracts.projection_contracts');
    for (const [name, index] of [
      ["'T1'", 'projection_contracts_newest'],
      ["'T2'", 'projection_contracts_active'],
      ['NULL', 'projection_contracts_newest'],
    ] as const) {
      for (const order of ['DESC', 'ASC']) {
        const query = `contracts.active(${name}) ORDER BY created_at_offset ${order} LIMIT 20`;
        const plan = JSON.stringify(await read(`EXPLAIN SELECT * FROM ${query}`));
        expect(plan).toMatch(new RegExp(String.raw`(?:Index Scan (?:Backward )?using|Bitmap Index Scan on) ${index}`));
        expect(plan).not.toContain('Seq Scan on projection_contracts');
      }
    }
    const newest = await read(`SELECT created_at_offset::int AS o FROM contracts.active('T1') ORDER BY 1 DESC LIMIT 5`);
    expect(newest.map(({ o }) => o)).toEqual([19998, 19996, 19994, 19992, 19988]);
    expect(await ids(`contracts.active('T2')`)).toEqual(['002', 'c12001', 'c16001', 'c4001', 'c8001']);
  });

  it('run no other SQL than that of an index', async () => {
    await project(worksOf([creates('001', 1)]));
    await read('CREATE TABLE other (id int)');
    const evil = `(1)); DROP TABLE other; --`;
    for (const kind of ['btree', 'gin']) {
      // a list of field names, and what the function took before
      for (const path of [[evil], [`owner')); DROP TABLE other; --`, `"'\\$$`], evil])
        await read('SELECT contracts.create_index_for_contract($1, NULL, $2, $3)', [
          `${kind} ${String(path)}`.slice(0, 60),
          path,
          kind,
        ]).catch(() => undefined);
    }
    expect(await read(`SELECT to_regclass('other') IS NOT NULL AS exists`)).toEqual([{ exists: true }]);
    await read('DROP TABLE other');
  });
});
