import { describe, expect, it } from '@jest/globals';
import { BehaviorSubject, map, NEVER, Observable, Subject } from 'rxjs';
import type { TransactionEvent } from '../../../src/codecs/Event.js';
import type { ReassignmentEvent } from '../../../src/codecs/Reassignment.js';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractsBatch, ContractsChanged, Reset } from '../../../src/contracts/ContractChange.js';
import { ContractList } from '../../../src/contracts/ContractSet.js';
import { conflate } from '../../../src/contracts/conflate.js';
import { contractsFor } from '../../../src/contracts/contractsFor.js';
import { type LiveContracts, toLiveContracts } from '../../../src/contracts/liveContracts.js';
import { loading, type View } from '../../../src/contracts/LiveState.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { brief, briefState, ids } from '../brief.js';

const [alice, bob, carol] = ['alice::1220ab', 'bob::1220cd', 'carol::1220ef'] as const;
const open = { status: 'open' } as const;
const recordTime = '2026-07-24T10:00:00Z';

/** A contract whose first party has signed it. The parties for which it was read witness it. */
function contract(contractId: string, parties: readonly string[], witnessParties = parties): AnyContract {
  const [signatory = '', ...observers] = parties;
  const stakeholders = { signatories: [signatory], observers };
  const createdEvent = { _tag: 'CreatedEvent', contractId, ...stakeholders, witnessParties, acsDelta: true };
  const facts = { contractId, location: { synchronizerId: 'a' }, reassignmentCounter: 0, offset: 1, ...stakeholders };
  const made = { _tag: 'Contract', type: 'task', payload: `secret of ${contractId}`, ...facts, createdEvent };
  return made as unknown as AnyContract;
}

/** A live view of the contracts of Alice, Bob and Carol, to which things happen when the test says so. */
class Script {
  private readonly view$ = new BehaviorSubject<View<AnyContract>>(loading);
  subscriptions = 0;
  readonly live: LiveContracts = toLiveContracts(
    new Observable<View<AnyContract>>((subscriber) => {
      this.subscriptions += 1;
      const subscription = this.view$.subscribe(subscriber);
      return () => {
        this.subscriptions -= 1;
        subscription.unsubscribe();
      };
    }),
    [alice, bob, carol],
  );
  private list = new ContractList<AnyContract>();
  offset = 0;

  reset(...contracts: readonly AnyContract[]): void {
    this.list = new ContractList();
    for (const each of contracts) this.list.set(each.contractId, each);
    this.offset += 1;
    const reason = this.view$.value.known === undefined ? 'start' : 'pruned';
    this.step({ _tag: 'Reset', reason, offset: this.offset, contracts: this.list.snapshot.toArray() });
  }

  change(
    { add = [], remove = [] }: { readonly add?: readonly AnyContract[]; readonly remove?: readonly string[] },
    events: readonly (TransactionEvent | ReassignmentEvent)[] = [],
  ): void {
    this.offset += 1;
    const removed = remove.flatMap((id) => this.list.get(id) ?? []);
    for (const id of remove) this.list.set(id, undefined);
    for (const each of add) this.list.set(each.contractId, each);
    const facts = { offset: this.offset, updateId: `u${this.offset}`, recordTime, synchronizerId: 'a' };
    const own = { commandId: 'pay-the-ransom', paidTrafficCost: 7 };
    const update = { _tag: 'Transaction', ...facts, ...own, effectiveAt: recordTime, events };
    this.step({ _tag: 'ContractsChanged', ...facts, update, added: add, removed, moved: [] } as ContractsChanged);
  }

  checkpoint(hasTimes: boolean): void {
    this.offset += 1;
    const synchronizerTimes = hasTimes ? [{ synchronizerId: 'a', recordTime }] : [];
    this.step({ _tag: 'OffsetCheckpoint', offset: this.offset, synchronizerTimes });
  }

  /** One step in which contracts are shown to others, once after the other. */
  show(...contracts: readonly AnyContract[]): void {
    const changes = contracts.map((each): ContractsChanged => {
      this.list.set(each.contractId, each);
      const moved = [{ contract: each, from: each.location }];
      return {
        _tag: 'ContractsChanged',
        reason: 'selectionChanged',
        offset: this.offset,
        added: [],
        removed: [],
        moved,
      };
    });
    this.step(...changes);
  }

  /** One step in which all contracts are replaced several times. */
  resets(...reasons: readonly Reset['reason'][]): void {
    const contracts = this.list.snapshot.toArray();
    this.step(...reasons.map((reason): Reset => ({ _tag: 'Reset', reason, offset: (this.offset += 1), contracts })));
  }

  refuse(): void {
    this.view$.error(new Error('refused'));
  }

  private step(...items: ContractsBatch<AnyContract>['items']): void {
    const position = { offset: this.offset, recordTimes: {} };
    const origin = { before: position, isAddressed: true };
    const { snapshot: contracts } = this.list;
    const known = { items, position, origin, offset: this.offset, isCaughtUp: true, contracts };
    this.view$.next({ connection: open, isLive: true, known });
  }
}

const event = (fields: object): TransactionEvent & ReassignmentEvent => fields as TransactionEvent & ReassignmentEvent;
const briefs = ({ changes$ }: LiveContracts): Observable<string> => changes$.pipe(map(brief));

describe('contractsFor', () => {
  it('has the contracts of which the parties are stakeholders, and their changes, and nothing else (G80)', () => {
    const script = new Script();
    const view = contractsFor(script.live, [bob]);
    const [changes, states] = [observe(view.changes$), observe(view.state$)];
    const counts = observe(view.count$());
    script.reset(contract('ab', [alice, bob]), contract('a', [alice]), contract('bc', [bob, carol]));
    script.change({ add: [contract('secret', [alice, carol])], remove: ['a'] });
    script.change({ add: [contract('b', [bob]), contract('c', [carol])], remove: ['ab'] });
    script.change({ remove: ['c', 'secret'] });
    expect(changes.values.map(brief)).toEqual(['Reset 1 start ab,bc', 'CaughtUp 1', 'ContractsChanged 3 +b -ab']);
    expect(states.values.map(briefState)).toEqual(['loading/connecting', 'live/open 1 abbc', 'live/open 3 bcb']);
    expect(counts.values).toEqual([2]);
    const shown = JSON.stringify([changes.values, states.values]);
    for (const hidden of ['secret of a"', 'secret of c', 'secret of secret', '"a"]', 'u2', 'u4', 'ransom'])
      expect(shown).not.toContain(hidden);
  });

  it('shows a contract no more that one step has shown to its party and hidden again (G80)', () => {
    const script = new Script();
    const all = observe(contractsFor(script.live, [bob]).all$().pipe(map(ids)));
    const parties = [alice, bob];
    script.reset(contract('ab', parties, [alice]), contract('b', [bob]));
    script.show(contract('ab', parties), contract('ab', parties, [alice]));
    expect(all.values.at(-1)).toBe('b');
    script.show(contract('ab', parties, [alice]), contract('ab', parties));
    expect(all.values.at(-1)).toBe('bab');
    script.change({ remove: ['ab'] });
    expect(all.values.at(-1)).toBe('b');
    expect(observe(contractsFor(script.live, [bob]).all$().pipe(map(ids))).values).toEqual(['b']);
  });

  it('shows each subscriber the contracts of the last parties, if another one selects them at once (G80)', () => {
    const script = new Script();
    const parties$ = new BehaviorSubject<readonly string[]>([alice]);
    const view = contractsFor(script.live, parties$);
    const selecting = view.all$().subscribe((contracts) => {
      if (ids(contracts) === 'a') parties$.next([bob]);
    });
    const [all, changes] = [observe(view.all$().pipe(map(ids))), observe(view.changes$)];
    script.reset(contract('a', [alice]), contract('b', [bob]));
    expect(all.values).toEqual(['a', 'b']);
    const selected = 'ContractsChanged 1 selectionChanged +b -a';
    expect(changes.values.map(brief)).toEqual(['Reset 1 start a', 'CaughtUp 1', selected]);
    script.change({ add: [contract('bb', [bob])] });
    expect(all.values.at(-1)).toBe('bbb');
    selecting.unsubscribe();
  });

  it('names no other party as a witness, and not the submitter and the command of somebody else', () => {
    const script = new Script();
    const view = contractsFor(script.live, [bob]);
    const changes = observe(view.changes$);
    const ab = contract('ab', [alice, bob]);
    script.reset();
    script.change({ add: [ab] }, [event(ab.createdEvent), event(contract('a', [alice]).createdEvent)]);
    script.change({}, [
      event({ _tag: 'UnassignedEvent', contractId: 'ab', submitter: alice, witnessParties: [alice, bob] }),
      event({ _tag: 'AssignedEvent', submitter: bob, createdEvent: ab.createdEvent }),
    ]);
    script.change({ remove: ['ab'] }, [
      event({ _tag: 'ArchivedEvent', contractId: 'ab', witnessParties: [alice, bob] }),
      event({ _tag: 'UnknownEvent', value: 'secret' }),
    ]);
    const shown = changes.values.filter((change) => change._tag === 'ContractsChanged');
    expect(shown.map(brief)).toEqual(['ContractsChanged 2 +ab', 'ContractsChanged 4 -ab']);
    expect(shown[0]?.added).toMatchObject([{ signatories: [alice], createdEvent: { witnessParties: [bob] } }]);
    expect(shown[0]?.update?.events).toEqual([{ ...ab.createdEvent, witnessParties: [bob] }]);
    expect(shown[1]?.update?.events).toEqual([{ _tag: 'ArchivedEvent', contractId: 'ab', witnessParties: [bob] }]);
    expect(shown.every(({ update }) => update !== undefined && !('commandId' in update))).toBe(true);
    // the shared view keeps what it has
    expect(ab.createdEvent.witnessParties).toEqual([alice, bob]);
  });

  it('shows who reassigned a contract only if that is one of the parties', () => {
    const script = new Script();
    const ab = contract('ab', [alice, bob]);
    const submitters = [alice, bob].map((party) => {
      const changes = observe(contractsFor(script.live, [party]).changes$);
      return () => changes.values.at(-1);
    });
    script.reset(ab);
    script.change({ add: [contract('ab2', [alice, bob])] }, [
      event({ _tag: 'UnassignedEvent', contractId: 'ab', submitter: alice, witnessParties: [alice, bob] }),
    ]);
    expect(submitters.map((last) => last())).toMatchObject([
      { update: { events: [{ submitter: alice, witnessParties: [alice] }] } },
      { update: { events: [{ submitter: '', witnessParties: [bob] }] } },
    ]);
  });

  it('has the exercises that the parties witness, also of contracts that are not theirs', () => {
    const script = new Script();
    const [forAlice, forBob, forCarol] = [alice, bob, carol].map((party) =>
      observe(contractsFor(script.live, [party]).changes$),
    );
    script.reset(contract('a', [alice]));
    const exercised = { _tag: 'ExercisedEvent', contractId: 'a', consuming: true, acsDelta: true };
    script.change({ remove: ['a'] }, [event({ ...exercised, witnessParties: [alice, bob] })]);
    expect(forAlice?.values.slice(2)).toMatchObject([
      { removed: [{ contractId: 'a' }], update: { events: [{ acsDelta: true, witnessParties: [alice] }] } },
    ]);
    expect(forBob?.values.slice(2)).toMatchObject([
      { removed: [], update: { events: [{ acsDelta: false, witnessParties: [bob] }] } },
    ]);
    expect(forCarol?.values).toHaveLength(2);
  });

  it('changes in one step when the parties do, with what is different for the new ones', () => {
    const script = new Script();
    const parties$ = new BehaviorSubject<readonly string[]>([alice]);
    const view = contractsFor(script.live, parties$);
    const changes = observe(view.changes$);
    const all = observe(view.all$().pipe(map(ids)));
    script.reset(contract('a', [alice]), contract('b', [bob]), contract('ab', [alice, bob]), contract('c', [carol]));
    parties$.next([bob, alice]);
    parties$.next([alice, bob, alice]);
    parties$.next([bob, carol]);
    parties$.next([]);
    script.change({ add: [contract('d', [alice])] });
    expect(changes.values.map(brief)).toEqual([
      'Reset 1 start a,ab',
      'CaughtUp 1',
      'ContractsChanged 1 selectionChanged +b ~ab',
      'ContractsChanged 1 selectionChanged +c -a ~ab',
      'ContractsChanged 1 selectionChanged -ab,b,c',
    ]);
    expect(all.values).toEqual(['aab', 'aabb', 'abbc', '']);
    expect(changes.values[3]).toMatchObject({ moved: [{ contract: { createdEvent: { witnessParties: [bob] } } }] });
  });

  it('says that the parties have changed, also if they see the same', () => {
    const script = new Script();
    const parties$ = new BehaviorSubject<readonly string[]>([alice, bob]);
    const view = contractsFor(script.live, parties$);
    const [changes, all] = [observe(briefs(view)), observe(view.all$())];
    script.reset(contract('a', [alice]));
    parties$.next([bob, alice]);
    parties$.next([alice]);
    parties$.next([carol, alice]);
    expect(changes.values.slice(2)).toEqual(Array(2).fill('ContractsChanged 1 selectionChanged'));
    expect(all.values).toHaveLength(1);
  });

  it('says that a party is not read any more, also if none of its contracts is left (G80)', () => {
    const script = new Script();
    const parties$ = new BehaviorSubject<readonly string[]>([alice, bob]);
    const read = contractsFor(script.live, parties$);
    const [both, onlyAlice, waiting] = [[alice, bob], [alice], NEVER].map((parties) =>
      observe(briefs(contractsFor(read, parties))),
    );
    script.reset(contract('a', [alice]), contract('b', [bob]));
    script.change({ remove: ['b'] });
    parties$.next([carol, alice]);
    expect(both?.values.slice(2)).toEqual(['ContractsChanged 2 -b', 'ContractsChanged 2 selectionChanged']);
    expect(onlyAlice?.values.slice(2)).toEqual([]);
    expect(waiting?.values).toEqual([]);
    // of a server, it is not known which parties it reads
    const changes = observe(briefs(contractsFor(script.live, [alice])));
    script.show(contract('c', [carol]));
    expect(changes.values.slice(2)).toEqual(['ContractsChanged 2 selectionChanged']);
  });

  it('is loading until the parties and the contracts are known, in any order', () => {
    const script = new Script();
    const parties$ = new Subject<readonly string[]>();
    const late = observe(contractsFor(script.live, parties$).state$.pipe(map(briefState)));
    const early = observe(contractsFor(script.live, [alice]).state$.pipe(map(briefState)));
    script.reset(contract('a', [alice]));
    script.change({ add: [contract('aa', [alice])] });
    parties$.next([alice]);
    expect(early.values).toEqual(['loading/connecting', 'live/open 1 a', 'live/open 2 aaa']);
    expect(late.values).toEqual(['loading/connecting', 'loading/open', 'live/open 2 aaa']);
  });

  it('starts over with the shared view', () => {
    const script = new Script();
    const changes = observe(briefs(contractsFor(script.live, [alice])));
    script.reset(contract('a', [alice]));
    script.reset(contract('b', [bob]), contract('aa', [alice]));
    script.change({ remove: ['b', 'aa'] });
    expect(changes.values).toEqual(['Reset 1 start a', 'CaughtUp 1', 'Reset 2 pruned aa', 'ContractsChanged 3 -aa']);
  });

  it('says that the ledger is another one, also if another reset follows in the same step', () => {
    const script = new Script();
    const changes = observe(briefs(contractsFor(script.live, [alice])));
    script.reset(contract('a', [alice]));
    script.resets('ledgerReset', 'pruned');
    script.resets('pruned');
    script.resets('pruned', 'ledgerReset');
    expect(changes.values.slice(2)).toEqual(['Reset 3 ledgerReset a', 'Reset 4 pruned a', 'Reset 6 ledgerReset a']);
  });

  it('has what comes after a reset, also if a conflated view merges both (G80)', () => {
    runVirtually(() => {
      const script = new Script();
      const slow = conflate(script.live, 100);
      const all = observe(contractsFor(slow, [alice]).all$().pipe(map(ids)));
      script.reset(contract('a', [alice]));
      later(10, () => {
        script.reset(contract('b', [alice]), contract('c', [alice]));
        script.change({ add: [contract('d', [alice])], remove: ['b'] });
      });
      later(200, () => {
        expect(all.values).toEqual(['a', 'cd']);
        script.change({ remove: ['c'] });
      });
      later(400, () => {
        expect(all.values.at(-1)).toBe('d');
        all.subscription.unsubscribe();
      });
    });
  });

  it('emits nothing for a change that does not concern it, and has read up to it all the same', () => {
    const script = new Script();
    const view = contractsFor(script.live, [alice]);
    const views = observe(view.view$);
    const reached = observe(view.atOffset(2));
    script.reset(contract('a', [alice]));
    const { length } = views.values;
    script.change({ add: [contract('b', [bob])] });
    script.checkpoint(false);
    expect(views.values).toHaveLength(length);
    expect([reached.values, reached.completed]).toEqual([[2], true]);
    script.checkpoint(true);
    expect(views.values).toHaveLength(length + 1);
    expect(views.values.at(-1)?.known?.offset).toBe(4);
  });

  it('has a change before `atOffset` says so, and waits for the parties', () => {
    const script = new Script();
    const parties$ = new Subject<readonly string[]>();
    const view = contractsFor(script.live, parties$);
    const seen: string[] = [];
    view.all$().subscribe((all) => seen.push(ids(all)));
    view.atOffset(1).subscribe((offset) => seen.push(`at ${offset}`));
    script.reset(contract('a', [alice]));
    expect(seen).toEqual([]);
    parties$.next([alice]);
    expect(seen).toEqual(['a', 'at 1']);
    view.atOffset(2).subscribe((offset) => seen.push(`at ${offset}`));
    script.change({ add: [contract('b', [alice])] });
    expect(seen).toEqual(['a', 'at 1', 'ab', 'at 2']);
  });

  it('shares one reading of the view, while there are readers', () => {
    const script = new Script();
    script.reset(contract('a', [alice]), contract('b', [bob]));
    const readers = [alice, bob, alice].map((party) =>
      observe(contractsFor(script.live, [party]).all$().pipe(map(ids))),
    );
    expect(script.subscriptions).toBe(1);
    script.change({ add: [contract('ab', [alice, bob])] });
    readers.forEach(({ subscription }) => {
      subscription.unsubscribe();
    });
    expect(script.subscriptions).toBe(0);
    expect(readers.map(({ values }) => values)).toEqual([
      ['a', 'aab'],
      ['b', 'bab'],
      ['a', 'aab'],
    ]);
    expect(observe(contractsFor(script.live, [bob]).all$().pipe(map(ids))).values).toEqual(['bab']);
  });

  it('is right for a reader that comes, goes or gets other parties while another one is told', () => {
    const script = new Script();
    const parties$ = new BehaviorSubject<readonly string[]>([bob]);
    let inner: Observed<string> | undefined;
    const outer: string[] = [];
    contractsFor(script.live, [alice])
      .changes$.pipe(map(brief))
      .subscribe((change) => {
        outer.push(change);
        if (!change.includes('+x')) return;
        inner = observe(briefs(contractsFor(script.live, [alice, carol])));
        parties$.next([carol]);
      });
    const switched = observe(briefs(contractsFor(script.live, parties$)));
    script.reset(contract('c', [carol]));
    script.change({ add: [contract('x', [alice, bob, carol])] });
    script.change({ remove: ['x'] });
    expect(outer.slice(2)).toEqual(['ContractsChanged 2 +x', 'ContractsChanged 3 -x']);
    expect(inner?.values).toEqual(['Reset 2 start c,x', 'CaughtUp 2', 'ContractsChanged 3 -x']);
    expect(switched.values.slice(2)).toEqual([
      'ContractsChanged 2 +x',
      'ContractsChanged 2 selectionChanged +c ~x',
      'ContractsChanged 3 -x',
    ]);
  });

  it('ends with the errors of the shared view and of the parties, and can be read again', () => {
    const script = new Script();
    const parties$ = new Subject<readonly string[]>();
    const [one, other] = [contractsFor(script.live, [alice]), contractsFor(script.live, parties$)];
    const [seen, seenByOther] = [observe(one.all$()), observe(other.all$())];
    parties$.error(new Error('no longer signed in'));
    expect([seen.error, seenByOther.error]).toEqual([undefined, new Error('no longer signed in')]);
    script.refuse();
    expect(seen.error).toEqual(new Error('refused'));
    expect(script.subscriptions).toBe(0);
  });

  it('shows nothing for no parties', () => {
    const script = new Script();
    const changes = observe(briefs(contractsFor(script.live, [])));
    script.reset(contract('a', [alice]));
    script.change({ remove: ['a'] });
    expect(changes.values).toEqual(['Reset 1 start', 'CaughtUp 1']);
  });

  it('does not show contracts of a party for which they were not read', () => {
    const script = new Script();
    const any = { ...script.live, parties: 'any' } as const;
    const changes = observe(briefs(contractsFor(any, ['dan::1220ff'])));
    script.reset(contract('ad', [alice, 'dan::1220ff'], [alice]));
    expect(changes.values).toEqual(['Reset 1 start', 'CaughtUp 1']);
  });

  it('throws for what is no list of parties, and for a party that the view does not read', () => {
    const { live } = new Script();
    for (const parties of [alice, 'any', undefined, [1]])
      expect(() => contractsFor(live, parties as unknown as string[])).toThrow('parties must be a list of parties');
    expect(() => contractsFor(live, ['dan::1220ff'])).toThrow(
      new TypeError('The view does not read the contracts of dan::1220ff: add it to its parties.'),
    );
    expect(() => contractsFor(live, NEVER)).not.toThrow();
    const seen = observe(contractsFor(live, new BehaviorSubject(['dan::1220ff'])).state$);
    expect(seen.error).toBeInstanceOf(TypeError);
  });
});
