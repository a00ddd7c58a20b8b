import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY } from 'rxjs';
import { Agenda } from '../../src/automation/Agenda.js';
import type { Rule } from '../../src/automation/index.js';
import type { AnyContract, Contract } from '../../src/contracts/Contract.js';
import { ContractList } from '../../src/contracts/ContractSet.js';
import type { View } from '../../src/contracts/LiveState.js';
import { Places } from '../../src/dispatch/Places.js';
import { DueQueue } from '../../src/automation/DueQueue.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

/** What to do with a queue: add an item at a time, remove it, or take what is due. */
type Step =
  | { readonly kind: 'add'; readonly item: number; readonly at: number }
  | { readonly kind: 'remove'; readonly item: number }
  | { readonly kind: 'take'; readonly now: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), item: fc.nat(9), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('add' as const), item: fc.nat(9), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('remove' as const), item: fc.nat(9) }),
  fc.record({ kind: fc.constant('take' as const), now: fc.nat(20) }),
);

describe('DueQueue', () => {
  it('is a list of items in the order in which they are due, those of the same time in the order of their additions', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new DueQueue<number>();
        let list: readonly { readonly item: number; readonly at: number }[] = [];
        for (const next of steps) {
          const others = (item: number) => list.filter((place) => place.item !== item);
          switch (next.kind) {
            case 'add':
              queue.add(next.item, next.at);
              // an item whose time stays the same keeps its place
              if (list.some(({ item, at }) => item === next.item && at === next.at)) break;
              list = [...others(next.item), { item: next.item, at: next.at }].sort((a, b) => a.at - b.at);
              break;
            case 'remove':
              queue.remove(next.item);
              list = others(next.item);
              break;
            case 'take': {
              const [first] = list.filter(({ at }) => at <= next.now);
              expect(queue.take(next.now)).toBe(first?.item);
              if (first !== undefined) list = others(first.item);
            }
          }
          expect(queue.size).toBe(list.length);
          expect(queue.nextAt).toBe(list[0]?.at ?? Infinity);
          expect(queue.countDue(10)).toBe(list.filter(({ at }) => at <= 10).length);
        }
      }),
    );
  });

  it('has 200 000 items in random order, and their times change, without taking long', () => {
    const queue = new DueQueue<number>();
    const count = 200_000;
    const begun = process.cpuUsage();
    for (let round = 0; round < 3; round += 1)
      for (let item = 0; item < count; item += 1) queue.add(item, ((item * 7_919) % count) + round);
    const taken = Array.from({ length: count }, () => queue.take(Infinity));
    // a list that is kept in order takes a minute of processor time
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1e6).toBeLessThan(15);
    expect(new Set(taken).size).toBe(count);
    expect(queue.take(Infinity)).toBeUndefined();
  }, 60_000);
});

describe('Places', () => {
  it('are as many as the concurrency, given back once each', () => {
    const places = new Places(2);
    const first = places.take();
    const second = places.take();
    expect([places.isFree, places.running]).toEqual([false, 2]);
    first.giveBack();
    first.giveBack();
    expect([places.isFree, places.running]).toEqual([true, 2]);
    first.end();
    second.end();
    expect([places.isFree, places.running]).toEqual([true, 0]);
    places.take();
    places.take();
    expect(places.isFree).toBe(false);
  });

  it('are none while a thousand take long, although they have given theirs back', () => {
    const places = new Places(2);
    const taken = Array.from({ length: 1_000 }, () => places.take());
    for (const place of taken) place.giveBack();
    expect([places.free, places.running]).toEqual([0, 1_000]);
    taken[0]?.end();
    expect(places.free).toBe(1);
  });

  it('are none in a pause, which counts once however often it is prolonged, and one after it until all is well', () => {
    const seen: unknown[] = [];
    runVirtually(() => {
      const places = new Places(3);
      places.pause(1_000);
      places.pause(3_000);
      places.pause(10);
      seen.push([places.pauses, places.pauseMs, places.isFree]);
      later(2_000, () => seen.push([places.pauseMs, places.isFree]));
      later(3_000, () => {
        seen.push([places.pauseMs, places.isFree]);
        places.take();
        seen.push(places.isFree);
        places.resume();
        seen.push([places.pauses, places.isFree]);
        places.pause(5);
        places.resume();
        // a pause ends when its time is over
        seen.push([places.pauses, places.isPaused]);
      });
    });
    expect(seen).toEqual([[1, 3_000, false], [1_000, false], [0, true], false, [0, true], [0, true]]);
  });
});

describe('Agenda', () => {
  it('notes that a contract was archived only if actions of it are remembered, so that nothing grows with what was done', () => {
    const rule: Rule = {
      name: 'rule',
      query: { parties: EMPTY },
      actAs: ['alice::1220ab'],
      userId: 'me',
      act: () => [],
    };
    const contractOf = (contractId: string): Contract => {
      const contract = {
        _tag: 'Contract',
        contractId,
        reassignmentCounter: 0,
        offset: 1,
        createdAt: '2026-07-24T00:00:00Z',
      };
      return { ...contract, location: { synchronizerId: 'global::1220' } } as unknown as Contract;
    };
    const contracts = ['remembered', 'forgotten'].map(contractOf);
    const viewOf = (offset: number, present: readonly Contract[], items: readonly object[]): View<AnyContract> => {
      const list = new ContractList<AnyContract>();
      for (const contract of present) list.set(contract.contractId, contract);
      const known = { contracts: list.snapshot, offset, items };
      return { isLive: true, connection: { status: 'open' }, known } as unknown as View<AnyContract>;
    };
    const agenda = new Agenda(rule, new Places(4), (contractId) => contractId === 'remembered');
    agenda.apply(viewOf(1, contracts, [{ _tag: 'Reset', reason: 'start', offset: 1, contracts }]));
    for (const entry of agenda.take()) entry.endedRounds.add('');
    agenda.apply(viewOf(2, [], [{ _tag: 'ContractsChanged', offset: 2, added: [], removed: contracts, moved: [] }]));
    expect(contracts.map(({ contractId }) => agenda.isGone(contractId))).toEqual([true, false]);
    // the memory has forgotten it then
    expect(agenda.isGone('remembered')).toBe(false);
  });
});
