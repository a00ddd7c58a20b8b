import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import type { Reassignment } from '../../src/codecs/Reassignment.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { AnyContract, ContractTypes } from '../../src/contracts/Contract.js';
import type { ContractsChanged } from '../../src/contracts/ContractChange.js';
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
import { contractHistories, contractsAt, entriesAt, offsetIn } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { checkFold, decodeEntry, decodeUpdate, statesOf } from '../helpers/foldLaw.js';

const [a, b, c] = ['sync-a::1220ab', 'sync-b::1220ab', 'sync-c::1220ab'] as const;
const aToB: Move = { source: a, target: b, reassignmentCounter: 1 };
const bToC: Move = { source: b, target: c, reassignmentCounter: 2 };
const red = (offset: number) => ({ contractId: 'red', offset });

/** Applies the arrival of contracts from another synchronizer, and the end of each of them. */
function passThrough(fold: ContractsFold<AnyContract>, count: number): void {
  const arrival = decodeUpdate(reassignmentOf(1, b, [assigned({ contractId: 'marble', offset: 1 }, aToB)]));
  const end = decodeUpdate(transactionOf(2, b, [archived('marble', 2)]));
  const withIds = <U extends Reassignment | Transaction>(update: U, contractId: string): U => ({
    ...update,
    events: update.events.map((event) =>
      event._tag === 'AssignedEvent'
        ? { ...event, createdEvent: { ...event.createdEvent, contractId } }
        : { ...event, contractId },
    ),
  });
  for (let n = 0; n < count; n += 1) for (const update of [arrival, end]) fold.apply(withIds(update, `marble-${n}`));
}

describe('ContractsFold: the law', () => {
  it('has the contracts of a full replay, from any snapshot on, after each update (G28)', () => {
    fc.assert(
      fc.property(contractHistories(), fc.nat(), (history, place) => {
        checkFold(new ContractsFold(makeContract()), history, offsetIn(history, place));
      }),
      { numRuns: effort(300, 5000) },
    );
  });

  it('has the same contracts whatever the order of the entries of a snapshot, and whichever come twice (pitfall 13)', () => {
    const snapshots = fc
      .tuple(contractHistories(), fc.nat())
      .map(([history, place]) => ({ history, offset: offsetIn(history, place) }))
      .chain(({ history, offset }) => {
        const entries = entriesAt(history, offset);
        return fc.record({
          expected: fc.constant(contractsAt(history, offset)),
          entries: fc.shuffledSubarray([...entries, ...entries], { minLength: entries.length * 2 }),
        });
      });
    fc.assert(
      fc.property(snapshots, ({ expected, entries }) => {
        const fold = new ContractsFold(makeContract());
        for (const entry of entries) fold.load([decodeEntry(entry)]);
        fold.settle();
        expect(statesOf(fold.contracts)).toEqual(expected);
      }),
      { numRuns: effort(200, 3000) },
    );
  });

  it('is tested with histories that have contracts in two places, contracts in flight, and ghosts', () => {
    const samples = fc.sample(fc.tuple(contractHistories(), fc.nat()), { numRuns: 300, seed: 16 });
    const snapshots = samples.map(([history, place]) => {
      const offset = offsetIn(history, place);
      const shown = contractsAt(history, offset);
      const tags = entriesAt(history, offset)
        .map(decodeEntry)
        .flatMap((entry) => {
          const isGhost = entry._tag === 'ActiveContract' && !shown.has(entry.createdEvent.contractId);
          return isGhost ? [entry._tag, 'Ghost'] : [entry._tag];
        });
      return new Set<string>(tags);
    });
    const countOf = (tag: string): number => snapshots.filter((tags) => tags.has(tag)).length;
    expect(countOf('IncompleteAssigned')).toBeGreaterThan(50);
    expect(countOf('IncompleteUnassigned')).toBeGreaterThan(50);
    expect(countOf('Ghost')).toBeGreaterThan(5);
  });
});

const ghost = [active(red(1), a), incompleteAssigned(red(2), aToB)];
const stay: Move = { source: a, target: a, reassignmentCounter: 3 };
const leaves = (offset: number, reassignmentCounter = 1): object =>
  reassignmentOf(offset, a, [unassigned('red', offset, { ...aToB, reassignmentCounter })]);
const arrives = (offset: number, synchronizerId: string, move: Move): object =>
  reassignmentOf(offset, synchronizerId, [assigned(red(offset), move)]);
const arrival = arrives(3, b, aToB);
const isArchivedOn = (offset: number, synchronizerId: string): object =>
  transactionOf(offset, synchronizerId, [archived('red', offset)]);
const isCreatedOn = (offset: number, synchronizerId: string): object =>
  transactionOf(offset, synchronizerId, [created(red(offset))]);

describe('ContractsFold', () => {
  // the law has every order in which synchronizers can be seen; these are repairs, and what the law does not look at
  it.each<[string, given: readonly object[], updates: readonly object[], changes: readonly (string | undefined)[]]>([
    [
      'keeps nothing of a ghost that its unassignment has drained (pitfall 18)',
      ghost,
      [leaves(4), isCreatedOn(5, c)],
      [undefined, '+red c 0'],
    ],
    ['shows what a repair creates where a ghost was spent', ghost, [isCreatedOn(4, b)], ['+red b 0']],
    [
      'moves a contract with its places and counters',
      [active(red(1), a)],
      [leaves(2), arrival],
      ['~red a → a>b 1', '~red a>b → b 1'],
    ],
    [
      'takes a creation on the synchronizer that archived the contract, even while other halves are to come',
      [],
      [arrival, isArchivedOn(4, b), isCreatedOn(5, b)],
      ['+red b 1', '-red b 1', '+red b 0'],
    ],
    [
      'removes a contract that is archived on another synchronizer than where it is',
      [active(red(1), a)],
      [isArchivedOn(2, b), isCreatedOn(3, c)],
      ['-red a 0', '+red c 0'],
    ],
    [
      'removes a contract that is archived where it was, although it is in two places',
      [active(red(1), a), active(red(2), b, 1), incompleteAssigned(red(2), aToB)],
      [isArchivedOn(3, a)],
      ['-red b 1'],
    ],
    [
      'removes a contract that is archived in flight, and does not revive it when it is assigned',
      [incompleteUnassigned(red(1), 2, aToB)],
      [isArchivedOn(3, a), arrival],
      ['-red a>b 1', undefined],
    ],
    [
      'ignores the unassignment of a contract that it does not have',
      [],
      [arrives(1, c, { ...bToC, reassignmentCounter: 7 }), leaves(4, 9), isArchivedOn(5, c)],
      ['+red c 7', undefined, '-red c 7'],
    ],
    [
      'takes a creation with counter 0 after reassignments (pitfall 26)',
      [active(red(1), a, 3)],
      [isArchivedOn(2, a), isCreatedOn(3, a), leaves(4)],
      ['-red a 3', '+red a 0', '~red a → a>b 1'],
    ],
    [
      'takes a creation with counter 0 in place of an activation that nobody ended (pitfall 26)',
      [active(red(1), a, 3)],
      [isCreatedOn(3, a)],
      ['~red a → a 0'],
    ],
    [
      'forgets the other places of a contract for a creation with counter 0, which is a repair (pitfall 26)',
      [active(red(1), a, 3), active(red(2), b, 4)],
      [isCreatedOn(3, a), isArchivedOn(4, a)],
      ['~red b → a 0', '-red a 0'],
    ],
    [
      'does not emit a contract that arrives again with another replicated party (pitfall 22)',
      [active(red(1), a, 3)],
      [arrives(2, a, stay)],
      [undefined],
    ],
    [
      'does not emit a contract that is created and archived in one transaction (pitfall 27)',
      [],
      [transactionOf(2, a, [created(red(2)), archived('red', 2, 1)])],
      [undefined],
    ],
    ['emits nothing for a transaction without events', [active(red(1), a)], [transactionOf(2, a, [])], [undefined]],
    [
      'removes a contract whose archive has another package id (pitfall 28)',
      [active(red(1), a)],
      [transactionOf(2, a, [archived('red', 2, 0, '1220dddd')])],
      ['-red a 0'],
    ],
    [
      'ignores kinds of entries that it does not know (pitfall 14)',
      [{ contractEntry: { JsEmpty: {} } }, active(red(1), a)],
      [isArchivedOn(2, a)],
      ['-red a 0'],
    ],
  ])('%s', (_, given, updates, changes) => {
    const fold = loaded(...given);
    expect(updates.map((update) => apply(fold, update))).toEqual(changes);
  });

  it('has the offset of the last activation of a contract', () => {
    const fold = loaded(active(red(1), a));
    const offset = (): number | undefined => fold.contracts.get('red')?.offset;
    apply(fold, leaves(2));
    expect(offset()).toBe(1);
    apply(fold, arrival);
    expect(offset()).toBe(3);
  });

  it('adds and removes a thousand contracts that come and go with a replicated party (pitfall 22)', () => {
    const fold = loaded(active(red(1), a));
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

  it('does not remember every contract that came from a synchronizer which the participant does not see', () => {
    const fold = loaded();
    passThrough(fold, 100_001);
    expect(fold.contracts.size).toBe(0);
    const isUnknown = (n: number): boolean => {
      fold.apply(decodeUpdate(reassignmentOf(3, a, [unassigned(`marble-${n}`, 3, aToB)])));
      return fold.lacked.length > 0;
    };
    expect([0, 1, 100_000].map(isUnknown)).toEqual([true, false, false]);
  });

  it('shows none of any number of archived contracts again when the synchronizer from which they came is late', () => {
    const fold = loaded(active(red(1), a));
    passThrough(fold, 100_001);
    const contractId = 'marble-0';
    fold.apply(decodeUpdate(transactionOf(3, a, [created({ contractId, offset: 3 })])));
    fold.apply(decodeUpdate(reassignmentOf(4, a, [unassigned(contractId, 4, aToB)])));
    expect([...fold.contracts].map((contract) => contract.contractId)).toEqual(['red']);
    expect(fold.lacked).toEqual([]);
  });

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

  it('removes a contract that does not decode when it is archived (pitfall 39) (G32)', () => {
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
    expect(apply(fold, arrives(last, b, { ...aToB, reassignmentCounter: last }))).toBe(`~red a → b ${last}`);
    const rounded = active(red(1), a, 2 ** 53);
    expect(() => decodeEntry(rounded)).toThrow('reassignmentCounter');
  });

  it('ignores entries and events of foreign templates (pitfall 24) (G29)', () => {
    const fold = new ContractsFold(makeContract(marbles));
    const egg = { contractId: 'egg', offset: 2, templateId: '1220cc:Eggs:Egg', packageName: 'eggs' };
    const entries = [active(egg, a), incompleteUnassigned(egg, 2, aToB), incompleteAssigned(egg, aToB)];
    fold.load(entries.map(decodeEntry));
    fold.settle();
    expect(fold.contracts.size).toBe(0);
    expect(apply(fold, reassignmentOf(2, b, [assigned(egg, aToB), assigned(red(2), aToB)]))).toBe('+red b 1');
    const unassignments = [unassigned('egg', 3, bToC), unassigned('red', 3, bToC)];
    expect(apply(fold, reassignmentOf(3, b, unassignments))).toBe('~red b → b>c 2');
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
