import { describe, expect, it } from '@jest/globals';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { concatMap, config, distinctUntilChanged, filter, map, type Observable, of, pairwise, retry, take } from 'rxjs';
import type { LiveContracts } from '../../src/contracts/liveContracts.js';
import type { LiveState } from '../../src/contracts/LiveState.js';
import { observe, type Observed } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { brief, briefState, ids } from './brief.js';
import { answered, contract, retryIn, scripted, StepMaker, unavailable, viewOf } from './scriptedJoin.js';

const briefs = (state$: Observable<LiveState>): Observable<string> => state$.pipe(map(briefState));
const changesOf = ({ changes$ }: Pick<LiveContracts, 'changes$'>): Observable<string> => changes$.pipe(map(brief));
const listOf = (all$: Observable<Parameters<typeof ids>[0]>): Observable<string> => all$.pipe(map(ids));

describe('liveContracts', () => {
  itInVirtualTime(
    'is loading at once, has no contracts then, and is live when a step has reached the ledger end (pitfall 50)',
    ({ cold, expectObservable }) => {
      const make = new StepMaker();
      const view = viewOf(
        cold('--a--b--c--d', {
          a: answered,
          b: make.reset(['x'], 'start', false),
          c: make.behind({ put: ['y'] }),
          d: make.checkpoint(),
        }),
      );
      expectObservable(briefs(view.state$)).toBe('a-b--c--d--e', {
        a: 'loading/connecting',
        b: 'loading/open',
        c: 'stale/open 1 x',
        d: 'stale/open 2 xy',
        e: 'live/open 3 xy',
      });
      expectObservable(view.state$.pipe(map((state) => 'contracts' in state))).toBe('a-a--b--b--b', {
        a: false,
        b: true,
      });
      expectObservable(listOf(view.all$())).toBe('     -----x--y---', { x: 'x', y: 'xy' });
    },
  );

  itInVirtualTime('emits an empty array only if there are no contracts (pitfall 50)', ({ cold, expectObservable }) => {
    const make = new StepMaker();
    const view = viewOf(
      cold('--a--b--c', { a: make.reset([]), b: make.page({ put: ['x'] }), c: make.page({ remove: ['x'] }) }),
    );
    const values = { a: [] as string[], b: ['x'] };
    const idsOf = map((all: readonly { readonly contractId: string }[]) => all.map(({ contractId }) => contractId));
    expectObservable(view.all$().pipe(idsOf)).toBe('                   --a--b--a', values);
    expectObservable(view.all$(() => 0).pipe(idsOf)).toBe('            --a--b--a', values);
    expectObservable(view.select$(() => true).pipe(idsOf)).toBe('       --a--b--a', values);
    expectObservable(view.count$()).toBe('                              --a--b--a', { a: 0, b: 1 });
    expectObservable(view.byId$('x').pipe(map((x) => x?.contractId))).toBe('--a--b--a', { a: undefined, b: 'x' });
  });

  itInVirtualTime(
    'is stale while a request is retried, then live by what the answer brings, and emits no contracts for that (pitfall 31)',
    ({ cold, expectObservable, flush }) => {
      const make = new StepMaker();
      const view = viewOf(
        cold('a----b----c----d----e', {
          a: make.reset(['x']),
          b: retryIn(2_000),
          c: retryIn(500, 2),
          d: answered,
          e: make.checkpoint(),
        }),
      );
      expectObservable(briefs(view.state$)).toBe('(ab)-c----d----e----f', {
        a: 'loading/connecting',
        b: 'live/open 1 x',
        c: 'stale/retrying 1 x',
        d: 'stale/retrying 1 x',
        e: 'stale/open 1 x',
        f: 'live/open 2 x',
      });
      expectObservable(listOf(view.all$())).toBe('x', { x: 'x' });
      expectObservable(view.count$()).toBe('x', { x: 1 });
      const seen = observe(view.state$);
      flush();
      expect(seen.values.map(({ connection }) => connection).filter(({ status }) => status === 'retrying')).toEqual([
        { status: 'retrying', cause: unavailable, attempt: 1, retryAt: 2_005 },
        { status: 'retrying', cause: unavailable, attempt: 2, retryAt: 510 },
      ]);
    },
  );

  it('emits states that do not change', () => {
    const { make, happen, view } = scripted();
    const live$ = view.state$.pipe(filter((state) => state.data === 'live'));
    const seen = observe(live$);
    const pairs = observe(
      live$.pipe(
        pairwise(),
        map((pair) => pair.map(({ contracts }) => ids(contracts)).join(' ')),
      ),
    );
    const sizes = observe(live$.pipe(distinctUntilChanged((a, b) => a.contracts.size === b.contracts.size)));
    happen(make.reset(['x', 'y']), make.checkpoint());
    happen(make.page({ put: ['z', ['y', 'b']], remove: ['x'] }), make.page({ put: ['w'] }));
    expect(pairs.values).toEqual(['xy xy', 'xy yz', 'yz yzw']);
    expect(sizes.values.map(({ contracts }) => contracts.size)).toEqual([2, 3]);
    const [first, second, third] = seen.values.map(({ contracts }) => contracts);
    expect(second).toBe(first);
    expect(first?.toArray()).toBe(first?.toArray());
    expect([first?.size, first?.has('x'), first?.has('z'), first?.get('x')]).toEqual([2, true, false, contract('x')]);
    expect(first?.get('y')).toEqual(contract('y'));
    expect([third?.size, third?.has('x'), third?.get('y')]).toEqual([2, false, contract('y', 'b', 1)]);
  });

  itInVirtualTime(
    'shows the contracts before a gap, as stale, until the new ones are whole',
    ({ cold, expectObservable }) => {
      const make = new StepMaker();
      const view = viewOf(
        cold('a----b----c----d', {
          a: make.reset(['x', 'y']),
          b: { _tag: 'FeedEnded', how: 'failed' },
          c: { _tag: 'SnapshotPageReceived', count: 1, total: 1, durationMs: 1 },
          d: make.reset(['z'], 'pruned'),
        }),
      );
      expectObservable(briefs(view.state$)).toBe('(ab)-c---------d', {
        a: 'loading/connecting',
        b: 'live/open 1 xy',
        c: 'stale/open 1 xy',
        d: 'live/open 2 z',
      });
      expectObservable(changesOf(view)).toBe('    (ab)-----------c', {
        a: 'Reset 1 start x,y',
        b: 'CaughtUp 1',
        c: 'Reset 2 pruned z',
      });
      expectObservable(listOf(view.all$())).toBe('a--------------b', { a: 'xy', b: 'z' });
      expectObservable(listOf(view.select$(({ contractId }) => contractId > 'x'))).toBe('a--------------b', {
        a: 'y',
        b: 'z',
      });
      expectObservable(view.count$(({ contractId }) => contractId > 'x')).toBe('a', { a: 1 });
    },
  );

  describe('is shared', () => {
    itInVirtualTime(
      'by its subscribers: a later one has the contracts at once, and there is one snapshot (pitfall 46)',
      ({ cold, expectObservable, expectSubscriptions }) => {
        const make = new StepMaker();
        const happening$ = cold('--a--b', { a: make.reset(['x']), b: make.page({ put: ['y'] }) });
        const view = viewOf(happening$);
        expectObservable(listOf(view.all$()), '   ^---------!').toBe('--a--b', { a: 'x', b: 'xy' });
        expectObservable(listOf(view.all$()), '   ---^------!').toBe('---a-b', { a: 'x', b: 'xy' });
        expectObservable(briefs(view.state$), '   ------^-----!').toBe('------a', { a: 'live/open 2 xy' });
        expectObservable(view.count$(), '         -------^-!').toBe('-------a', { a: 2 });
        expectSubscriptions(happening$.subscriptions).toBe('^-----------!');
      },
    );

    itInVirtualTime(
      'until the last one leaves; the next one begins anew (pitfall 46)',
      ({ cold, expectObservable, expectSubscriptions }) => {
        const make = new StepMaker();
        const happening$ = cold('-a', { a: make.reset(['x']) });
        const view = viewOf(happening$);
        expectObservable(view.count$(), '      ^---!').toBe('   -a', { a: 1 });
        expectObservable(briefs(view.state$), '-----^--!').toBe('-----ab', {
          a: 'loading/connecting',
          b: 'live/open 2 x',
        });
        expectSubscriptions(happening$.subscriptions).toBe(['^---!', '-----^--!']);
      },
    );
  });

  describe('changes$', () => {
    itInVirtualTime(
      'has each change once; a later subscriber begins with a reset of what is there',
      ({ cold, expectObservable }) => {
        const make = new StepMaker();
        const view = viewOf(
          cold('a-----b-----c-----d', {
            a: make.reset(['x'], 'start', false),
            b: make.page({ put: ['y'] }, { put: [['x', 'b']], remove: ['y'] }),
            c: make.checkpoint(),
            d: make.behind({ put: ['z'] }),
          }),
        );
        const values = {
          a: 'Reset 1 start x',
          b: 'ContractsChanged 2 +y',
          c: 'ContractsChanged 3 -y ~x',
          d: 'CaughtUp 3',
          e: 'OffsetCheckpoint 4',
          f: 'ContractsChanged 5 +z',
          g: 'FellBehind 5',
          r: 'Reset 3 start x',
        };
        expectObservable(changesOf(view)).toBe('             a-----(bcd)-e-----(fg)', values);
        expectObservable(changesOf(view), '-------^').toBe('-------(rd)-e-----(fg)', values);
      },
    );

    it('never loses one, whatever its subscriber does meanwhile (pitfall 48)', () => {
      const { make, happen, view } = scripted();
      const inner: Observed<string>[] = [];
      view.changes$.subscribe(() => {
        if (inner.length < 4) inner.push(observe(changesOf(view)));
      });
      happen(make.reset(['x']), make.page({ put: ['y'] }, { put: ['z'] }));
      const early = ['Reset 1 start x', 'CaughtUp 1', 'ContractsChanged 2 +y', 'ContractsChanged 3 +z'];
      const late = ['Reset 3 start x,y,z', 'CaughtUp 3'];
      expect(inner.map(({ values }) => values)).toEqual([early, early, late, late]);
    });
  });

  describe('an error', () => {
    const failure = new Error('mine');
    const fail = (): never => {
      throw failure;
    };

    it('of a predicate or an order ends only its subscription (pitfall 49)', () => {
      const { make, happen, happening$, view } = scripted();
      const before = observe(listOf(view.all$()));
      const failing = [
        view.select$(({ contractId }) => contractId === 'y' && fail()),
        view.count$(({ contractId }) => contractId === 'y' && fail()),
        view.all$((a, b) => (a.contractId === 'y' || b.contractId === 'y' ? fail() : 0)),
        view.select$(() => true, fail),
      ].map((each$) => observe<unknown>(each$));
      const after = observe(changesOf(view));
      happen(make.reset(['x']));
      expect(failing.map(({ error }) => error)).toEqual(Array(4).fill(undefined));
      happen(make.page({ put: ['y'] }));
      expect(failing.map(({ error }) => error)).toEqual(Array(4).fill(failure));
      happen(make.page({ put: ['z'] }));
      expect(before.values).toEqual(['x', 'xy', 'xyz']);
      expect(after.values.slice(2)).toEqual(['ContractsChanged 2 +y', 'ContractsChanged 3 +z']);
      expect(happening$.observed).toBe(true);
    });

    it("of a subscriber's handler does not concern the others (pitfall 49)", async () => {
      const thrown: unknown[] = [];
      config.onUnhandledError = (error) => thrown.push(error);
      const { make, happen, view } = scripted();
      view.all$().subscribe(fail);
      view.changes$.subscribe(fail);
      const seen = observe(listOf(view.all$()));
      happen(make.reset(['x']), make.page({ put: ['y'] }));
      expect(seen.values).toEqual(['x', 'xy']);
      await setImmediate();
      await setTimeout(1);
      config.onUnhandledError = null;
      expect(new Set(thrown)).toEqual(new Set([failure]));
    });

    itInVirtualTime(
      'of the ledger reaches all subscribers, and the view can be subscribed to again (pitfall 51)',
      ({ cold, expectObservable, expectSubscriptions }) => {
        const make = new StepMaker();
        const happening$ = cold('a---#', { a: make.reset(['x']) }, unavailable);
        const view = viewOf(happening$);
        expectObservable(view.count$(), '             ^-----!').toBe('a---#', { a: 1 }, unavailable);
        expectObservable(view.atOffset(7), '          -^----!').toBe('----#', {}, unavailable);
        expectObservable(view.count$().pipe(retry(1))).toBe('         a---a---#', { a: 1 }, unavailable);
        expectSubscriptions(happening$.subscriptions).toBe(['^---!', '----^---!']);
      },
    );
  });

  describe('atOffset', () => {
    itInVirtualTime(
      'emits once and completes when the offset is applied, also if nothing of it is in the view (pitfall 56)',
      ({ cold, expectObservable }) => {
        const make = new StepMaker();
        const view = viewOf(cold('-a-b-c', { a: make.reset([]), b: make.page({ put: ['x'] }), c: make.checkpoint() }));
        expectObservable(view.count$()).toBe('           -a-b', { a: 0, b: 1 });
        expectObservable(view.atOffset(1)).toBe('        -(a|)', { a: 1 });
        expectObservable(view.atOffset(2)).toBe('        ---(a|)', { a: 2 });
        expectObservable(view.atOffset(3)).toBe('        -----(a|)', { a: 3 });
        expectObservable(view.atOffset(1), '----^').toBe('----(a|)', { a: 2 });
        expectObservable(view.atOffset(4)).toBe('        -');
      },
    );

    it('has its contracts in the view when it emits', () => {
      const make = new StepMaker();
      const view = viewOf(of(make.reset(['x']), make.page({ put: ['y'] })));
      const seen = observe(view.atOffset(2).pipe(concatMap(() => view.all$().pipe(take(1)))));
      expect(seen.values.map(ids)).toEqual(['xy']);
    });
  });
});
