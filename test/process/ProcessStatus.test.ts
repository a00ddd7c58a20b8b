import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, count, defer, distinctUntilChanged, map, of, tap, throwError, timer } from 'rxjs';
import { memoryStore } from '../../src/process/memoryStore.js';
import type { Committed } from '../../src/process/ProcessOptions.js';
import { isReady, type ProcessStatus, toStatus } from '../../src/process/ProcessStatus.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';

const recordTimes = { a: '1970-01-01T00:00:01Z', b: '1970-01-01T00:00:00.5Z' };
const commit = (offset: number, handled: number, isCaughtUp = false): Committed => ({
  offset,
  recordTimes,
  handled,
  isCaughtUp,
});

describe('toStatus', () => {
  const waiting = (at: number, ledgerEnd?: number): ProcessStatus => ({
    role: 'starting',
    state: 'waiting',
    handled: 0,
    updatesPerSecond: 0,
    at,
    ...(ledgerEnd !== undefined && { ledgerEnd, seenAt: at }),
  });

  it('is waiting, then catching up, then caught up', () => {
    marbles(({ cold, expectObservable }) => {
      const committed$ = cold('-- 998ms a 999ms b 999ms |', { a: commit(40, 30), b: commit(50, 10, true) });
      const status$ = committed$.pipe(toStatus(of(50), { everyMs: 60_000 }));
      const times = { recordTime: '1970-01-01T00:00:01Z', ledgerEnd: 50, seenAt: 0 };
      expectObservable(status$).toBe('(xy) 996ms a 999ms b 999ms |', {
        x: waiting(0),
        y: waiting(0, 50),
        a: {
          role: 'leader',
          state: 'catchingUp',
          ...times,
          offset: 40,
          lagOffsets: 10,
          recordTimeLagMs: 0,
          handled: 30,
          updatesPerSecond: 3,
          committedAt: 1_000,
          at: 1_000,
        },
        b: {
          role: 'leader',
          state: 'caughtUp',
          ...times,
          offset: 50,
          lagOffsets: 0,
          recordTimeLagMs: 1_000,
          handled: 40,
          updatesPerSecond: 4,
          committedAt: 2_000,
          at: 2_000,
        },
      });
    });
  });

  it('has a role: a leader that has lost its name is a standby, and its last cursor is no lag', () => {
    marbles(({ cold, expectObservable }) => {
      const standby: Committed = { ...commit(50, 0), role: 'standby' };
      const committed$ = cold<Committed>('-a-s-t-b|', {
        a: commit(50, 10, true),
        s: { ...standby, role: 'starting' },
        t: standby,
        b: commit(70, 20, true),
      });
      const roles$ = committed$.pipe(
        toStatus(of(70), { everyMs: 60_000 }),
        map(({ role, state, lagOffsets }) => `${role} ${state} ${String(lagOffsets)}`),
        distinctUntilChanged(),
      );
      expectObservable(roles$).toBe('0a-s-t-b|', {
        0: 'starting waiting undefined',
        a: 'leader caughtUp 20',
        s: 'starting waiting undefined',
        t: 'standby waiting undefined',
        b: 'leader caughtUp 0',
      });
    });
  });

  it('has the rate of the last ten seconds, and of no more', () => {
    marbles(({ cold, flush }) => {
      const committed$ = cold('500ms a 20s |', { a: commit(40, 30) });
      const seen = observe(committed$.pipe(toStatus(of(50), { everyMs: 1_000 })));
      flush();
      const rateAt = (ms: number) => seen.values.find(({ at }) => at === ms)?.updatesPerSecond;
      expect([rateAt(500), rateAt(9_000), rateAt(10_000), rateAt(11_000)]).toEqual([3, 3, 0, 0]);
    });
  });

  it('has a rate that a later commit does not shorten', () => {
    marbles(({ cold, flush }) => {
      const committed$ = cold('500ms a 8999ms b |', { a: commit(40, 30), b: commit(50, 20) });
      const seen = observe(committed$.pipe(toStatus(of(50))));
      flush();
      expect(seen.values.findLast(({ at }) => at === 9_500)?.updatesPerSecond).toBe(5);
    });
  });

  it.each([-86_400_000, 86_400_000])(
    'has a rate of the last ten seconds, and a fresh ledger end, after a clock set by %d ms',
    (by) => {
      marbles(({ cold, flush }) => {
        const real = asyncScheduler.now.bind(asyncScheduler);
        const committed$ = cold('500ms a 59s |', { a: commit(40, 30) });
        timer(5_000).subscribe(() => {
          jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + by);
        });
        const ready: boolean[] = [];
        const seen = observe(
          committed$.pipe(
            toStatus(of(40), { everyMs: 1_000 }),
            tap((status) => ready.push(isReady(status))),
          ),
        );
        flush();
        jest.restoreAllMocks();
        expect(seen.values.at(-1)).toMatchObject({ updatesPerSecond: 0, lagOffsets: 0 });
        // from the first commit on
        expect(ready.slice(3)).not.toContain(false);
      });
    },
  );

  it('reads the ledger end at an interval, one request at a time', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const committed$ = cold<Committed>('-----------|');
      const end$ = cold('     ---(e|)', { e: 7 });
      const status$ = committed$.pipe(toStatus(end$, { everyMs: 2 }));
      expectObservable(status$).toBe('w--x---y---|', { w: waiting(0), x: waiting(3, 7), y: waiting(7, 7) });
      expectSubscriptions(end$.subscriptions).toBe(['^--!', '----^--!', '--------^--!']);
    });
  });

  it('has no ledger end if it cannot be read', () => {
    marbles(({ cold, expectObservable }) => {
      const end$ = cold<number>('     -#');
      const status$ = cold<Committed>('--|').pipe(toStatus(end$));
      expectObservable(status$).toBe('wx|', { w: waiting(0), x: waiting(1) });
    });
  });

  it('has no lag while the ledger end cannot be read: the last one may be wrong', () => {
    marbles(({ cold, flush }) => {
      let readings = 0;
      const end$ = defer(() => (readings++ === 1 ? throwError(() => new Error('down')) : of(7)));
      const committed$ = cold<Committed>('a 12ms |', { a: commit(7, 1, true) });
      const seen = observe(committed$.pipe(toStatus(end$, { everyMs: 5 })));
      flush();
      const last = seen.values.filter(({ state }) => state === 'caughtUp');
      expect(last.map(({ lagOffsets }) => lagOffsets)).toEqual([0, undefined, 0]);
      expect(last.map(({ ledgerEnd }) => ledgerEnd)).toEqual([7, 7, 7]);
    });
  });

  it('has the number of parked updates, read anew each time, and none while that fails', () => {
    marbles(({ cold, flush }) => {
      const store = memoryStore();
      let isDown = false;
      const parked$ = defer(() => (isDown ? throwError(() => new Error('down')) : store.parked('a'))).pipe(count());
      const committed$ = cold<Committed>('5s a 30s |', { a: commit(7, 1, true) });
      const seen = observe(committed$.pipe(toStatus(of(7), { parked$ })));
      timer(12_000).subscribe(() => void store.park('a', 7, {}));
      timer(22_000).subscribe(() => (isDown = true));
      flush();
      const at = (ms: number) => seen.values.findLast((status) => status.at <= ms)?.parked;
      expect([1_000, 11_000, 16_000, 26_000].map(at)).toEqual([0, 0, 1, undefined]);
    });
  });

  it('errors with its processor', () => {
    marbles(({ cold, expectObservable }) => {
      const status$ = cold<Committed>('-#').pipe(toStatus(cold('-----(e|)', { e: 7 })));
      expectObservable(status$).toBe('w#', { w: waiting(0) });
    });
  });

  it('has behindSince until the processor reaches the ledger end of that time', () => {
    marbles(({ cold, expectObservable }) => {
      const committed$ = cold('a-----b-c-|', { a: commit(10, 1, true), b: commit(12, 1), c: commit(15, 1) });
      const end$ = cold('     (e|)', { e: 15 });
      const since$ = committed$.pipe(
        toStatus(end$, { everyMs: 3 }),
        map(({ behindSince }) => behindSince),
        distinctUntilChanged(),
      );
      expectObservable(since$).toBe('(ut)----u-|', { u: undefined, t: 0 });
    });
  });
});

describe('isReady', () => {
  const now = Date.now();
  const status: ProcessStatus = {
    role: 'leader',
    state: 'caughtUp',
    seenAt: now,
    handled: 0,
    updatesPerSecond: 0,
    at: now,
  };

  const lag = (lagOffsets: number) => ({ offset: 100, ledgerEnd: 100 + lagOffsets, lagOffsets });

  it.each<[string, Partial<ProcessStatus>, Parameters<typeof isReady>[1], boolean]>([
    ['has caught up', {}, {}, true],
    ['is catching up', { state: 'catchingUp', ...lag(1) }, {}, false],
    ['lags within the limit', { state: 'catchingUp', ...lag(10) }, { maxLagOffsets: 10 }, true],
    ['lags beyond the limit', { state: 'catchingUp', ...lag(11) }, { maxLagOffsets: 10 }, false],
    ['lags by an unknown number of offsets', { state: 'catchingUp' }, { maxLagOffsets: 10 }, false],
    ['is a standby', { role: 'standby', state: 'waiting' }, {}, true],
    ['is a standby, if that is not enough', { role: 'standby', state: 'waiting' }, { isStandbyReady: false }, false],
    ['is starting', { role: 'starting', state: 'waiting' }, {}, false],
    ['has not read the ledger end for a while', { seenAt: now - 61_000 }, {}, false],
    [
      'is a standby and has not read the ledger end',
      { role: 'standby', state: 'waiting', seenAt: now - 61_000 },
      {},
      false,
    ],
    ['has caught up and been behind for a short time', { ...lag(5), behindSince: now - 50_000 }, {}, true],
    ['has caught up and been behind for a long time', { ...lag(5), behindSince: now - 61_000 }, {}, false],
  ])('of a processor that %s', (_, changes, options, expected) => {
    expect(isReady({ ...status, ...changes }, options)).toBe(expected);
  });
});
