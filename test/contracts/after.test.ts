import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BehaviorSubject, map, type Observable, of, Subject } from 'rxjs';
import type { ContractsBatch } from '../../src/contracts/ContractChange.js';
import { conflate } from '../../src/contracts/conflate.js';
import { contractsFor } from '../../src/contracts/contractsFor.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { LiveState } from '../../src/contracts/LiveState.js';
import { shareViews } from '../../src/contracts/shareContracts.js';
import { toLiveContracts } from '../../src/contracts/liveContracts.js';
import { loading, type View } from '../../src/contracts/LiveState.js';
import type { LedgerPosition } from '../../src/codecs/LedgerPosition.js';
import { observe, type Observed } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { briefState } from './brief.js';
import { StepMaker, unavailable } from './scriptedJoin.js';

const at = (second: number): string => `2026-07-24T10:00:${String(second).padStart(2, '0')}Z`;
/** A transaction of which the step at its offset shows the contract. */
const transaction = (offset: number, second = 0) => ({ offset, synchronizerId: 'a', recordTime: at(second) });
const live = (known: ContractsBatch<AnyContract>): View<AnyContract> => ({
  connection: { status: 'open' },
  isLive: known.isCaughtUp,
  known,
});
const briefs = (state$: Observable<LiveState>): Observable<string> => state$.pipe(map(briefState));

describe('atOffset', () => {
  it.each([Number.NaN, -1, 1.5, 2 ** 53, Infinity, undefined as never, '1' as never])(
    'refuses what is not an offset, which the view would never reach: %s',
    (offset) => {
      const view = toLiveContracts(new BehaviorSubject<View<AnyContract>>(loading));
      for (const each of [view, contractsFor(view, ['alice::1220ab'])])
        expect(() => each.atOffset(offset)).toThrow(TypeError);
    },
  );
});

/** A step whose position is another one. */
const moved = (
  step: ContractsBatch<AnyContract>,
  position: Partial<LedgerPosition>,
  isAddressed = true,
): View<AnyContract> =>
  live({ ...step, position: { ...step.position, ...position }, origin: { ...step.origin, isAddressed } });

describe('after', () => {
  itInVirtualTime(
    'emits the first state that includes the transaction, and completes, also if nothing of it is in the view',
    ({ cold, expectObservable }) => {
      const make = new StepMaker();
      const view = toLiveContracts<AnyContract>(
        cold('l-a-b-c', {
          l: loading,
          a: live(make.reset(['x'])()),
          b: live(make.page({ put: ['y'] })()),
          c: live(make.checkpoint()()),
        }),
      );
      const states = { a: 'live/open 1 x', b: 'live/open 2 xy', c: 'live/open 3 xy' };
      expectObservable(briefs(view.after(transaction(1)))).toBe('--(a|)', states);
      expectObservable(briefs(view.after(transaction(2)))).toBe('----(b|)', states);
      expectObservable(briefs(view.after(transaction(3)))).toBe('------(c|)', states);
      expectObservable(briefs(view.after(transaction(4)))).toBe('-', states);
    },
  );

  it('emits at once if the view includes it already', () => {
    const make = new StepMaker();
    make.reset([])();
    const view = toLiveContracts(of(live(make.page({ put: ['x'] })())));
    expect(observe(briefs(view.after(transaction(2)))).values).toEqual(['live/open 2 x']);
  });

  it('emits nothing for a view that only changes its connection', () => {
    const make = new StepMaker();
    const known = make.reset(['x'])();
    const views$ = new BehaviorSubject(live(known));
    const after = observe(toLiveContracts(views$).after(transaction(2)));
    views$.next({ connection: { status: 'open' }, isLive: false, known });
    views$.next({ connection: { status: 'open' }, isLive: true, known });
    expect(after).toMatchObject({ values: [], error: undefined, completed: false });
  });

  it('fails with the error of the view', () => {
    const views$ = new BehaviorSubject(live(new StepMaker().reset(['x'])()));
    const after = observe(toLiveContracts(views$).after(transaction(2)));
    views$.error(unavailable);
    expect(after.error).toBe(unavailable);
  });

  it('fails when another ledger takes the place of the first, whatever its offsets', () => {
    const make = new StepMaker();
    const views$ = new BehaviorSubject(live(make.reset(['x'])()));
    const view = toLiveContracts(views$);
    const after = observe(view.after(transaction(2)));
    views$.next(live(make.reset(['z'], 'ledgerReset')()));
    expect(after).toMatchObject({ values: [], error: { _tag: 'LedgerResetError', cursor: 2 } });
    // a transaction of the other ledger
    expect(observe(briefs(view.after(transaction(2)))).values).toEqual(['live/open 2 z']);
    const later = observe(briefs(view.after(transaction(3))));
    // the same step again, with another state of the connection
    views$.next({ ...views$.value, isLive: false });
    views$.next(live(make.reset(['w'], 'pruned')()));
    expect(later.values).toEqual(['live/open 3 w']);
  });

  it('knows by its record time whether it is included at other offsets of a restored participant', () => {
    const make = new StepMaker();
    const point = { recordTime: at(5), updateId: 'u5' };
    const views$ = new BehaviorSubject(live(make.reset(['x'])()));
    const view = toLiveContracts(views$);
    const after = observe(view.after(transaction(1, 7)));
    expect(after.values).toHaveLength(1);
    // the feed reads again at other offsets: the old one says nothing
    views$.next(moved(make.page({ put: ['y'] })(), { offset: 90, recordTimes: { a: point } }, false));
    const waiting = observe(briefs(view.after(transaction(40, 7))));
    const passed = observe(briefs(view.after(transaction(95, 5))));
    expect(waiting.values).toEqual([]);
    expect(passed.values).toEqual(['live/open 2 xy']);
    views$.next(moved(make.page({ put: ['z'] })(), { offset: 90, recordTimes: { b: { recordTime: at(9) } } }, false));
    expect(waiting.values).toEqual([]);
    const times = { a: { recordTime: at(7), updateId: 'u7' } };
    views$.next(moved(make.page({ put: ['w'] })(), { offset: 90, recordTimes: times }, false));
    expect(waiting.values).toEqual(['live/open 4 xyzw']);
  });

  itInVirtualTime(
    'does not compare an offset with those after a restore, also if all that was read before is passed',
    ({ cold, expectObservable }) => {
      const make = new StepMaker();
      const reached = (offset: number, second: number, isMoved = false): View<AnyContract> => {
        const recordTimes = { a: { recordTime: at(second), updateId: `u${second}` } };
        const step = { ...make.page({ put: [`${second}`] })(), isMoved };
        return moved(step, { offset, participantId: 'p1', recordTimes });
      };
      const [a, b, c, d] = [reached(50, 4), reached(60, 5, true), reached(61, 6), reached(62, 7)];
      const view = toLiveContracts<AnyContract>(cold('abc-----d', { a, b, c, d }));
      const included = { d: 'live/open 4 4567' };
      expectObservable(briefs(view.after(transaction(55, 7)))).toBe('--------(d|)', included);
      expectObservable(briefs(conflate(view, 5).after(transaction(55, 7)))).toBe('----------(d|)', included);
    },
  );

  it('does not compare offsets of two participants; a checkpoint shows how far the other one has come', () => {
    const make = new StepMaker();
    const views$ = new BehaviorSubject(moved(make.reset(['x'])(), { participantId: 'p1' }));
    const after = observe(briefs(toLiveContracts(views$).after(transaction(3, 7))));
    views$.next(moved(make.reset(['x'])(), { participantId: 'p2', offset: 50 }));
    const checkpoint = (second: number) => ({
      ...make.checkpoint()(),
      items: [
        {
          _tag: 'OffsetCheckpoint' as const,
          offset: 50,
          synchronizerTimes: [
            { synchronizerId: 'b', recordTime: at(59) },
            { synchronizerId: 'a', recordTime: at(second) },
          ],
        },
      ],
    });
    views$.next(moved(checkpoint(6), { participantId: 'p2', offset: 50 }));
    expect(after.values).toEqual([]);
    views$.next(moved(checkpoint(7), { participantId: 'p2', offset: 50 }));
    expect(after.values).toEqual(['live/open 4 x']);
  });

  it('of a shared view survives a reload', () => {
    const make = new StepMaker();
    const step$ = new Subject<View<AnyContract>>();
    const shared = shareViews(() => step$);
    const view = shared.view({ parties: 'any' });
    const after = observe(briefs(view.after(transaction(3))));
    step$.next(live(make.reset(['x'])()));
    view.reload();
    step$.next(live(make.reset(['x'])()));
    expect(after.values).toEqual([]);
    step$.next(live(make.page({ put: ['y'] })()));
    expect(after.values).toEqual(['live/open 3 xy']);
    shared.clear();
  });

  itInVirtualTime('of a conflated view emits what the view shows', ({ cold, expectObservable }) => {
    const make = new StepMaker();
    const view$ = cold('a--b', { a: live(make.reset(['x'])()), b: live(make.page({ put: ['y'] })()) });
    const view = conflate(toLiveContracts<AnyContract>(view$), 10);
    expectObservable(briefs(view.after(transaction(2)))).toBe('----------(b|)', { b: 'live/open 2 xy' });
  });

  it('of what some parties see emits when the shared view includes it, whatever they see of it', () => {
    const make = new StepMaker();
    const alice = 'alice::1220ab';
    const seenBy = (known: ContractsBatch<AnyContract>, parties: readonly string[]): View<AnyContract> => {
      const witnessed = (contract: AnyContract): AnyContract => {
        const createdEvent = { ...contract.createdEvent, witnessParties: [...parties] };
        return { ...contract, signatories: [...parties], observers: [], createdEvent };
      };
      const items = known.items.map((item) =>
        item._tag === 'ContractsChanged' ? { ...item, added: item.added.map(witnessed) } : item,
      );
      return live({ ...known, items });
    };
    const views$ = new BehaviorSubject<View<AnyContract>>(loading);
    const forAlice = contractsFor(toLiveContracts(views$), [alice]);
    const [first, second] = [2, 3].map((offset) => observe(briefs(forAlice.after(transaction(offset)))));
    const offsets = observe(forAlice.atOffset(2));
    const all = observe(forAlice.all$());
    views$.next(live(make.reset([])()));
    expect(first?.values).toEqual([]);
    views$.next(seenBy(make.page({ put: ['x'] })(), ['bob::1220cd']));
    expect([first?.values, offsets.values]).toEqual([['live/open 2 '], [2]]);
    views$.next(seenBy(make.page({ put: ['y'] })(), [alice]));
    expect(second?.values).toEqual(['live/open 3 y']);
    expect(observe(briefs(forAlice.after(transaction(2)))).values).toEqual(['live/open 3 y']);
    const gone = observe(forAlice.after(transaction(4)));
    views$.next(live(make.reset([], 'ledgerReset')()));
    expect(gone.error).toMatchObject({ _tag: 'LedgerResetError' });
    all.subscription.unsubscribe();
  });

  it('never emits a state without what the transaction has created', () => {
    const anySteps = fc.array(fc.constantFrom('page', 'checkpoint', 'pruned', 'connection'), { maxLength: 12 });
    fc.assert(
      fc.property(anySteps, fc.nat(12), fc.nat(12), (steps, subscribedAt, target) => {
        const make = new StepMaker();
        const views$ = new BehaviorSubject<View<AnyContract>>(loading);
        const view = toLiveContracts(views$);
        const subscribed: Observed<LiveState>[] = [];
        let ids: string[] = [];
        let hasTarget = false;
        steps.forEach((kind, index) => {
          if (index === subscribedAt) subscribed.push(observe<LiveState>(view.after(transaction(target))));
          const id = `c${make.offset + 1}`;
          if (kind === 'page') views$.next(live(make.page({ put: [id] })()));
          if (kind === 'page') ids = [...ids, id];
          if (kind === 'checkpoint') views$.next(live(make.checkpoint()()));
          if (kind === 'pruned') views$.next(live(make.reset(ids, 'pruned')()));
          if (kind === 'connection') views$.next({ ...views$.value, connection: { status: 'open' } });
          hasTarget ||= views$.value.known !== undefined && make.offset >= target;
        });
        const [after] = subscribed;
        const state = after?.values[0];
        if (after !== undefined) expect(after.completed).toBe(hasTarget);
        if (state === undefined || state.data === 'loading') return;
        expect(state.offset).toBeGreaterThanOrEqual(target);
        expect(state.contracts.has(`c${target}`)).toBe(ids.includes(`c${target}`));
      }),
    );
  });
});
