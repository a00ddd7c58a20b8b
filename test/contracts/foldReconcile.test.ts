import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AnyContract, MakeContract } from '../../src/contracts/Contract.js';
import { makeContract } from '../../src/contracts/Contract.js';
import { isDifference } from '../../src/contracts/ContractChange.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { active, type Activation, unassigned, reassignmentOf } from '../helpers/contractEvents.js';
import { contractHistories, contractsAt, entriesAt, offsetIn } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { decodeEntry, decodeUpdate, statesOf } from '../helpers/foldLaw.js';

const loaded = (elements: readonly object[], make: MakeContract = makeContract()): ContractsFold<AnyContract> => {
  const fold = new ContractsFold(make);
  fold.load(elements.map(decodeEntry));
  fold.settle();
  return fold;
};

describe('a fold that takes the contracts of another one at its offset', () => {
  it('has what was missing, keeps all else as it is, and goes on as if nothing had been missing (G28)', () => {
    const ids = fc.uniqueArray(fc.nat(7), { maxLength: 4 });
    fc.assert(
      fc.property(contractHistories(), fc.nat(), fc.nat(), ids, (history, one, other, hiddenContracts) => {
        const [start = 0, end = 0] = [offsetIn(history, one), offsetIn(history, other)].sort((a, b) => a - b);
        const all = [...new Set(history.flatMap(({ events }) => events.map(({ contractId }) => contractId)))];
        const hidden = new Set(hiddenContracts.map((index) => all[index]));
        const make = makeContract();
        let isUploaded = false;
        const fold = loaded(entriesAt(history, start), (created, location, counter) =>
          !isUploaded && hidden.has(created.contractId) ? undefined : make(created, location, counter),
        );
        for (const { offset, element } of history)
          if (offset > start && offset <= end) fold.apply(decodeUpdate(element));
        const before = fold.contracts;
        isUploaded = true;
        const difference = fold.reconcile(loaded(entriesAt(history, end)));
        expect(difference.removed).toEqual([]);
        expect(difference.moved).toEqual([]);
        expect(difference.added.every(({ contractId }) => hidden.has(contractId))).toBe(true);
        for (const contract of before) expect(fold.contracts.get(contract.contractId)).toBe(contract);
        expect(statesOf(fold.contracts)).toEqual(contractsAt(history, end));
        for (const { offset, element } of history.filter((update) => update.offset > end)) {
          const changed = fold.apply(decodeUpdate(element));
          for (const { contract, from } of changed?.moved ?? []) expect(contract.location).not.toEqual(from);
          expect(statesOf(fold.contracts)).toEqual(contractsAt(history, offset));
        }
      }),
      { numRuns: effort(200, 3_000) },
    );
  });

  const red = (more: object = {}): Activation => ({ contractId: 'red', offset: 1, ...more });
  const on = (activation: Activation, counter = 0): object => active(activation, 'a', counter);

  it.each<[string, readonly object[], readonly object[], object]>([
    ['that is there no more', [on(red())], [], { removed: [{ contractId: 'red' }] }],
    ['that was moved', [on(red())], [on(red(), 2)], { moved: [{ contract: { reassignmentCounter: 2 } }] }],
    [
      'that has a view now',
      [on(red())],
      [on(red({ interfaceViews: [{ interfaceId: 'i:I:I', viewStatus: { code: 0 }, viewValue: {} }] }))],
      { moved: [{ from: { synchronizerId: 'a' }, contract: { createdEvent: { interfaceViews: [{}] } } }] },
    ],
    [
      'that has a blob now',
      [on(red())],
      [on(red({ createdEventBlob: 'YQ==' }))],
      { moved: [{ contract: { createdEvent: { createdEventBlob: 'YQ==' } } }] },
    ],
    [
      'whose arguments are rendered in another way',
      [on(red({ createArgument: { a: [1, null] } }))],
      [on(red({ createArgument: { a: [1, 2] } }))],
      { moved: [{ contract: { createdEvent: { createArgument: { a: [1, 2] } } } }] },
    ],
  ])('says which contract differs: one %s', (_, before, now, expected) => {
    const fold = loaded(before);
    expect(fold.reconcile(loaded(now))).toMatchObject(expected);
    expect(statesOf(fold.contracts)).toEqual(statesOf(loaded(now).contracts));
  });

  it.each([
    ['other witnesses', { witnessParties: [] }],
    ['keys in another order', { createArgument: { b: 2, a: 1 } }],
    ['an empty blob in place of none', { createdEventBlob: undefined }],
  ])('finds no difference in %s', (_, more) => {
    const fold = loaded([on(red({ createArgument: { a: 1, b: 2 } }))]);
    const before = fold.contracts;
    const now = loaded([on(red({ createArgument: { a: 1, b: 2 }, ...more }))]);
    expect(isDifference(fold.reconcile(now))).toBe(false);
    expect(fold.contracts).toBe(before);
  });
});

describe('a snapshot of 3.3', () => {
  const divulged = { contractId: 'x', offset: 1, witnessParties: ['bob'], observers: ['eve'] };

  it('has no contract that was only divulged to the parties, as the feed has not', () => {
    expect(loaded([active({ ...divulged, acsDelta: undefined }, 'a')]).contracts.size).toBe(0);
    expect(loaded([active({ ...divulged, acsDelta: undefined, observers: ['bob'] }, 'a')]).contracts.size).toBe(1);
    expect(loaded([active({ ...divulged, acsDelta: undefined, witnessParties: [] }, 'a')]).contracts.size).toBe(1);
  });

  it('has each contract of a later release, which sends those of stakeholders only', () => {
    expect(loaded([active({ ...divulged, acsDelta: true }, 'a')]).contracts.size).toBe(1);
  });
});

describe('an update that moves a contract which is not there', () => {
  it('is lacked once it is applied, until the next one', () => {
    const fold = loaded([]);
    const move = { source: 'a', target: 'b', reassignmentCounter: 1 };
    fold.apply(decodeUpdate(reassignmentOf(3, 'a', [unassigned('red', 3, move)])));
    expect(fold.lacked).toMatchObject([{ contractId: 'red' }]);
    fold.apply(decodeUpdate(reassignmentOf(4, 'a', [])));
    expect(fold.lacked).toEqual([]);
  });
});
