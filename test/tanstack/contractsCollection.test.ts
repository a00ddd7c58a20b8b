import { afterEach, describe, expect, it } from '@jest/globals';
import { type Collection, createCollection, createLiveQueryCollection, eq } from '@tanstack/db';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { DecodeError } from '../../src/errors/feed.js';
import { contractsCollection } from '../../src/tanstack-db/index.js';
import { until } from '../helpers/time.js';
import { alice, bob, contract, ServerView } from '../sse/support.js';

const refusal = new ApiError({
  path: '/v2/updates/flats',
  status: 403,
  canton: { code: 'PERMISSION_DENIED', cause: 'refused', errorCategory: 7, context: {} },
});

const opened: Collection<AnyContract, string>[] = [];
afterEach(async () => {
  for (const collection of opened.splice(0)) await collection.cleanup();
});

/** A collection of a view, and what a subscriber sees: each change as one text. */
function collect(view = new ServerView()) {
  const contracts = createCollection(contractsCollection(view.live, { id: 'contracts' }));
  opened.push(contracts);
  const changes: string[] = [];
  const subscription = contracts.subscribeChanges((all) => {
    changes.push(all.map(({ type, key }) => `${type} ${key}`).join());
  });
  return { view, contracts, changes, subscription, ids: () => [...contracts.keys()].join('') };
}

describe('contractsCollection', () => {
  it('is ready when all contracts are known', async () => {
    const { view, contracts, ids } = collect();
    expect(contracts.status).toBe('loading');
    const ready = contracts.stateWhenReady();
    view.reset([contract('x'), contract('y')]);
    expect([contracts.status, ids()]).toEqual(['ready', 'xy']);
    expect((await ready).get('x')).toMatchObject({ contractId: 'x', signatories: [alice] });
  });

  it('is ready without contracts', () => {
    const { view, contracts } = collect();
    view.reset([]);
    expect([contracts.status, contracts.size]).toEqual(['ready', 0]);
  });

  it('shows each update of the ledger as one change', () => {
    const { view, contracts, changes, ids } = collect();
    view.reset([contract('x'), contract('y')]);
    view.change({ add: [contract('z')], remove: ['x'], move: ['y'] });
    view.checkpoint();
    expect(changes.filter((change) => change !== '')).toEqual([
      'insert x,insert y',
      expect.stringMatching(/^(?=.*delete x)(?=.*insert z)(?=.*update y)/),
    ]);
    expect(ids()).toBe('yz');
    expect(contracts.get('y')).toMatchObject({
      location: { synchronizerId: 'sync-b::1220ab' },
      reassignmentCounter: 1,
    });
  });

  it('keeps only the contracts of a reset', () => {
    const { view, contracts, ids } = collect();
    view.reset([contract('x'), contract('y')]);
    view.reset([contract('y', [bob]), contract('z')], 'ledgerReset');
    expect(ids()).toBe('yz');
    expect(contracts.get('y')).toMatchObject({ signatories: [bob] });
    view.change({ remove: ['z'] });
    expect(ids()).toBe('y');
  });

  it('keeps live queries up to date', async () => {
    const { view, contracts } = collect();
    const ofBob = createLiveQueryCollection((q) =>
      q.from({ contract: contracts }).where(({ contract: { packageName } }) => eq(packageName, 'other')),
    );
    const other = { ...contract('y'), packageName: 'other' };
    view.reset([contract('x'), other]);
    await ofBob.preload();
    expect(ofBob.toArray.map(({ contractId }) => contractId)).toEqual(['y']);
    view.change({ add: [{ ...other, contractId: 'z' }], remove: ['y'] });
    expect(ofBob.toArray.map(({ contractId }) => contractId)).toEqual(['z']);
    await ofBob.cleanup();
  });

  it('has the order of compare', () => {
    const view = new ServerView();
    view.reset([contract('a'), contract('c'), contract('b')]);
    const compare = (one: AnyContract, other: AnyContract): number => other.contractId.localeCompare(one.contractId);
    const contracts = createCollection({ ...contractsCollection(view.live, { compare }), startSync: true });
    opened.push(contracts);
    expect(contracts.toArray.map(({ contractId }) => contractId)).toEqual(['c', 'b', 'a']);
  });

  it.each(['the first contracts', 'a later change'])('fails with the error of a select that throws for %s', (when) => {
    const view = new ServerView();
    const select = ({ contractId }: AnyContract): boolean => {
      if (contractId === 'b') throw new TypeError('no payload');
      return true;
    };
    const contracts = createCollection({ ...contractsCollection(view.live, { select }), startSync: true });
    opened.push(contracts);
    if (when === 'a later change') view.reset([contract('a')]);
    if (when === 'a later change') view.change({ add: [contract('b'), contract('c')] });
    else view.reset([contract('a'), contract('b'), contract('c')]);
    expect([contracts.status, contracts.size, view.subscriptions]).toEqual(['error', 0, 0]);
  });

  it('has the contracts that select chooses', () => {
    const view = new ServerView();
    view.reset([contract('x'), contract('y', [bob]), contract('z', [bob])]);
    const select = ({ signatories }: AnyContract): boolean => signatories.includes(bob);
    const contracts = createCollection(contractsCollection(view.live, { select }));
    opened.push(contracts);
    contracts.subscribeChanges(() => undefined);
    expect([...contracts.keys()]).toEqual(['y', 'z']);
    view.change({ add: [contract('v'), contract('w', [bob])], remove: ['x', 'y'], move: ['z'] });
    expect([...contracts.keys()].sort()).toEqual(['w', 'z']);
    view.change({ remove: ['v'] });
    view.reset([contract('x'), contract('w', [bob])]);
    expect([...contracts.keys()]).toEqual(['w']);
  });

  it('has a contract that is moved only while select chooses its new form', () => {
    const view = new ServerView();
    const decoded = ({ _tag }: AnyContract): boolean => _tag === 'Contract';
    const contracts = createCollection(contractsCollection(view.live, { select: decoded }));
    opened.push(contracts);
    const changes: string[] = [];
    contracts.subscribeChanges((all) => {
      changes.push(...all.map(({ type, key }) => `${type} ${key}`));
    });
    const undecoded = (contractId: string): AnyContract =>
      ({ ...contract(contractId), _tag: 'UndecodedContract', type: undefined, payload: undefined }) as AnyContract;
    view.reset([contract('x'), undecoded('y'), contract('z')]);
    // on another synchronizer, the participant may or may not be able to compute the view of an interface
    view.change({ move: [undecoded('x'), contract('y'), contract('z')] });
    expect([...contracts.keys()].sort()).toEqual(['y', 'z']);
    view.change({ remove: ['x', 'y'] });
    expect([...contracts.keys()]).toEqual(['z']);
    expect(changes.slice(2).sort()).toEqual(['delete x', 'delete y', 'insert y', 'update z']);
  });

  it('fails with the error of the view before the contracts are known', async () => {
    const { view, contracts } = collect();
    const loaded = contracts.preload();
    view.fail(refusal);
    await expect(loaded).rejects.toBe(refusal);
    expect(contracts.status).toBe('error');
  });

  it('fails when the view ends later, and has its contracts no more', () => {
    const { view, contracts, changes } = collect();
    view.reset([contract('x')]);
    view.fail(refusal);
    expect([contracts.status, contracts.size, view.subscriptions]).toEqual(['error', 0, 0]);
    expect(changes).toContain('delete x');
  });

  it('keeps the contracts before an update that does not decode', () => {
    const { view, contracts, ids } = collect();
    view.reset([contract('x')]);
    view.fail(new DecodeError('/v2/updates/flats', []));
    expect([contracts.status, ids()]).toEqual(['error', 'x']);
  });

  it('ends with a cleanup, and begins again with the next subscriber, also after an error', async () => {
    const { view, contracts, ids } = collect();
    view.reset([contract('x')]);
    await contracts.cleanup();
    expect([contracts.status, view.subscriptions]).toEqual(['cleaned-up', 0]);
    view.change({ add: [contract('y')], remove: ['x'] });
    contracts.subscribeChanges(() => undefined);
    expect([ids(), view.subscriptions]).toEqual(['y', 1]);
    view.fail(refusal);
    await contracts.cleanup();
    contracts.subscribeChanges(() => undefined);
    expect([contracts.status, ids(), view.subscriptions]).toEqual(['ready', 'y', 1]);
  });

  it('ends when nothing has subscribed to it for its gcTime', async () => {
    const view = new ServerView();
    view.reset([contract('x')]);
    const contracts = createCollection({ ...contractsCollection(view.live), gcTime: 1 });
    opened.push(contracts);
    const [one, other] = [contracts.subscribeChanges(() => undefined), contracts.subscribeChanges(() => undefined)];
    one.unsubscribe();
    expect(view.subscriptions).toBe(1);
    other.unsubscribe();
    await until(() => view.subscriptions === 0);
    expect(contracts.status).toBe('cleaned-up');
  });

  it('refuses changes that are not of the ledger', () => {
    const { view, contracts } = collect();
    view.reset([contract('x')]);
    expect(() => contracts.delete('x')).toThrow();
    expect(() => contracts.insert(contract('y'))).toThrow();
  });
});
