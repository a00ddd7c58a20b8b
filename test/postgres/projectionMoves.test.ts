import { beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contractsProjection, type ContractsProjectionOptions } from '../../src/postgres/index.js';
import type { ContractsReconciled, ContractsUpdated } from '../../src/contracts/ContractChange.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { makeContract } from '../../src/contracts/Contract.js';
import type { ContractsWork } from '../../src/process/index.js';
import { created, exercised, transactionOf } from '../helpers/contractEvents.js';
import { contractHistories } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { decodeUpdate } from '../helpers/foldLaw.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { transactionWith } from '../helpers/wire.js';
import { at, changesIn, placesOf } from './movedWorks.js';
import { batchesOf, creates, sync, worksOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

describeWithPostgres('a projection that goes on at another participant', () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
    await database.pool.query('DROP SCHEMA IF EXISTS fresh CASCADE');
  });
  const { ids, read } = database;
  const project = (
    works: readonly ContractsWork[],
    options: Partial<ContractsProjectionOptions> = {},
    perCommit?: number,
  ): Promise<void> =>
    write(
      database.pool,
      contractsProjection({ pool: database.pool, query: { parties: 'any' }, ...options }),
      works,
      perCommit,
      {
        processor: 'a',
      },
    );
  const one = async (sql: string): Promise<unknown> => Object.values((await read(sql))[0] ?? {})[0];
  const inEpoch = async (epoch: number, sql: string, values: readonly unknown[] = []) => {
    const client = await database.pool.connect();
    try {
      await client.query('SELECT contracts.set_epoch($1)', [epoch]);
      return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
    } finally {
      client.release(true);
    }
  };
  const idsIn = async (epoch: number, sql: string) =>
    (await inEpoch(epoch, `SELECT contract_id FROM ${sql} ORDER BY 1`)).map((row) => row['contract_id']);

  /** Four contracts; the first is archived after the third. At this participant offsets are 10, 20, 30, 40, 50. */
  const history = changesIn(
    worksOf([
      creates('a', 10),
      creates('b', 20),
      creates('c', 30),
      transactionOf(40, sync, [exercised('a', 40, { consuming: true, acsDelta: true })]),
      creates('d', 50),
    ]),
  );
  const start = batchesOf('start', 0, []);
  const moved = (offsets: readonly number[]): readonly ContractsUpdated[] =>
    history.slice(0, offsets.length).map((change, index) => at(change, offsets[index] ?? 0));
  /** What a projection has, but for offsets. */
  const contentOf = async (schema: string) => ({
    contracts:
      await read(`SELECT contract_id, payload, template_fqn, payload_type, type_name, synchronizer_id, in_flight_to,
        reassignment_counter, created_effective_at, archived_effective_at, archived_at_offset IS NULL AS is_active,
        (create_event_id).node_id AS created_node, (archive_event_id).node_id AS archived_node, archived_in_gap
      FROM ${schema}.creates() ORDER BY created_ix, contract_id`),
    active: await read(`SELECT contract_id FROM ${schema}.active() ORDER BY 1`),
    exercises: await read(
      `SELECT contract_id, choice, argument, result FROM ${schema}.exercises() ORDER BY exercised_ix`,
    ),
    updates: await read(`SELECT transaction_id, record_time, workflow_id FROM ${schema}.transactions ORDER BY ix`),
  });

  it('has changes at lower offsets, among them an archival at a lower offset than that of the creation', async () => {
    await project([...start, ...moved([10, 20, 30, 4, 9])]);
    expect(await ids('contracts.active()')).toEqual(['b', 'c', 'd']);
    const rows = `SELECT contract_id, created_at_offset::int AS created, archived_at_offset::int AS archived,
      created_ix::int AS "createdIx", archived_ix::int AS "archivedIx" FROM`;
    expect(await read(`${rows} contracts.lookup_contract('a')`)).toEqual([
      { contract_id: 'a', created: 10, archived: 4, createdIx: 10, archivedIx: 31 },
    ]);
    expect(await read(`${rows} contracts.lookup_contract('d')`)).toEqual([
      { contract_id: 'd', created: 9, archived: null, createdIx: 36, archivedIx: null },
    ]);
    expect(await read('SELECT epoch, first_offset::int, last_offset::int FROM contracts.epochs ORDER BY 1')).toEqual([
      { epoch: 0, first_offset: 0, last_offset: 30 },
      { epoch: 1, first_offset: 4, last_offset: null },
    ]);
    await project([...start, ...history], { schema: 'fresh' });
    expect(await contentOf('contracts')).toEqual(await contentOf('fresh'));
  });

  it('erases no exercise whose event id another one has at other offsets, until the session says which', async () => {
    const archives = (contractId: string, offset: number) =>
      transactionOf(offset, sync, [exercised(contractId, offset, { consuming: true, acsDelta: true })]);
    const [first, second, third] = changesIn(
      worksOf([creates('a', 10), archives('a', 20), creates('b', 30), archives('b', 40)]),
    ).slice(1);
    const [created] = history;
    if (!created || !first || !second || !third) throw new Error('there are four');
    await project([...start, created, first, at(second, 15), at(third, 20)]);
    const events = await read(
      'SELECT contract_id, exercise_event_id::text AS id FROM contracts.exercises() ORDER BY exercised_ix',
    );
    expect(events).toEqual([
      { contract_id: 'a', id: '(20,0)' },
      { contract_id: 'b', id: '(20,0)' },
    ]);
    const erase = `SELECT contracts.redact_exercise('(20,0)', 'r1')::int AS rows`;
    await expect(read(erase)).rejects.toMatchObject({ code: '22003', hint: expect.stringContaining('set_epoch') });
    expect(await inEpoch(0, erase)).toEqual([{ rows: 1 }]);
    expect(await read('SELECT contract_id, redaction_id FROM contracts.exercises() ORDER BY exercised_ix')).toEqual([
      { contract_id: 'a', redaction_id: 'r1' },
      { contract_id: 'b', redaction_id: null },
    ]);
  });

  it('takes an offset for one of the participant that it follows, and another one if the session says so', async () => {
    await project([...start, ...moved([10, 20, 30, 14, 19])]);
    expect(await one('SELECT contracts.latest_offset()')).toBe('19');
    expect(await one('SELECT contracts.oldest_offset()')).toBe('14');
    expect(await ids('contracts.active(NULL, 14)')).toEqual(['b', 'c']);
    expect(await ids('contracts.active(NULL, 18)')).toEqual(['b', 'c']);
    expect(await ids('contracts.active(NULL, 19)')).toEqual(['b', 'c', 'd']);
    // neither known at this participant, nor taken for an offset of the former one
    await expect(ids('contracts.active(NULL, 13)')).rejects.toMatchObject({
      code: '22003',
      message: 'offset 13 is before the oldest available offset, 14',
      hint: expect.stringContaining('set_epoch'),
    });
    await expect(read('SELECT contracts.validate_offset_exists(30)')).rejects.toMatchObject({ code: '55000' });
    await expect(read('SELECT contracts.prune_archived_to_offset(10)')).rejects.toMatchObject({ code: '22003' });
    expect(await ids('contracts.creates(NULL, 10, 30)')).toEqual(['d']);
    expect(await ids('contracts.creates(NULL, NULL, 14)')).toEqual(['a', 'b', 'c']);
    expect(await ids('contracts.archives(NULL, 0, 14)')).toEqual(['a']);
    expect(await ids('contracts.exercises(NULL, 14, 14)')).toEqual(['a']);
    expect(await ids('contracts.exercises(NULL, 15)')).toEqual([]);

    expect(await idsIn(0, 'contracts.active(NULL, 14)')).toEqual(['a']);
    expect(await idsIn(0, 'contracts.active(NULL, 30)')).toEqual(['a', 'b', 'c']);
    expect(await idsIn(0, 'contracts.active()')).toEqual(['b', 'c', 'd']);
    expect(await idsIn(0, 'contracts.creates(NULL, 20, 99)')).toEqual(['b', 'c']);
    expect(await idsIn(0, 'contracts.archives(NULL, 0, 99)')).toEqual([]);
    expect(await inEpoch(0, 'SELECT contracts.latest_offset()::int AS o, contracts.oldest_offset()::int AS p')).toEqual(
      [{ o: 30, p: 0 }],
    );
    await expect(idsIn(0, 'contracts.active(NULL, 31)')).rejects.toMatchObject({ code: '22003' });
    await expect(idsIn(2, 'contracts.active()')).rejects.toThrow('there is no epoch 2');
  });

  it('finds offsets by time among those of the epoch, and says which epoch has them', async () => {
    const timed = [10, 20, 5].map((offset, index) => {
      const time = `2026-01-0${index + 1}T00:00:00Z`;
      const events = [created({ contractId: `c${index}`, offset })];
      return transactionWith(offset, { synchronizerId: sync, events, effectiveAt: time, recordTime: time });
    });
    await project([...start, ...changesIn(worksOf(timed))]);
    const nearest = (day: number) =>
      `SELECT contracts.nearest_offset('2026-01-0${day}T12:00:00Z'::timestamptz)::int AS o`;
    expect(await read(nearest(3))).toEqual([{ o: 5 }]);
    await expect(read(nearest(2))).rejects.toMatchObject({ code: '22003', hint: 'Choose its offsets: set_epoch(0)' });
    expect(await inEpoch(0, nearest(1))).toEqual([{ o: 10 }]);
    expect(await inEpoch(0, nearest(4))).toEqual([{ o: 20 }]);
  });

  it('keeps the place of a session that reads at an offset', async () => {
    await project([...start, ...moved([10, 20, 30])]);
    const client = await database.pool.connect();
    const run = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows;
    try {
      await run('SELECT contracts.set_latest(20)');
      await project(moved([10, 20, 30, 14, 19]).slice(3));
      expect(await run('SELECT contract_id FROM contracts.active() ORDER BY 1')).toHaveLength(2);
      expect(await run('SELECT contracts.latest_offset()::int AS o')).toEqual([{ o: 20 }]);
      expect(await run('SELECT contracts.set_latest(NULL)::int AS o')).toEqual([{ o: 19 }]);
    } finally {
      client.release(true);
    }
  });

  it('has an update at the offset of another one, and none twice', async () => {
    const works = moved([10, 20, 30, 30, 30]);
    await project([...start, ...works]);
    await project([...start, ...history], { schema: 'fresh' });
    expect(await contentOf('contracts')).toEqual(await contentOf('fresh'));
    expect(await read('SELECT count(*)::int FROM contracts.epochs')).toEqual([{ count: 3 }]);
    for (const change of works) {
      await expect(project([change])).rejects.toThrow(/does not end before offset/);
      await expect(project([at(change, 7)])).rejects.toThrow(/does not end before offset 7: another processor/);
    }
    expect(await contentOf('contracts')).toEqual(await contentOf('fresh'));
  });

  it('has nothing of a transaction that is rolled back after a move, and all of it when it comes again', async () => {
    const works = moved([10, 20, 30, 4, 9]);
    await project([...start, ...works.slice(0, 3)]);
    const [a] = works;
    if (a === undefined) throw new Error('there is a change');
    // a second move in the same transaction, which archives what the first one has archived
    const broken: ContractsUpdated = { ...at(a, 3), updateId: '1220ff', added: [], removed: a.added };
    await expect(project([...works.slice(3, 4), broken])).rejects.toThrow(/not in the projection/);
    expect(await read('SELECT count(*)::int FROM contracts.epochs')).toEqual([{ count: 1 }]);
    expect(await one('SELECT contracts.latest_offset()')).toBe('30');
    await project(works.slice(3));
    await project([...start, ...history], { schema: 'fresh' });
    expect(await contentOf('contracts')).toEqual(await contentOf('fresh'));
  });

  it('says where its processor is before anything changes at the other participant', async () => {
    await database.pool.query('CREATE TABLE canton_rx_cursors (name text PRIMARY KEY, cursor jsonb)');
    const save = (cursor: object) =>
      read(`INSERT INTO canton_rx_cursors VALUES ('a', $1) ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`, [
        JSON.stringify(cursor),
      ]);
    await project([...start, ...moved([10, 20, 30])]);
    await read(`UPDATE contracts.projection_state SET cursor_at = '["public.canton_rx_cursors", "a"]'`);
    await save({ offset: 33 });
    expect(await one('SELECT contracts.latest_offset()')).toBe('33');
    await save({ offset: 13 });
    expect(await one('SELECT contracts.latest_offset()')).toBe('13');
    expect(await ids('contracts.active(NULL, contracts.latest_offset())')).toEqual(['a', 'b', 'c']);
    await expect(read('SELECT contracts.validate_offset_exists(14)')).rejects.toMatchObject({ code: '55000' });
    await expect(ids('contracts.active(NULL, 12)')).rejects.toMatchObject({ code: '22003' });
    expect(await idsIn(0, 'contracts.active(NULL, 12)')).toEqual(['a']);
  });

  it('takes what is read again at the other participant, before its first change and after it', async () => {
    const reconciled = (offset: number, difference: Partial<ContractsReconciled>): ContractsReconciled => ({
      ...{ _tag: 'ContractsChanged', reason: 'packageFound', offset, added: [], removed: [], moved: [] },
      ...difference,
    });
    const [x, y, z] = changesIn(worksOf([creates('x', 2), creates('y', 8), creates('z', 15)])).flatMap(
      ({ added }) => added,
    );
    const works = moved([10, 20, 30, 9, 12]);
    if (x === undefined || y === undefined || z === undefined) throw new Error('they are created');
    await project([...start, ...works.slice(0, 3), reconciled(5, { added: [x], removed: works[1]?.added ?? [] })]);
    expect(await ids('contracts.active()')).toEqual(['a', 'c', 'x']);
    expect(await ids('contracts.active(NULL, 5)')).toEqual(['a', 'c', 'x']);
    expect(await idsIn(0, 'contracts.active(NULL, 30)')).toEqual(['a', 'b', 'c']);
    await project([...works.slice(3), reconciled(16, { added: [y, z] })], {}, 1);
    expect(await ids('contracts.active()')).toEqual(['c', 'd', 'x', 'y', 'z']);
    expect(await ids('contracts.active(NULL, 9)')).toEqual(['c', 'x', 'y']);
    expect(await ids('contracts.active(NULL, 14)')).toEqual(['c', 'd', 'x', 'y']);
    expect(await read(`SELECT created_at_offset::int AS o FROM contracts.lookup_contract('x')`)).toEqual([{ o: 2 }]);
  });

  it('keeps its history if the other participant was pruned, and begins anew with another ledger', async () => {
    const works = moved([10, 20, 30, 4, 9]);
    await project([...start, ...works]);
    const [e] = changesIn(worksOf([creates('e', 17)])).flatMap(({ added }) => added);
    if (e === undefined) throw new Error('it is created');
    await project(batchesOf('pruned', 20, [...(works[2]?.added ?? []), e], 1), {}, 1);
    expect(await ids('contracts.active()')).toEqual(['c', 'e']);
    expect(await ids('contracts.active(NULL, 9)')).toEqual(['b', 'c', 'd']);
    await expect(ids('contracts.active(NULL, 10)')).rejects.toThrow('offset 10 is in a gap');
    expect(await idsIn(0, 'contracts.active(NULL, 30)')).toEqual(['a', 'b', 'c']);
    expect(
      await read('SELECT contract_id FROM contracts.archives(NULL, 20, 20) WHERE archived_in_gap ORDER BY 1'),
    ).toEqual([{ contract_id: 'b' }, { contract_id: 'd' }]);
    await project(batchesOf('ledgerReset', 3, [e]));
    expect(await ids('contracts.creates()')).toEqual(['e']);
    expect(await read('SELECT epoch FROM contracts.epochs')).toEqual([{ epoch: 0 }]);
    expect(await one('SELECT contracts.oldest_offset()')).toBe('3');
  });

  it('is extended at a lower offset only if its processor had moved there, and not by a replica that lags', async () => {
    await database.pool.query('CREATE TABLE canton_rx_cursors (name text PRIMARY KEY, cursor jsonb)');
    const works = moved([10, 20, 30]);
    await project([...start, ...works]);
    const load = async (cursor: object): Promise<void> => {
      await read(
        `INSERT INTO canton_rx_cursors VALUES ('a', $1) ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`,
        [JSON.stringify(cursor)],
      );
      const at = '["public.canton_rx_cursors", "a"]';
      await read('UPDATE contracts.projection_state SET cursor_at = $1', [at]);
      const client = await database.pool.connect();
      const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
      try {
        await client.query('BEGIN');
        await client.query(`SELECT set_config('canton_rx.cursor', $1, true)`, [at]);
        await new Promise<void>((resolve, reject) => {
          handler(batchesOf('pruned', 25, works[2]?.added ?? []), client).subscribe({
            complete: resolve,
            error: reject,
          });
        });
        await client.query('COMMIT');
      } finally {
        client.release(true);
      }
    };
    await expect(load({ offset: 0, loading: 0, notBefore: 30 })).rejects.toThrow(/at offset 25 are older than/);
    await expect(load({ offset: 31 })).rejects.toThrow(/at offset 25 are older than/);
    await load({ offset: 0, loading: 0, notBefore: 21 });
    await read(`UPDATE canton_rx_cursors SET cursor = '{"offset": 25}'`);
    expect(await ids('contracts.active()')).toEqual(['c']);
    expect(await ids('contracts.active(NULL, 25)')).toEqual(['c']);
    expect(await idsIn(0, 'contracts.active(NULL, 30)')).toEqual(['a', 'b', 'c']);
  });

  it('removes history in its order, whatever offsets it has', async () => {
    const timed = [50, 60, 5, 6, 55, 3].map((offset, index) => {
      const time = `2026-01-0${index + 1}T00:00:00Z`;
      const events = [
        created({ contractId: `c${index}`, offset }),
        ...(index > 0 ? [exercised(`c${index - 1}`, offset, { consuming: true, acsDelta: true })] : []),
      ];
      return transactionWith(offset, { synchronizerId: sync, events, effectiveAt: time, recordTime: time });
    });
    const changes = changesIn(worksOf(timed));
    await project([...start, ...changes.slice(0, 5)]);
    expect(await ids('contracts.archives()')).toEqual(['c0', 'c1', 'c2', 'c3']);
    // older than three days before the 6th
    await project(changes.slice(5), { keepArchivedMs: 3 * 86_400_000 });
    expect(await ids('contracts.archives()')).toEqual(['c1', 'c2', 'c3', 'c4']);
    expect(await ids('contracts.exercises()')).toEqual(['c1', 'c2', 'c3', 'c4']);
    const offsets = await read('SELECT "offset"::int AS o FROM contracts.transactions ORDER BY ix');
    expect(offsets.map(({ o }) => o)).toEqual([5, 6, 55, 3]);
    await expect(idsIn(0, 'contracts.active(NULL, 59)')).rejects.toMatchObject({ code: '22003' });
    expect(await idsIn(0, 'contracts.active(NULL, 60)')).toEqual(['c1']);
    expect(await idsIn(1, 'contracts.active(NULL, 6)')).toEqual(['c3']);
    await inEpoch(1, 'SELECT contracts.prune_archived_to_offset(55)');
    expect(await ids('contracts.archives()')).toEqual(['c4']);
    expect(await ids('contracts.active()')).toEqual(['c5']);
  });

  it('has what a projection of one participant has, after any number of moves, at every offset', async () => {
    const plan = fc.record({
      history: contractHistories({ maxEvents: 30 }),
      offsets: fc.array(fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 30 }),
      perCommit: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ history, offsets, perCommit }) => {
        await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
        await database.pool.query('DROP SCHEMA IF EXISTS fresh CASCADE');
        const fold = new ContractsFold(makeContract());
        const changes: ContractsUpdated[] = [];
        const states: (readonly string[])[] = [];
        for (const { element } of history) {
          const change = fold.apply(decodeUpdate(element));
          if (change === undefined) continue;
          changes.push(change);
          states.push([...fold.contracts].map(({ contractId }) => contractId).sort());
        }
        let latest = 0;
        const renumbered = changes.map((change, index) => {
          const [kind, offset] = offsets[index % offsets.length] ?? [0, 1];
          // moves to lower, equal and higher offsets
          latest = kind < 4 ? offset : latest + (kind === 4 ? 0 : kind - 4);
          return at(change, Math.max(1, latest));
        });
        await project([...start, ...renumbered], {}, perCommit);
        await project([...start, ...changes], { schema: 'fresh' });
        expect(await contentOf('contracts')).toEqual(await contentOf('fresh'));
        const { places, epochs } = placesOf(renumbered.map(({ offset }) => offset));
        expect(await read('SELECT first_offset::int, first_ix::int FROM contracts.epochs ORDER BY epoch')).toEqual(
          epochs,
        );
        for (const [index, { offset, ix, epoch }] of places.entries()) {
          const list = (sql: string): string => `ARRAY(SELECT DISTINCT contract_id FROM contracts.${sql} ORDER BY 1)`;
          const change = renumbered[index];
          expect(
            await inEpoch(
              epoch,
              `SELECT ${list('active(NULL, $1)')} AS active, ${list('creates(NULL, $1, $1)')} AS added,
                ${list('archives(NULL, $1, $1)')} AS removed,
                ARRAY(SELECT ix::int FROM contracts.transactions WHERE transaction_id = $2) AS ix`,
              [offset, change?.updateId],
            ),
          ).toEqual([
            {
              active: states[index],
              added: change?.added.map(({ contractId }) => contractId).sort(),
              removed: change?.removed.map(({ contractId }) => contractId).sort(),
              ix: [ix],
            },
          ]);
        }
      }),
      { numRuns: effort(6, 150) },
    );
  });
});
