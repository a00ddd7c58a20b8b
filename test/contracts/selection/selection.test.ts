import { describe, expect, it } from '@jest/globals';
import { BehaviorSubject, concat, concatMap, NEVER, of, Subject, tap, throwError, timer } from 'rxjs';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import { contractChanges } from '../../../src/contracts/contractChanges.js';
import { contractsFor } from '../../../src/contracts/contractsFor.js';
import { liveContracts } from '../../../src/contracts/liveContracts.js';
import { shareContracts } from '../../../src/contracts/shareContracts.js';
import { effort } from '../../helpers/effort.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { alice, bob, carol, PartyWorld } from '../../helpers/PartyWorld.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { idsOf, told } from './told.js';

describe('the parties of a query that come and go (G82)', () => {
  it('change the contracts once, at the offset that was reached, and the changes go on', () => {
    const parties$ = new BehaviorSubject([alice]);
    const ledger = new PartyWorld('a1', 'b2', 'ab3', 'c4');
    let seen: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
      later(1_000, () => {
        parties$.next([alice, bob]);
      });
      later(5_000, () => {
        ledger.create('b5');
      });
      later(9_000, () => {
        parties$.next([bob]);
      });
      later(14_000, () => {
        ledger.archive('ab3');
        ledger.create('a6');
      });
      later(20_000, () => {
        changes.subscription.unsubscribe();
      });
    });
    expect(seen && told(seen)).toEqual([
      'start@4 a1 ab3',
      'selectionChanged@4 +b2 ~ab3',
      'update@5 +b5',
      'selectionChanged@5 -a1 ~ab3',
      'update@6 -ab3',
    ]);
    // each party is read once
    expect(ledger.snapshots).toEqual([[alice], [bob]]);
    expect(ledger.world.service.open).toBe(0);
  });

  it('are one change, also if no contract is different', () => {
    const parties$ = new BehaviorSubject([alice, bob]);
    const ledger = new PartyWorld('a1');
    let seen: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const changes = (seen = observe(liveContracts(ledger.client, { parties: parties$ }).changes$));
      later(2_000, () => {
        ledger.create('b2');
        ledger.archive('b2');
      });
      later(6_000, () => {
        parties$.next([alice]);
      });
      later(12_000, () => {
        ledger.create('a4');
      });
      later(18_000, () => {
        changes.subscription.unsubscribe();
      });
    });
    const expected = ['start@1 a1', 'update@2 +b2', 'update@3 -b2', 'selectionChanged@3 ', 'update@4 +a4'];
    expect(seen && told(seen)).toEqual(expected);
  });

  it.each([
    ['another party', [alice]],
    ['no party', []],
  ])('add nothing of a party that is taken away at any moment of its takeover, after %s', (_, before) => {
    let shown = 0;
    for (let takenAwayAt = 1_080; takenAwayAt < 1_260; takenAwayAt += effort(5, 1)) {
      const parties$ = new BehaviorSubject<readonly string[]>(before);
      const ledger = new PartyWorld('a1', 'b2', 'b3');
      runVirtually(() => {
        const changes = observe(
          contractChanges(ledger.client, { parties: parties$ }).pipe(
            tap((change) => {
              const added = change._tag === 'ContractsChanged' ? change.added : [];
              if (added.length === 0) return;
              shown += 1;
              expect([takenAwayAt, parties$.value]).toEqual([takenAwayAt, [...before, bob]]);
            }),
          ),
        );
        later(1_000, () => {
          parties$.next([...before, bob]);
        });
        later(takenAwayAt, () => {
          parties$.next(before);
        });
        later(6_000, () => {
          changes.subscription.unsubscribe();
        });
        later(6_100, () => {
          expect(changes.error).toBeUndefined();
        });
      });
    }
    // of the late ones, it was already there
    expect(shown).toBeGreaterThan(0);
  });

  it('name the parties that see a contract, and keep the object of one that others do not concern', () => {
    const parties$ = new BehaviorSubject([alice]);
    const ledger = new PartyWorld('a1', 'ab2');
    const states: (readonly AnyContract[])[] = [];
    runVirtually(() => {
      const view = liveContracts(ledger.client, { parties: parties$ });
      const all = observe(view.all$().pipe(tap((contracts) => states.push(contracts))));
      later(1_000, () => {
        parties$.next([bob, alice]);
      });
      later(5_000, () => {
        parties$.next([alice]);
      });
      later(9_000, () => {
        all.subscription.unsubscribe();
      });
    });
    const witnesses = states.map((contracts) => contracts.map(({ createdEvent }) => createdEvent.witnessParties));
    expect(witnesses).toEqual([
      [[alice], [alice]],
      [[alice], [alice, bob]],
      [[alice], [alice]],
    ]);
    expect(states[1]?.[0]).toBe(states[0]?.[0]);
    expect(states[2]?.[0]).toBe(states[0]?.[0]);
  });

  it('leave no trace if they go before their contracts were read', () => {
    const parties$ = new BehaviorSubject([alice]);
    const ledger = new PartyWorld('a1', 'b2', 'ab3', 'c4');
    let seen: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
      later(1_000, () => {
        parties$.next([alice, bob]);
      });
      // the snapshot has been requested, and has not been answered
      later(1_115, () => {
        parties$.next([alice, carol]);
      });
      later(9_000, () => {
        changes.subscription.unsubscribe();
      });
    });
    expect(ledger.snapshots).toEqual([[alice], [bob], [carol]]);
    expect(seen && told(seen)).toEqual(['start@4 a1 ab3', 'selectionChanged@4 +c4']);
  });

  it('read only the contracts of a party that is added', () => {
    const names = Array.from({ length: effort(100, 1_000) }, (_, index) => `p${index}`);
    const many = names.flatMap((name) => [1, 2].map((n) => `${name}-${n}`));
    const own = Array.from({ length: 100 }, (_, index) => `padded-${index}`);
    const ledger = new PartyWorld(...many, ...own);
    const parties = names.map((name) => `${name}::1220ab`);
    const parties$ = new BehaviorSubject(parties);
    let before = 0;
    let after = 0;
    let seen: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
      later(9_000, () => {
        before = ledger.received;
        parties$.next([...parties, 'padded::1220ab']);
      });
      later(12_000, () => {
        after = ledger.received;
        changes.subscription.unsubscribe();
      });
    });
    expect(seen?.values.filter(({ _tag }) => _tag === 'ContractsChanged')).toMatchObject([
      { reason: 'selectionChanged', added: { length: 100 }, removed: [], moved: [] },
    ]);
    expect(before).toBeGreaterThanOrEqual(many.length);
    // its contracts, and what shows the place in the history
    expect(after - before).toBeGreaterThanOrEqual(100);
    expect(after - before).toBeLessThanOrEqual(120);
  });

  it('are taken together if many come one by one', () => {
    const names = Array.from({ length: effort(100, 1_000) }, (_, index) => `p${index}`);
    const ledger = new PartyWorld(...names.map((name) => `${name}-1`));
    const parties = names.map((name) => `${name}::1220ab`);
    const parties$ = new BehaviorSubject<readonly string[]>([]);
    let seen: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
      parties.forEach((_, index) => {
        later(1_000 + index * 60, () => {
          parties$.next(parties.slice(0, index + 1));
        });
      });
      later(70_000, () => {
        changes.subscription.unsubscribe();
      });
    });
    const changes = seen?.values.filter((change) => change._tag === 'ContractsChanged') ?? [];
    expect(changes.flatMap(({ added }) => idsOf(added)).sort()).toEqual(names.map((name) => `${name}-1`).sort());
    // one in a second, and no more
    expect(changes.length).toBeLessThanOrEqual((names.length * 60) / 1_000 + 2);
    // none waits for the last one
    expect(changes.length).toBeGreaterThanOrEqual((names.length * 60) / 1_000 - 1);
    expect(ledger.snapshots.length).toBe(changes.length);
    // nobody was read twice
    expect(ledger.snapshots.flat()).toHaveLength(names.length);
  });

  it('see nothing as long as there are none, and send nothing', () => {
    const parties$ = new BehaviorSubject<readonly string[]>([]);
    const ledger = new PartyWorld('a1');
    let seen: Observed<ContractChange> | undefined;
    let requests = 0;
    runVirtually(() => {
      const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
      later(1_000, () => {
        requests = ledger.world.service.requests.length;
      });
      later(100_000, () => {
        expect(ledger.world.service.requests).toHaveLength(requests);
        ledger.create('a2');
        ledger.world.participant.ledger.pruned = 1;
        parties$.next([alice]);
      });
      later(105_000, () => {
        parties$.next([]);
      });
      later(110_000, () => {
        ledger.create('a3');
        parties$.next([alice]);
      });
      later(115_000, () => {
        changes.subscription.unsubscribe();
      });
    });
    expect(seen && told(seen)).toEqual([
      'start@1',
      'selectionChanged@2 +a1 +a2',
      'selectionChanged@2 -a1 -a2',
      'selectionChanged@3 +a1 +a2 +a3',
    ]);
  });

  it('lead to a reset if the offset is pruned before they are read, or to an error', () => {
    for (const onGap of ['reload', 'fail'] as const) {
      const parties$ = new BehaviorSubject([alice]);
      const ledger = new PartyWorld('a1', 'b2', 'c3');
      let seen: Observed<ContractChange> | undefined;
      runVirtually(() => {
        const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$, onGap })));
        later(1_000, () => {
          // nobody that is selected sees it, and no checkpoint has passed it
          ledger.create('c4');
          ledger.world.participant.ledger.pruned = 4;
          parties$.next([alice, bob]);
        });
        later(9_000, () => {
          changes.subscription.unsubscribe();
        });
      });
      if (onGap === 'fail') expect(seen?.error).toMatchObject({ _tag: 'PrunedError' });
      else expect(seen && told(seen)).toEqual(['start@3 a1', 'pruned@4 a1 b2']);
    }
  });

  it('are loading before the first list, keep the last one, and end with an error of the Observable', () => {
    const ledger = new PartyWorld('a1', 'b2');
    let waiting: Observed<unknown> | undefined;
    let lasting: Observed<unknown> | undefined;
    let failing: Observed<unknown> | undefined;
    const broken = new Error('broken');
    runVirtually(() => {
      waiting = observe(liveContracts(ledger.client, { parties: NEVER }).state$);
      lasting = observe(liveContracts(ledger.client, { parties: of([alice]) }).count$());
      const parties = concat(of([alice]), timer(3_000).pipe(concatMap(() => throwError(() => broken))));
      failing = observe(liveContracts(ledger.client, { parties }).count$());
      later(5_000, () => {
        ledger.create('a3');
      });
      later(9_000, () => {
        waiting?.subscription.unsubscribe();
        lasting?.subscription.unsubscribe();
      });
    });
    expect(waiting?.values).toMatchObject([{ data: 'loading' }]);
    expect(lasting?.values).toEqual([1, 2]);
    expect(failing?.error).toBe(broken);
  });

  it('must be lists of parties', () => {
    const ledger = new PartyWorld();
    const invalid: Observed<unknown>[] = [];
    runVirtually(() => {
      for (const parties of ['alice::1220ab', ['not a party\n']])
        invalid.push(observe(contractChanges(ledger.client, { parties: of(parties as string[]) })));
    });
    expect(invalid.map(({ error }) => error)).toMatchObject([{ name: 'TypeError' }, { _tag: 'InvalidRequestError' }]);
  });

  it('are another query with another Observable, and the same with the same one', () => {
    const shared = shareContracts(new PartyWorld().client);
    const parties = new Subject<string[]>();
    expect(shared.keyOf({ parties })).toBe(shared.keyOf({ parties }));
    expect(shared.keyOf({ parties })).not.toBe(shared.keyOf({ parties: new Subject<string[]>() }));
  });

  it('show readers of the view what their parties see of it', () => {
    const parties$ = new BehaviorSubject([alice]);
    const ledger = new PartyWorld('a1', 'b2', 'ab3');
    let forAlice: Observed<ContractChange> | undefined;
    let forBob: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const live = liveContracts(ledger.client, { parties: parties$ });
      const alices = (forAlice = observe(contractsFor(live, [alice]).changes$));
      const bobs = (forBob = observe(contractsFor(live, [bob]).changes$));
      later(1_000, () => {
        parties$.next([alice, bob]);
      });
      later(5_000, () => {
        parties$.next([alice]);
      });
      later(9_000, () => {
        alices.subscription.unsubscribe();
        bobs.subscription.unsubscribe();
      });
    });
    expect(forAlice && told(forAlice)).toEqual(['start@3 a1 ab3']);
    expect(forBob && told(forBob)).toEqual(['start@3', 'selectionChanged@3 +ab3 +b2', 'selectionChanged@3 -ab3 -b2']);
    const witnesses = forBob?.values.flatMap((change) =>
      change._tag === 'ContractsChanged' ? change.added.map(({ createdEvent }) => createdEvent.witnessParties) : [],
    );
    expect(witnesses).toEqual([[bob], [bob]]);
  });
});
