import { beforeEach, expect, it } from '@jest/globals';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractsReconciled } from '../../src/contracts/ContractChange.js';
import { contractsProjection, type ContractsProjectionOptions } from '../../src/postgres/index.js';
import type { ContractsWork } from '../../src/process/index.js';
import { archived, transactionOf } from '../helpers/contractEvents.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { batchesOf, contractsOf, creates, sync, viewOf, worksOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

describeWithPostgres('a projection whose contracts are read again', () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
  });
  const { ids, read } = database;
  const project = (
    works: readonly ContractsWork[],
    onDeselected?: ContractsProjectionOptions['onDeselected'],
  ): Promise<void> =>
    write(
      database.pool,
      contractsProjection({ pool: database.pool, query: { parties: 'any' }, onDeselected }),
      works,
      1,
      {
        processor: 'a',
      },
    );

  /** Contracts at 2 and 5, of which the first is archived at 7. */
  const history = [creates('a', 2), creates('b', 5), transactionOf(7, sync, [archived('a', 7)])];
  const contract = (contractId: string, offset: number, more: object = {}): AnyContract => {
    const [only] = contractsOf([creates(contractId, offset, more)]);
    if (only === undefined) throw new Error('it creates a contract');
    return only;
  };
  const reconciled = (offset: number, difference: Partial<ContractsReconciled>): ContractsReconciled => ({
    ...{ _tag: 'ContractsChanged', reason: 'packageFound', offset, added: [], removed: [], moved: [] },
    ...difference,
  });
  const rows = () =>
    read(`SELECT contract_id, created_at_offset::int AS created, archived_at_offset::int AS archived,
        metadata IS NOT NULL AS "hasBlob"
      FROM contracts.creates() ORDER BY created_at_offset, contract_id`);
  const isGapless = async (): Promise<void> => {
    expect(await read('SELECT contracts.validate_offset_exists(at) FROM generate_series(0, 7) AS at')).toHaveLength(8);
  };

  const witnesses = async (): Promise<unknown> =>
    read('SELECT contract_id, witnesses FROM contracts.active() ORDER BY contract_id');

  it('erases what is kept without being followed, but nothing that is active', async () => {
    const goes = { ...reconciled(7, { removed: [contract('b', 5)] }), reason: 'selectionChanged' } as const;
    await project([...worksOf([...history, creates('d', 8)]), { ...goes, offset: 9 }], 'keep');
    expect(await ids('contracts.active()')).toEqual(['b', 'd']);
    await expect(read("SELECT contracts.redact_contract('d', 'r')")).rejects.toMatchObject({ code: '55000' });
    expect(await read("SELECT contracts.redact_contract('b', 'r')::int AS rows")).toEqual([{ rows: 1 }]);
    expect(await read('SELECT contract_id, payload IS NULL AS erased FROM contracts.active() ORDER BY 1')).toEqual([
      { contract_id: 'b', erased: true },
      { contract_id: 'd', erased: false },
    ]);
  });

  it('ends the contracts of a party that goes, and has them as before when it comes back, in a change or a load', async () => {
    const shown = (contractId: string, offset: number, ...witnessParties: readonly string[]): AnyContract =>
      contract(contractId, offset, { witnessParties });
    const [x, shared] = [shown('x', 3, 'bob'), shown('y', 6, 'alice', 'bob')];
    const from = { synchronizerId: sync };
    const selected = (difference: Partial<ContractsReconciled>): ContractsReconciled =>
      reconciled(7, { ...difference, reason: 'selectionChanged' });
    await project([...worksOf(history), reconciled(7, { added: [shown('y', 6, 'alice')] })]);
    const comes = selected({ added: [x], moved: [{ contract: shared, from }] });
    const goes = selected({ removed: [x], moved: [{ contract: shown('y', 6, 'alice'), from }] });
    await project([comes]);
    const withBob = [
      { contract_id: 'b', witnesses: ['alice::1220ab'] },
      { contract_id: 'x', witnesses: ['bob'] },
      { contract_id: 'y', witnesses: ['alice', 'bob'] },
    ];
    expect(await witnesses()).toEqual(withBob);
    await project([goes]);
    expect(await ids('contracts.active()')).toEqual(['b', 'y']);
    expect(await ids('contracts.active(NULL, 6)')).toEqual(['a', 'b', 'x', 'y']);
    await project([comes]);
    expect(await witnesses()).toEqual(withBob);
    expect(await ids('contracts.active(NULL, 6)')).toEqual(['a', 'b', 'x', 'y']);
    await project([goes]);
    const b = contract('b', 5);
    await project(batchesOf('selectionChanged', 7, [b, x, shared]));
    expect(await witnesses()).toEqual(withBob);
    expect(await ids('contracts.active(NULL, 6)')).toEqual(['a', 'b', 'x', 'y']);
    await isGapless();
  });

  /** The rows of contracts, with their end. */
  const ends = () =>
    read(`SELECT contract_id, created_at_offset::int AS created, archived_at_offset::int AS at, end_reason AS reason,
        archived_in_gap AS "isUnknown"
      FROM contracts.creates() ORDER BY contract_id`);
  const selection = (offset: number, difference: Partial<ContractsReconciled>): ContractsReconciled =>
    reconciled(offset, { ...difference, reason: 'selectionChanged' });

  it('tells an archival from a contract that is not selected any more, not visible any more, or ended in a gap', async () => {
    const [x, y, z] = [contract('x', 3), contract('y', 4), contract('z', 5)];
    await project([...worksOf(history), reconciled(7, { added: [x, y, z] })]);
    await project([selection(7, { removed: [x] }), reconciled(8, { removed: [y] })]);
    await project(batchesOf('selectionChanged', 8, [contract('b', 5)]));
    await project(batchesOf('pruned', 12, [contract('n', 11)]));
    expect(await ends()).toEqual([
      { contract_id: 'a', created: 2, at: 7, reason: 'archived', isUnknown: false },
      { contract_id: 'b', created: 5, at: 12, reason: 'pruned', isUnknown: true },
      { contract_id: 'n', created: 11, at: null, reason: null, isUnknown: false },
      { contract_id: 'x', created: 3, at: 7, reason: 'selectionChanged', isUnknown: false },
      { contract_id: 'y', created: 4, at: 8, reason: 'notVisible', isUnknown: true },
      { contract_id: 'z', created: 5, at: 8, reason: 'selectionChanged', isUnknown: false },
    ]);
    expect(await ids('contracts.active()')).toEqual(['n']);
    expect(await ids('contracts.active(NULL, 7)')).toEqual(['b', 'y', 'z']);
  });

  it("keeps what is not selected any more with onDeselected: 'keep', until it is selected again", async () => {
    const [b, x, y] = [contract('b', 5), contract('x', 3), contract('y', 4)];
    await project([...worksOf(history), reconciled(7, { added: [x, y] })]);
    await project([selection(7, { removed: [x] })], 'keep');
    await project(batchesOf('selectionChanged', 7, [b]), 'keep');
    const active = () => read('SELECT contract_id, end_reason AS reason FROM contracts.active() ORDER BY 1');
    expect(await active()).toEqual([
      { contract_id: 'b', reason: null },
      { contract_id: 'x', reason: 'selectionChanged' },
      { contract_id: 'y', reason: 'selectionChanged' },
    ]);
    // what is kept is not followed: it does not end with what is, whatever the reason
    await project(batchesOf('pruned', 12, [contract('n', 11)]), 'keep');
    const moved = { ...x, reassignmentCounter: 4 };
    await project([selection(12, { added: [moved] })], 'keep');
    expect(await ids('contracts.active()')).toEqual(['n', 'x', 'y']);
    await project(batchesOf('selectionChanged', 12, [contract('n', 11), moved, y]), 'keep');
    expect(await active()).toEqual([
      { contract_id: 'n', reason: null },
      { contract_id: 'x', reason: null },
      { contract_id: 'y', reason: null },
    ]);
    expect(await read("SELECT reassignment_counter::int AS counter FROM contracts.lookup_contract('x')")).toEqual([
      { counter: 4 },
    ]);
    // it ends as it would have
    await project([selection(12, { removed: [y] })]);
    expect(await ids('contracts.active()')).toEqual(['n', 'x']);
  });

  it('has the contracts of a party that comes back after a gap once, at all offsets', async () => {
    const [b, x] = [contract('b', 5), contract('x', 3)];
    await project([...worksOf(history), reconciled(7, { added: [x] }), selection(7, { removed: [x] })]);
    await project(batchesOf('pruned', 12, [b, x]));
    expect(await ids('contracts.active()')).toEqual(['b', 'x']);
    expect(await ids('contracts.active(NULL, 6)')).toEqual(['a', 'b', 'x']);
  });

  it('has the parties that see a contract also if the ledger was pruned before those were read', async () => {
    const y = contract('y', 6);
    await project([...worksOf(history), reconciled(7, { added: [y] })]);
    const { createdEvent } = y;
    const ofBob = { ...y, createdEvent: { ...createdEvent, witnessParties: ['bob'] } };
    await project(batchesOf('pruned', 12, [ofBob, contract('n', 11, { witnessParties: ['bob'] })]));
    expect(await witnesses()).toEqual([
      { contract_id: 'n', witnesses: ['bob'] },
      { contract_id: 'y', witnesses: ['bob'] },
    ]);
  });

  it('has the contracts of a party that comes back at another participant at the place of their creation', async () => {
    const x = contract('x', 3, { createdEventBlob: 'YmxvYg==' });
    await project([...worksOf(history), reconciled(7, { added: [x] }), selection(7, { removed: [x] })]);
    const elsewhere = contract('x', 1);
    const first = { contract_id: 'x', created: 3, archived: null, hasBlob: true };
    for (const back of [[selection(2, { added: [elsewhere] })], batchesOf('selectionChanged', 2, [elsewhere])]) {
      await project(back);
      expect((await rows()).filter(({ contract_id }) => contract_id === 'x')).toEqual([first]);
      expect(await read("SELECT created_ix::int AS ix FROM contracts.lookup_contract('x')")).toEqual([{ ix: 3 }]);
      await project([selection(2, { removed: [elsewhere] })]);
    }
  });

  it('keeps its history and gains what appears, with the offset of its creation, at the offset of the last change (G49)', async () => {
    const change = reconciled(7, { added: [contract('x', 3), contract('y', 6)] });
    await project([...worksOf(history), change]);
    const expected = [
      { contract_id: 'a', created: 2, archived: 7, hasBlob: false },
      { contract_id: 'x', created: 3, archived: null, hasBlob: false },
      { contract_id: 'b', created: 5, archived: null, hasBlob: false },
      { contract_id: 'y', created: 6, archived: null, hasBlob: false },
    ];
    expect(await rows()).toEqual(expected);
    expect(await ids('contracts.active(NULL, 4)')).toEqual(['a', 'x']);
    expect(await read('SELECT count(*)::int FROM contracts.transactions')).toEqual([{ count: 3 }]);
    await isGapless();
    // a crash after the commit, and a cursor from before it
    await project([change]);
    expect(await rows()).toEqual(expected);
    await project(worksOf([creates('z', 8)]).slice(1));
    await project([reconciled(12, { removed: [contract('z', 8)] })]);
    expect(await ids('contracts.active()')).toEqual(['b', 'x', 'y']);
    expect(await read('SELECT contracts.latest_offset()::int AS o')).toEqual([{ o: 12 }]);
  });

  it('ends what is not visible any more at the offset, and says that its end is unknown', async () => {
    await project([...worksOf(history), reconciled(7, { removed: [contract('b', 5)] })]);
    expect(
      await read(`SELECT contract_id, archived_at_offset::int AS at, archived_in_gap AS "isUnknown"
        FROM contracts.archives() ORDER BY 1`),
    ).toEqual([
      { contract_id: 'a', at: 7, isUnknown: false },
      { contract_id: 'b', at: 7, isUnknown: true },
    ]);
    await isGapless();
  });

  it('has new views and blobs of contracts that it has, in rows beside those that it has', async () => {
    const now = contract('b', 5, { interfaceViews: [viewOf({ amount: '1' })], createdEventBlob: 'YmxvYg==' });
    await project([...worksOf(history), reconciled(7, { moved: [{ contract: now, from: now.location }] })]);
    expect(
      await read(`SELECT contract_id, payload_type, convert_from(metadata, 'UTF8') AS blob
        FROM contracts.active() ORDER BY payload_type`),
    ).toEqual([
      { contract_id: 'b', payload_type: 'interface', blob: 'blob' },
      { contract_id: 'b', payload_type: 'template', blob: 'blob' },
    ]);
  });

  it('keeps its history if all contracts come again at its offset, and has what appeared, and blobs', async () => {
    await project(worksOf(history));
    const blob = { createdEventBlob: 'YmxvYg==' };
    const all = [contract('b', 5, blob), contract('x', 3, blob)];
    await project(batchesOf('appeared', 9, all, 1));
    expect(await rows()).toEqual([
      { contract_id: 'a', created: 2, archived: 7, hasBlob: false },
      { contract_id: 'x', created: 3, archived: null, hasBlob: true },
      { contract_id: 'b', created: 5, archived: null, hasBlob: true },
    ]);
    // no update is missing between the last change and the cursor
    await isGapless();
    expect(await read('SELECT * FROM contracts.projection_gaps')).toEqual([]);
    // blobs stay when the query no longer asks for them
    await project(batchesOf('appeared', 9, [contract('b', 5), contract('x', 3)]));
    expect((await rows()).filter(({ hasBlob }) => hasBlob === true)).toHaveLength(2);
  });

  it('keeps a key that is None, and one that is absent, when the contracts come again in another form', async () => {
    const contractKeyHash = `${'q'.repeat(43)}=`;
    const keys = [{ contractKey: null, contractKeyHash }, { contractKey: '', contractKeyHash }, { contractKey: null }];
    const contracts = (more: object) => keys.map((key, index) => contract(`c${index}`, 2 + index, { ...key, ...more }));
    const found = () => read('SELECT contract_key::text AS key FROM contracts.active() ORDER BY contract_id');
    await project(batchesOf('start', 5, contracts({})));
    const before = [{ key: 'null' }, { key: '""' }, { key: null }];
    expect(await found()).toEqual(before);
    const form = { createdEventBlob: 'YmxvYg==', createArgument: { text: 'other' } };
    await project(batchesOf('pruned', 7, contracts(form)));
    expect(await read('SELECT metadata IS NOT NULL AS "hasBlob" FROM contracts.active()')).toEqual(
      before.map(() => ({ hasBlob: true })),
    );
    expect(await found()).toEqual(before);
  });

  it('refuses a change of another processor', async () => {
    await project(worksOf(history));
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any' } });
    await expect(write(database.pool, handler, [reconciled(9, {})], 1, { processor: 'b' })).rejects.toThrow(
      /is not at offset 9: another processor writes it/,
    );
  });
});
