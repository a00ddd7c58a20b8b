import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  asyncScheduler,
  concatMap,
  distinctUntilChanged,
  filter,
  map,
  merge,
  NEVER,
  type Observable,
  take,
  timer,
} from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { isKnown } from '../../src/contracts/LiveState.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime, marbles, stopClock } from '../helpers/time.js';
import { ids } from './brief.js';
import { answered, contract, type Happening, histories, retryIn, scripted, StepMaker, viewOf } from './scriptedJoin.js';

const { conflate } = await import('../../src/contracts/conflate.js');

const listOf = (all$: Observable<readonly AnyContract[]>): Observable<string> => all$.pipe(map(ids));

/** The contracts of a subscriber that applies changes, and fails at one that cannot be applied. */
class Replayed {
  readonly contracts = new Map<string, AnyContract>();
  offset = 0;

  apply(change: ContractChange): void {
    this.offset = change.offset;
    if (change._tag === 'Reset') {
      this.contracts.clear();
      for (const each of change.contracts) this.contracts.set(each.contractId, each);
    }
    if (change._tag !== 'ContractsChanged') return;
    const touched = [...change.added, ...change.removed, ...change.moved.map((move) => move.contract)];
    expect(new Set(touched.map(({ contractId }) => contractId)).size).toBe(touched.length);
    for (const { contractId } of change.removed) expect(this.contracts.delete(contractId)).toBe(true);
    for (const each of change.added) {
      expect(this.contracts.has(each.contractId)).toBe(false);
      this.contracts.set(each.contractId, each);
    }
    for (const move of change.moved) {
      expect(this.contracts.get(move.contract.contractId)?.location).toEqual(move.from);
      this.contracts.set(move.contract.contractId, move.contract);
    }
  }
}

afterEach(() => {
  delete (globalThis as { requestAnimationFrame?: unknown }).requestAnimationFrame;
  delete (globalThis as { cancelAnimationFrame?: unknown }).cancelAnimationFrame;
});

describe('a conflated view', () => {
  it('throws for a period that is not positive', () => {
    expect(() => conflate(viewOf(NEVER), 0)).toThrow(TypeError);
  });

  itInVirtualTime(
    'emits the first value at once, then the latest, at most once per period (pitfall 48)',
    ({ cold, expectObservable }) => {
      const make = new StepMaker();
      const view = viewOf(
        cold('a--bc--d-----------e', {
          a: make.reset(['p']),
          b: make.page({ put: ['q'] }),
          c: make.page({ put: ['r'] }),
          d: make.page({ put: ['s'] }),
          e: make.page({ put: ['t'] }),
        }),
      );
      const slow = conflate(view, 10);
      expectObservable(listOf(slow.all$())).toBe('x---------y---------z', { x: 'p', y: 'pqrs', z: 'pqrst' });
      expectObservable(listOf(slow.all$()), '  -^').toBe('-x---------y---------z', { x: 'p', y: 'pqrs', z: 'pqrst' });
      expectObservable(slow.count$(), '        -^').toBe('-x---------y---------z', { x: 1, y: 4, z: 5 });
      expectObservable(slow.byId$('t'), '      -^').toBe('-x-------------------z', { x: undefined, z: contract('t') });
      expectObservable(slow.atOffset(2), '     -^').toBe('-----------(x|)', { x: 4 });
      const each = { x: 'p', y: 'pq', z: 'pqr', 1: 'pqrs', 2: 'pqrst' };
      expectObservable(listOf(view.all$())).toBe('x--yz--1-----------2', each);
    },
  );

  it.each([2 ** 31, 2 ** 53, Infinity])('waits for as long as a timer supports, if the period is %d', (period) => {
    marbles(({ flush }) => {
      const { make, happen, view } = scripted();
      view.state$.subscribe();
      happen(make.reset(['p']));
      const seen = observe(listOf(conflate(view, period).all$()));
      timer(1).subscribe(() => {
        happen(make.page({ put: ['q'] }));
      });
      flush();
      // a longer timer would fire at once
      expect([seen.values, seen.times]).toEqual([
        ['p', 'pq'],
        [0, 2 ** 31 - 1],
      ]);
    });
  });

  itInVirtualTime('shares the snapshot and the feed of its view', ({ cold, expectSubscriptions, expectObservable }) => {
    const happening$ = cold('a', { a: new StepMaker().reset(['x']) });
    const view = viewOf(happening$);
    expectObservable(view.count$(), '              -^-----!').toBe('-x', { x: 1 });
    expectObservable(conflate(view, 2).count$(), '  --^------!').toBe('--x', { x: 1 });
    expectObservable(conflate(view, 5).state$.pipe(map(({ data }) => data)), '---^!').toBe('---x', { x: 'live' });
    expectSubscriptions(happening$.subscriptions).toBe('-^-------!');
  });

  /** The changes of a view with some contracts, in periods of 10 ms, of which the first has what happens. */
  const changesIn = (contractIds: readonly string[], happenings: (make: StepMaker) => readonly Happening[]) =>
    marbles(({ flush }) => {
      const { make, happen, view } = scripted();
      view.state$.subscribe();
      happen(make.reset(contractIds));
      const seen = observe(conflate(view, 10).changes$);
      timer(1).subscribe(() => {
        happen(...happenings(make));
      });
      flush();
      expect(seen.values.slice(0, 2).map(({ _tag }) => _tag)).toEqual(['Reset', 'CaughtUp']);
      expect(seen.times).toEqual([0, 0, ...seen.values.slice(2).map(() => 10)]);
      return seen.values.slice(2);
    });

  it('merges the changes of a period into one', () => {
    const put = ['comes', 'passes', ['moves', 'b'], ['comes', 'b'], ['leaves', 'b']] as const;
    const changes = changesIn(['stays', 'goes', 'moves', 'returns', 'leaves'], (make) => [
      make.page({ put }, { remove: ['goes', 'passes', 'returns', 'leaves'] }),
      make.page({ put: [['moves', 'c'], 'returns'] }),
    ]);
    expect(changes).toMatchObject([
      {
        _tag: 'ContractsChanged',
        offset: 4,
        updateId: 'u4',
        added: [contract('comes', 'b', 1)],
        removed: [contract('leaves'), contract('goes')],
        moved: [
          { contract: contract('moves', 'c', 2), from: { synchronizerId: 'a' } },
          { contract: contract('returns'), from: { synchronizerId: 'a' } },
        ],
      },
    ]);
  });

  it('has a checkpoint in place of a change where all that came went', () => {
    const comesAndGoes = (make: StepMaker) => [make.page({ put: ['y'] }), make.page({ remove: ['y'] })];
    expect(changesIn(['x'], comesAndGoes)).toMatchObject([{ _tag: 'OffsetCheckpoint', offset: 3 }]);
    const andOn = changesIn(['x'], (make) => [...comesAndGoes(make), make.checkpoint()]);
    expect(andOn).toMatchObject([{ _tag: 'OffsetCheckpoint', offset: 4 }]);
  });

  it('has only the reset of a period with one, with the contracts at its end', () => {
    const changes = changesIn(['x'], (make) => [
      make.page({ put: ['y'] }),
      make.reset(['z'], 'pruned'),
      make.page({ put: ['w'] }),
    ]);
    const contracts = [contract('z'), contract('w')];
    expect(changes).toEqual([{ _tag: 'Reset', reason: 'pruned', offset: 4, contracts }]);
    const ofOther = changesIn(['x'], (make) => [make.reset(['y'], 'ledgerReset'), make.reset(['z'], 'pruned')]);
    expect(ofOther).toEqual([{ _tag: 'Reset', reason: 'ledgerReset', offset: 3, contracts: [contract('z')] }]);
  });

  itInVirtualTime(
    'has the last of several states of the connection, and emits no contracts for them',
    ({ cold, expectObservable }) => {
      const make = new StepMaker();
      const view = viewOf(
        cold('a-bcd----------e', {
          a: make.reset(['x']),
          b: retryIn(1),
          c: answered,
          d: make.checkpoint(),
          e: retryIn(1),
        }),
      );
      const slow = conflate(view, 10);
      view.state$.subscribe();
      const statusOf = map(
        ({ data, connection }: { data: string; connection: { status: string } }) => `${data} ${connection.status}`,
      );
      expectObservable(slow.state$.pipe(statusOf), '-^').toBe('-a---------a---------b', {
        a: 'live open',
        b: 'stale retrying',
      });
      expectObservable(listOf(slow.all$()), '       -^').toBe('-a', { a: 'x' });
    },
  );

  it('is the view at the time of each value, for random changes, periods and times of subscription', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 60 }), fc.nat(100), (history, period, joinAt) => {
        marbles(({ flush }) => {
          const make = new StepMaker();
          const view = viewOf(() =>
            merge(...history.map((toHappening, i) => timer(5 * i).pipe(map(() => toHappening(make))))),
          );
          const slow = conflate(view, period);
          const replayed = new Replayed();
          const isMatch = ({ contractId }: AnyContract): boolean => contractId < 'd';
          const sortedIds = (contracts: Iterable<AnyContract>): string => Array.from(ids(contracts)).sort().join('');
          const now = (): string => sortedIds(make.contracts.snapshot);
          const matchesNow = () => [...make.contracts.snapshot].filter(isMatch);
          const times: number[] = [];
          const changes$ = slow.changes$.pipe(
            map((change) => {
              replayed.apply(change);
              if (change._tag === 'Reset' || change._tag === 'ContractsChanged') times.push(asyncScheduler.now());
              if (change._tag !== 'OffsetCheckpoint') expect(sortedIds(replayed.contracts.values())).toBe(now());
            }),
          );
          const lists$ = merge(
            slow.all$(() => 0).pipe(map((contracts) => [sortedIds(contracts), now()])),
            slow.select$(isMatch).pipe(map((contracts) => [sortedIds(contracts), sortedIds(matchesNow())])),
          ).pipe(
            map(([seen, expected]) => {
              expect(seen).toBe(expected);
            }),
          );
          const stepwise = new Replayed();
          // for operators on views, which apply the items of each step
          const steps$ = slow.view$.pipe(
            filter(isKnown),
            map(({ known }) => known),
            distinctUntilChanged(),
            map(({ items, contracts, offset }, index) => {
              const first: ContractChange = { _tag: 'Reset', reason: 'start', offset, contracts: contracts.toArray() };
              for (const item of index === 0 ? [first] : items) stepwise.apply(item);
              expect(sortedIds(stepwise.contracts.values())).toBe(sortedIds(contracts));
            }),
          );
          const running = timer(joinAt)
            .pipe(concatMap(() => merge(changes$, lists$, steps$)))
            .subscribe({
              error: (error: unknown) => {
                throw error;
              },
            });
          timer(500).subscribe(() => {
            expect([...replayed.contracts.values()].map(located).sort()).toEqual(
              [...make.contracts.snapshot].map(located).sort(),
            );
            expect(replayed.offset).toBe(make.offset);
            for (const [i, at] of times.entries())
              if (i > 0) expect(at - (times[i - 1] ?? 0)).toBeGreaterThanOrEqual(period);
            running.unsubscribe();
          });
          timer(600).subscribe();
          flush();
        });
      }),
      { numRuns: effort(60, 1_000) },
    );
  });
});

const located = ({ contractId, location }: AnyContract): string => `${contractId} ${JSON.stringify(location)}`;

describe("'animationFrame'", () => {
  const counted = (view: ReturnType<typeof viewOf>) => observe(conflate(view, 'animationFrame').count$());

  itInVirtualTime('is 16 ms where there are no frames', ({ flush }) => {
    const { make, happen, view } = scripted();
    view.state$.subscribe();
    happen(make.reset([]));
    const seen = counted(view);
    timer(0, 1)
      .pipe(take(40))
      .subscribe((i) => {
        happen(make.page({ put: [`c${i}`] }));
      });
    flush();
    expect(seen.times).toEqual([0, 16, 32, 48]);
  });

  /** Frames that the test runs. */
  const withFrames = () => {
    const frames = new Map<number, (time: number) => void>();
    let last = 0;
    Object.assign(globalThis, {
      requestAnimationFrame: (run: (time: number) => void) => {
        frames.set((last += 1), run);
        return last;
      },
      cancelAnimationFrame: (frame: number) => frames.delete(frame),
    });
    const runFrame = (): void => {
      const [...due] = frames.values();
      frames.clear();
      for (const run of due) run(0);
    };
    return { frames, runFrame };
  };

  /** What is drawn of a view, and what happens to it. */
  const drawn = () => {
    const { make, happen, view } = scripted();
    view.state$.subscribe();
    happen(make.reset([]));
    const seen = counted(view);
    expect(seen.values).toEqual([0]);
    const add = (contractId: string): void => {
      happen(make.page({ put: [contractId] }));
    };
    return { seen, add };
  };

  it('is a frame where there are frames', () => {
    const { frames, runFrame } = withFrames();
    const { seen, add } = drawn();
    for (const contractId of ['x', 'y']) add(contractId);
    expect(seen.values).toEqual([0]);
    runFrame();
    expect(seen.values).toEqual([0, 2]);
    add('z');
    seen.subscription.unsubscribe();
    expect(frames.size).toBe(0);
  });

  it('is a second while there are no frames, because the page is hidden', async () => {
    const { frames, runFrame } = withFrames();
    const clock = stopClock();
    const { seen, add } = drawn();
    add('x');
    await clock.advance(999);
    expect(seen.values).toEqual([0]);
    await clock.advance(1);
    expect(seen.values).toEqual([0, 1]);
    expect(frames.size).toBe(1);
    add('y');
    runFrame();
    expect(seen.values).toEqual([0, 1, 2]);
    seen.subscription.unsubscribe();
    expect(frames.size).toBe(0);
  });

  it('waits for one frame at a time, even if a contract turns out not to decode while it is drawn', () => {
    const { frames, runFrame } = withFrames();
    const { make, happen, view } = scripted();
    const drawing = conflate(view, 'animationFrame')
      .all$()
      .subscribe(() => {
        happen({ _tag: 'ContractUndecoded', contractId: 'x', expectedType: 'task', problems: [] });
      });
    happen(make.reset([]));
    const waiting = Array.from({ length: 20 }, (_, i) => {
      happen(make.page({ put: [`c${i}`] }));
      runFrame();
      return frames.size;
    });
    expect(Math.max(...waiting)).toBe(1);
    runFrame();
    runFrame();
    expect(frames.size).toBe(0);
    drawing.unsubscribe();
  });
});
