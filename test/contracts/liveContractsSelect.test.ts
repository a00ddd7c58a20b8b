import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { map, type Observable, of, skip } from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { ids } from './brief.js';
import { histories, scripted, StepMaker, viewOf } from './scriptedJoin.js';

const listOf = (all$: Observable<readonly AnyContract[]>): Observable<string> => all$.pipe(map(ids));

describe('the contracts of a live view that match', () => {
  it('are those of a scan of all contracts, after every step and for every subscriber', () => {
    const isMatch = ({ contractId, location }: AnyContract): boolean =>
      contractId < 'e' && (contractId < 'c' || ('synchronizerId' in location && location.synchronizerId === 'a'));
    // contracts of the same rank
    const rank = ({ contractId, reassignmentCounter }: AnyContract): number =>
      (contractId.charCodeAt(0) % 3) + reassignmentCounter;
    const compare = (a: AnyContract, b: AnyContract): number => rank(a) - rank(b);
    const byId = (contracts: Iterable<AnyContract>): AnyContract[] =>
      [...contracts].sort((a, b) => (a.contractId < b.contractId ? -1 : 1));
    fc.assert(
      fc.property(histories, fc.nat(20), (history, joinAt) => {
        const { make, happen, view } = scripted();
        const observeAll = () => ({
          all: observe(view.all$()),
          sorted: observe(view.all$(compare)),
          matching: observe(view.select$(isMatch)),
          sortedMatching: observe(view.select$(isMatch, compare)),
          count: observe(view.count$()),
          matchCount: observe(view.count$(isMatch)),
          one: observe(view.byId$('b')),
        });
        const observers = [observeAll()];
        for (const [i, toHappening] of history.entries()) {
          if (i === joinAt) observers.push(observeAll());
          happen(toHappening(make));
          const now = byId(make.contracts.snapshot);
          const matching = now.filter(isMatch);
          for (const seen of observers) {
            expect(byId(seen.all.values.at(-1) ?? [])).toEqual(now);
            expect(byId(seen.matching.values.at(-1) ?? [])).toEqual(matching);
            for (const [{ values }, expected] of [
              [seen.sorted, now],
              [seen.sortedMatching, matching],
            ] as const) {
              const sorted = values.at(-1) ?? [];
              expect(byId(sorted)).toEqual(expected);
              expect(sorted.map(rank)).toEqual(expected.map(rank).sort((a, b) => a - b));
            }
            expect(seen.count.values.at(-1)).toBe(now.length);
            expect(seen.matchCount.values.at(-1)).toBe(matching.length);
            expect(seen.one.values.at(-1)).toEqual(make.contracts.get('b'));
          }
        }
        for (const { count, matchCount, one } of observers)
          for (const { values } of [count, matchCount, one])
            for (const [i, value] of values.entries()) expect(i > 0 && value === values[i - 1]).toBe(false);
      }),
      { numRuns: effort(50, 500) },
    );
  });

  it.each<[string, (a: AnyContract, b: AnyContract) => number]>([
    ['never answers 0', (a, b) => (a.contractId > b.contractId ? 1 : -1)],
    ['answers NaN', (a, b) => Number.parseInt(a.contractId, 15) - Number.parseInt(b.contractId, 15)],
    ['is not transitive', (a, b) => ((a.contractId.charCodeAt(0) * 7) % 3) - ((b.contractId.charCodeAt(0) * 5) % 3)],
  ])('are all there with an order that %s', (_, compare) => {
    fc.assert(
      fc.property(histories, (history) => {
        const { make, happen, view } = scripted();
        const seen = observe(view.all$(compare));
        for (const toHappening of history) {
          happen(toHappening(make));
          const sorted = seen.values.at(-1) ?? [];
          expect(new Set(sorted)).toEqual(new Set(make.contracts.snapshot));
          expect(sorted).toHaveLength(make.contracts.snapshot.size);
        }
      }),
      { numRuns: effort(50, 500) },
    );
  });

  it('are sorted once after a step that changes many', () => {
    const { make, happen, view } = scripted();
    let comparisons = 0;
    const descending = (a: AnyContract, b: AnyContract): number => {
      comparisons += 1;
      return a.contractId < b.contractId ? 1 : -1;
    };
    const seen = observe(view.all$(descending));
    const many = Array.from({ length: 2_000 }, (_, i) => `x${i}`);
    happen(make.reset(['a', 'b']), make.page({ put: many }));
    expect(seen.values.at(-1)?.map(({ contractId }) => contractId)).toEqual(['b', 'a', ...many].sort().reverse());
    comparisons = 0;
    happen(make.page({ put: ['c'], remove: many }));
    expect(comparisons).toBeLessThan(10);
    happen(make.page({ put: ['d'], remove: ['b'] }));
    expect(seen.values.slice(2).map(ids)).toEqual(['cba', 'dca']);
  });

  it('are emitted when one of them changes, and not for others', () => {
    const { make, happen, view } = scripted();
    let tests = 0;
    const isMatch = ({ contractId }: AnyContract): boolean => {
      tests += 1;
      return contractId < 'c';
    };
    const seen = observe(listOf(view.select$(isMatch)));
    happen(make.reset(['a', 'b', 'c', 'd', 'e']));
    expect(tests).toBe(5);
    happen(make.page({ put: ['f'] }), make.page({ remove: ['e', 'd'] }));
    expect(seen.values).toEqual(['ab']);
    happen(make.page({ put: [['b', 'b']] }), make.page({ remove: ['a'] }));
    expect(seen.values).toEqual(['ab', 'ab', 'b']);
    expect(tests).toBe(7);
  });

  it('are arrays of their own, which later changes do not touch', () => {
    const { make, happen, view } = scripted();
    const sorted = observe(view.all$((a, b) => (a.contractId < b.contractId ? 1 : -1)));
    const all = observe(view.all$());
    happen(make.reset(['a', 'b']), make.page({ put: ['c'], remove: ['a'] }));
    expect(sorted.values.map(ids)).toEqual(['ba', 'cb']);
    expect(all.values.map(ids)).toEqual(['ab', 'bc']);
  });

  it('narrow by a type guard', () => {
    const make = new StepMaker();
    const view = viewOf(of(make.reset(['x'])));
    const seen = observe(
      view.select$(
        (contract) => contract._tag === 'Contract',
        (a, b) => a.type.localeCompare(b.type),
      ),
    );
    expect(seen.values.map((all) => all.map(({ type }) => type))).toEqual([['task']]);
  });
});

describe('two selections of a live view', () => {
  it('are of the same offset, always (pitfall 52)', () => {
    const { make, happen, view } = scripted();
    // in each update one comes and the other goes, so that there is always one of them
    const totals: number[] = [];
    const x = observe(view.count$(({ contractId }) => contractId === 'x'));
    const y = observe(view.count$(({ contractId }) => contractId === 'y'));
    view.state$.pipe(skip(1)).subscribe(() => {
      totals.push((x.values.at(-1) ?? 0) + (y.values.at(-1) ?? 0));
    });
    happen(make.reset(['x']), make.page({ put: ['y'], remove: ['x'] }), make.page({ put: ['x'], remove: ['y'] }));
    expect(totals).toEqual([1, 1, 1]);
  });
});
