import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { contractType } from '../../src/codecs/ContractType.js';
import type { AnyContract, ContractTypes } from '../../src/contracts/Contract.js';
import type { ContractsChanged } from '../../src/contracts/ContractChange.js';
import { updateFormatOf } from '../../src/contracts/ContractQuery.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { makeContract } from '../../src/contracts/Contract.js';
import {
  active,
  archived,
  assigned,
  created,
  exercised,
  incompleteAssigned,
  incompleteUnassigned,
  marble,
  type Move,
  reassignmentOf,
  transactionOf,
  unassigned,
} from '../helpers/contractEvents.js';
import { decodeEntry, decodeUpdate } from '../helpers/foldLaw.js';

const [a, b, c] = ['sync-a::1220ab', 'sync-b::1220ab', 'sync-c::1220ab'] as const;
const aToB: Move = { source: a, target: b, reassignmentCounter: 1 };
const bToC: Move = { source: b, target: c, reassignmentCounter: 2 };
const red = (offset: number): { readonly contractId: string; readonly offset: number } => ({
  contractId: 'red',
  offset,
});

describe('ContractsFold: the snapshot', () => {
  it('has a contract that is active on both synchronizers once, at the target (pitfall 16)', () => {
    const fold = loaded(active(red(1), a), active(red(2), b, 1), incompleteAssigned(red(2), aToB));
    expect(placesOf(fold)).toEqual({ red: 'b 1' });
    expect(fold.contracts.get('red')?.offset).toBe(2);
  });

  it('hides a ghost, which drains with its unassignment (pitfall 18)', () => {
    const fold = loaded(active(red(1), a), incompleteAssigned(red(2), aToB));
    expect(fold.contracts.size).toBe(0);
    expect(apply(fold, reassignmentOf(4, a, [unassigned('red', 4, aToB)]))).toBeUndefined();
    // nothing is kept: an import is an addition, on any synchronizer
    expect(apply(fold, transactionOf(5, c, [created(red(5))]))).toBe('+red c 0');
  });

  it('shows what a repair creates on the synchronizer on which a ghost was spent', () => {
    const fold = loaded(active(red(1), a), incompleteAssigned(red(2), aToB));
    expect(apply(fold, transactionOf(4, b, [created(red(4))]))).toBe('+red b 0');
  });

  it('has a contract in flight, which is moved when it is assigned (pitfall 19)', () => {
    const fold = loaded(incompleteUnassigned(red(1), 2, aToB));
    expect(placesOf(fold)).toEqual({ red: 'a>b 1' });
    expect(apply(fold, reassignmentOf(5, b, [assigned(red(5), aToB)]))).toBe('~red a>b → b 1');
  });

  it('has a contract in flight from a synchronizer to which its assignment is not yet matched', () => {
    const fold = loaded(active(red(1), a), incompleteAssigned(red(2), aToB), incompleteUnassigned(red(2), 3, bToC));
    expect(placesOf(fold)).toEqual({ red: 'b>c 2' });
  });

  it('ignores kinds of entries that it does not know (pitfall 14)', () => {
    expect(placesOf(loaded({ contractEntry: { JsEmpty: {} } }, active(red(1), a)))).toEqual({ red: 'a 0' });
  });

  it('ignores entries of foreign templates', () => {
    const foreign = { contractId: 'egg', offset: 1, templateId: '1220cc:Eggs:Egg', packageName: 'eggs' };
    const fold = new ContractsFold(makeContract(marbles));
    const entries = [active(foreign, a), incompleteUnassigned(foreign, 2, aToB), incompleteAssigned(foreign, aToB)];
    fold.load(entries.map(decodeEntry));
    fold.settle();
    expect(fold.contracts.size).toBe(0);
  });
});

describe('ContractsFold: reassignments', () => {
  it('moves a contract: in flight, then assigned', () => {
    const fold = loaded(active(red(1), a));
    expect(apply(fold, reassignmentOf(2, a, [unassigned('red', 2, aToB)]))).toBe('~red a → a>b 1');
    expect(fold.contracts.get('red')?.offset).toBe(1);
    expect(apply(fold, reassignmentOf(3, b, [assigned(red(3), aToB)]))).toBe('~red a>b → b 1');
    expect(fold.contracts.get('red')?.offset).toBe(3);
  });

  it('leaves a contract at the target when its unassignment is late (pitfall 17)', () => {
    const fold = loaded(active(red(1), a));
    expect(apply(fold, reassignmentOf(2, b, [assigned(red(2), aToB)]))).toBe('~red a → b 1');
    expect(apply(fold, reassignmentOf(3, a, [unassigned('red', 3, aToB)]))).toBeUndefined();
    expect(placesOf(fold)).toEqual({ red: 'b 1' });
  });

  it('adds a contract that is assigned without having been created (pitfall 20)', () => {
    const fold = loaded();
    expect(apply(fold, reassignmentOf(2, b, [assigned(red(2), aToB)]))).toBe('+red b 1');
  });

  it('does not revive a contract that was archived on the target before its unassignment was seen (pitfall 21)', () => {
    const fold = loaded(active(red(1), a));
    apply(fold, reassignmentOf(2, b, [assigned(red(2), aToB)]));
    expect(apply(fold, transactionOf(3, b, [archived('red', 3)]))).toBe('-red b 1');
    expect(apply(fold, reassignmentOf(4, a, [unassigned('red', 4, aToB)]))).toBeUndefined();
    expect(fold.contracts.size).toBe(0);
  });

  it('does not revive a contract by the creation or the assignment of slower synchronizers (pitfall 21)', () => {
    const fold = loaded();
    expect(apply(fold, reassignmentOf(1, c, [assigned(red(1), bToC)]))).toBe('+red c 2');
    expect(apply(fold, transactionOf(2, c, [archived('red', 2)]))).toBe('-red c 2');
    expect(apply(fold, transactionOf(3, a, [created(red(3))]))).toBeUndefined();
    expect(apply(fold, reassignmentOf(4, a, [unassigned('red', 4, aToB)]))).toBeUndefined();
    expect(apply(fold, reassignmentOf(5, b, [assigned(red(5), aToB)]))).toBeUndefined();
    expect(apply(fold, reassignmentOf(6, b, [unassigned('red', 6, bToC)]))).toBeUndefined();
    // all halves have met: nothing is kept
    expect(apply(fold, transactionOf(7, a, [created(red(7))]))).toBe('+red a 0');
  });

  it('adds and removes a thousand contracts that come and go with a replicated party (pitfall 22)', () => {
    const fold = loaded(active(red(1), a));
    const stay: Move = { source: a, target: a, reassignmentCounter: 3 };
    const ids = Array.from({ length: 1000 }, (_, index) => `marble-${index}`);
    const arrivals = ids.map((contractId, nodeId) => assigned({ contractId, offset: 2, nodeId }, stay));
    const arrived = fold.apply(decodeUpdate(reassignmentOf(2, a, arrivals)));
    expect(arrived?.added.map(({ contractId }) => contractId)).toEqual(ids);
    expect(fold.contracts.size).toBe(1001);
    // nothing waits for another half
    expect(apply(fold, transactionOf(3, a, [archived('marble-0', 3)]))).toBe('-marble-0 a 3');
    expect(apply(fold, transactionOf(4, b, [created({ contractId: 'marble-0', offset: 4 })]))).toBe('+marble-0 b 0');
    const mixed = [unassigned('red', 5, { ...stay, reassignmentCounter: 0 }), unassigned('marble-1', 5, stay)];
    expect(apply(fold, reassignmentOf(5, a, [...mixed, assigned({ contractId: 'green', offset: 5 }, stay)]))).toBe(
      '+green a 3, -red a 0, -marble-1 a 3',
    );
  });

  it('does not emit a contract that arrives again with another replicated party (pitfall 22)', () => {
    const fold = loaded(active(red(1), a, 3));
    const before = fold.contracts.get('red');
    const stay: Move = { source: a, target: a, reassignmentCounter: 3 };
    expect(apply(fold, reassignmentOf(2, a, [assigned(red(2), stay)]))).toBeUndefined();
    expect(fold.contracts.get('red')).toBe(before);
  });

  it('keeps a contract in flight that moved to where its party is not hosted (pitfall 23)', () => {
    const fold = loaded(active(red(1), a));
    apply(fold, reassignmentOf(2, a, [unassigned('red', 2, aToB)]));
    for (let offset = 3; offset < 20; offset += 1) {
      const contractId = `marble-${offset}`;
      apply(fold, transactionOf(offset, a, [created({ contractId, offset })]));
    }
    expect(placesOf(fold)['red']).toBe('a>b 1');
    // it comes back
    const back: Move = { source: b, target: a, reassignmentCounter: 2 };
    expect(apply(fold, reassignmentOf(20, a, [assigned(red(20), back)]))).toBe('~red a>b → a 2');
    expect(apply(fold, transactionOf(21, a, [archived('red', 21)]))).toBe('-red a 2');
  });

  it('ignores the events of foreign templates in a batch (pitfall 24) (G29)', () => {
    const fold = new ContractsFold(makeContract(marbles));
    const egg = { contractId: 'egg', offset: 2, templateId: '1220cc:Eggs:Egg', packageName: 'eggs' };
    expect(apply(fold, reassignmentOf(2, b, [assigned(egg, aToB), assigned(red(2), aToB)]))).toBe('+red b 1');
    expect(apply(fold, reassignmentOf(3, b, [unassigned('egg', 3, bToC), unassigned('red', 3, bToC)]))).toBe(
      '~red b → b>c 2',
    );
    expect(apply(fold, reassignmentOf(4, c, [assigned({ ...egg, offset: 4 }, bToC)]))).toBeUndefined();
    expect(apply(fold, transactionOf(5, c, [archived('egg', 5)]))).toBeUndefined();
    expect(placesOf(fold)).toEqual({ red: 'b>c 2' });
  });

  it('ignores the unassignment of a contract that it does not have', () => {
    const fold = loaded();
    expect(apply(fold, reassignmentOf(2, a, [unassigned('red', 2, aToB)]))).toBeUndefined();
    expect(apply(fold, reassignmentOf(3, c, [assigned(red(3), { ...bToC, reassignmentCounter: 7 })]))).toBe('+red c 7');
    expect(
      apply(fold, reassignmentOf(4, a, [unassigned('red', 4, { ...aToB, reassignmentCounter: 9 })])),
    ).toBeUndefined();
    expect(placesOf(fold)).toEqual({ red: 'c 7' });
  });

  it('asks for reassignments with the format of transactions (pitfall 25)', () => {
    const eventFormat = { verbose: false };
    const format = updateFormatOf(eventFormat);
    expect(format.includeReassignments).toBe(eventFormat);
    expect(format.includeTransactions?.eventFormat).toBe(eventFormat);
  });
});

describe('ContractsFold: repairs', () => {
  it('takes a creation with counter 0 after reassignments (pitfall 26)', () => {
    const fold = loaded(active(red(1), a, 3));
    expect(apply(fold, transactionOf(2, a, [archived('red', 2)]))).toBe('-red a 3');
    expect(apply(fold, transactionOf(3, a, [created(red(3))]))).toBe('+red a 0');
    expect(apply(fold, reassignmentOf(4, a, [unassigned('red', 4, aToB)]))).toBe('~red a → a>b 1');
  });

  it('takes a creation with counter 0 in place of an activation that nobody ended (pitfall 26)', () => {
    const fold = loaded(active(red(1), a, 3));
    expect(apply(fold, transactionOf(3, a, [created(red(3))]))).toBe('~red a → a 0');
    expect(placesOf(fold)).toEqual({ red: 'a 0' });
  });

  it('takes a creation on the synchronizer that archived the contract, even while other halves are to come', () => {
    const fold = loaded();
    apply(fold, reassignmentOf(1, b, [assigned(red(1), aToB)]));
    expect(apply(fold, transactionOf(2, b, [archived('red', 2)]))).toBe('-red b 1');
    expect(apply(fold, transactionOf(3, b, [created(red(3))]))).toBe('+red b 0');
  });

  it('removes a contract that is archived on another synchronizer than where it is', () => {
    const fold = loaded(active(red(1), a));
    expect(apply(fold, transactionOf(2, b, [archived('red', 2)]))).toBe('-red a 0');
    expect(apply(fold, transactionOf(3, c, [created(red(3))]))).toBe('+red c 0');
  });

  it('removes a contract that is archived where it was, although it is in two places', () => {
    const fold = loaded(active(red(1), a), active(red(2), b, 1), incompleteAssigned(red(2), aToB));
    expect(apply(fold, transactionOf(3, a, [archived('red', 3)]))).toBe('-red b 1');
    expect(fold.contracts.size).toBe(0);
  });

  it('removes a contract that is archived in flight, and does not revive it when it is assigned', () => {
    const fold = loaded(incompleteUnassigned(red(1), 2, aToB));
    expect(apply(fold, transactionOf(3, a, [archived('red', 3)]))).toBe('-red a>b 1');
    expect(apply(fold, reassignmentOf(4, b, [assigned(red(4), aToB)]))).toBeUndefined();
  });
});

describe('ContractsFold: transactions', () => {
  it('emits what a transaction creates and archives as one change (pitfall 27)', () => {
    const fold = loaded(active(red(1), a));
    const green = created({ contractId: 'green', offset: 2, nodeId: 1 });
    const changed = fold.apply(decodeUpdate(transactionOf(2, a, [archived('red', 2), green])));
    expect(changed).toMatchObject({
      _tag: 'ContractsChanged',
      offset: 2,
      updateId: '12202',
      synchronizerId: a,
      recordTime: '2026-07-24T10:00:00Z',
      added: [{ contractId: 'green', payload: { size: 7 } }],
      removed: [{ contractId: 'red', offset: 1 }],
      moved: [],
    });
  });

  it('does not emit a contract that is created and archived in one transaction (pitfall 27)', () => {
    expect(apply(loaded(), transactionOf(2, a, [created(red(2)), archived('red', 2, 1)]))).toBeUndefined();
  });

  it('emits nothing for a transaction without events', () => {
    expect(apply(loaded(active(red(1), a)), transactionOf(2, a, []))).toBeUndefined();
  });

  it('removes a contract whose archive has another package id (pitfall 28)', () => {
    const fold = loaded(active(red(1), a));
    expect(apply(fold, transactionOf(2, a, [archived('red', 2, 0, '1220dddd')]))).toBe('-red a 0');
  });

  it('emits nothing for the archive of a contract that it does not have (pitfall 29)', () => {
    const fold = loaded(active(red(1), a));
    expect(apply(fold, transactionOf(2, a, [archived('green', 2)]))).toBeUndefined();
    expect(placesOf(fold)).toEqual({ red: 'a 0' });
  });

  it('takes consuming exercises for archives in LEDGER_EFFECTS, but not what the parties only witness (pitfall 33)', () => {
    const fold = loaded(active(red(1), a));
    const events = [
      created({ contractId: 'green', offset: 2, acsDelta: false }),
      exercised('red', 2, { consuming: true, acsDelta: false }),
      exercised('red', 2, { consuming: false, acsDelta: true }),
    ];
    expect(apply(fold, transactionOf(2, a, events))).toBe('');
    const consumed = exercised('red', 3, { consuming: true, acsDelta: true });
    expect(apply(fold, transactionOf(3, a, [consumed]))).toBe('-red a 0');
  });

  it('decides by stakeholders in the LEDGER_EFFECTS of 3.3, whose events have no acsDelta', () => {
    const [bob, carol] = ['bob::1220ab', 'carol::1220ab'];
    const of33 = (contractId: string, witnessParties: readonly string[], observers: readonly string[] = []): object =>
      created({ contractId, offset: 2, witnessParties, observers, acsDelta: undefined });
    const fold = loaded(active(red(1), a));
    const events = [
      of33('witnessed', [bob]),
      of33('unnamed', []),
      created({ contractId: 'unsigned', offset: 2, witnessParties: [bob], signatories: [], acsDelta: undefined }),
      of33('signed', [bob, 'alice::1220ab']),
      of33('observed', [bob], [carol, bob]),
      of33('transient', ['alice::1220ab']),
      exercised('transient', 2, { consuming: true, acsDelta: undefined }),
    ];
    expect(apply(fold, transactionOf(2, a, events))).toBe('+unnamed a 0, +unsigned a 0, +signed a 0, +observed a 0');
    const consumed = exercised('red', 3, { consuming: true, acsDelta: undefined });
    expect(apply(fold, transactionOf(3, a, [consumed]))).toBe('-red a 0');
  });

  it('removes a contract that does not decode when it is archived (pitfall 39)', () => {
    const fold = new ContractsFold(makeContract(marbles));
    apply(fold, transactionOf(1, a, [created({ ...red(1), createArgument: { color: 5 } })]));
    const changed = fold.apply(decodeUpdate(transactionOf(2, a, [archived('red', 2)])));
    expect(changed?.removed).toMatchObject([{ _tag: 'UndecodedContract', argument: { color: 5 } }]);
    expect(fold.contracts.size).toBe(0);
  });

  it('changes nothing if a contract cannot be made, and can apply the update again (pitfall 49)', () => {
    let isBroken = true;
    const make = makeContract();
    const fold = new ContractsFold((...args) => {
      if (isBroken && args[0].contractId === 'green') throw new Error('broken');
      return make(...args);
    });
    fold.load([decodeEntry(active(red(1), a))]);
    const update = transactionOf(2, a, [archived('red', 2), created({ contractId: 'green', offset: 2 })]);
    expect(() => apply(fold, update)).toThrow('broken');
    expect(placesOf(fold)).toEqual({ red: 'a 0' });
    isBroken = false;
    expect(apply(fold, update)).toBe('+green a 0, -red a 0');
  });

  it('knows counters up to 2^53 - 1 (pitfall 44)', () => {
    const last = Number.MAX_SAFE_INTEGER;
    const fold = loaded(active(red(1), a, last - 1));
    const move: Move = { source: a, target: b, reassignmentCounter: last };
    expect(apply(fold, reassignmentOf(last, b, [assigned(red(last), move)]))).toBe(`~red a → b ${last}`);
    const rounded = active(red(1), a, 2 ** 53);
    expect(() => decodeEntry(rounded)).toThrow('reassignmentCounter');
  });
});

const marbles: ContractTypes = { marble: contractType(marble, t.type({ color: t.string })) };

function loaded(...elements: readonly object[]): ContractsFold<AnyContract> {
  const fold = new ContractsFold(makeContract());
  fold.load(elements.map(decodeEntry));
  fold.settle();
  return fold;
}

/** Applies an update; its change as `+red a 0, -green b 1, ~blue a → b 1`, or `undefined`. */
function apply(fold: ContractsFold<AnyContract>, element: object): string | undefined {
  const changed = fold.apply(decodeUpdate(element));
  return changed && textOf(changed);
}

const textOf = ({ added, removed, moved }: ContractsChanged): string =>
  [
    ...added.map((contract) => `+${contract.contractId} ${placeOf(contract)}`),
    ...removed.map((contract) => `-${contract.contractId} ${placeOf(contract)}`),
    ...moved.map(({ contract, from }) => `~${contract.contractId} ${locationOf(from)} → ${placeOf(contract)}`),
  ].join(', ');

const placesOf = ({ contracts }: ContractsFold<AnyContract>): Readonly<Record<string, string>> =>
  Object.fromEntries([...contracts].map((contract) => [contract.contractId, placeOf(contract)]));

const placeOf = ({ location, reassignmentCounter }: AnyContract): string =>
  `${locationOf(location)} ${reassignmentCounter}`;

const locationOf = (location: AnyContract['location']): string =>
  'inFlight' in location
    ? `${shortOf(location.inFlight.source)}>${shortOf(location.inFlight.target)}`
    : shortOf(location.synchronizerId);

const shortOf = (synchronizerId: string): string => synchronizerId.replace(/^sync-(.).*/, '$1');
