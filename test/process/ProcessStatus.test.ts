import { describe, expect, it, jest } from '@jest/globals';
import {
  asyncScheduler,
  defer,
  NEVER,
  type Observable,
  type ObservableInput,
  of,
  takeWhile,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { HandlerError } from '../../src/errors/process.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import type { Committed } from '../../src/process/ProcessOptions.js';
import { withProcessStatus } from '../../src/process/processorStatus.js';
import { isReady, type ProcessStatus, type ReadyOptions, whyNotReady } from '../../src/process/ProcessStatus.js';
import { Stopper } from '../../src/process/Stop.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { until } from './support.js';

const recordTimes = { a: '1970-01-01T00:00:01Z', b: '1970-01-01T00:00:00.5Z' };
const commit = (offset: number, handled: number, isCaughtUp = false): Committed => ({
  offset,
  recordTimes,
  handled,
  isCaughtUp,
});

const stopper = new Stopper(undefined);

describe('the status of a processor', () => {
  const waiting = (at: number, ledgerEnd?: number): ProcessStatus => ({
    role: 'starting',
    state: 'waiting',
    handled: 0,
    updatesPerSecond: 0,
    at,
    ...(ledgerEnd !== undefined && { ledgerEnd, seenAt: 0 }),
  });

  /** Runs a processor with some commits for some time, and observes its status. */
  function statusOf(
    commits: string,
    values: Readonly<Record<string, Committed>>,
    { ms = 30_000, end$ = of(50), parked, error }: StatusOf = {},
  ) {
    return marbles(({ cold, flush }) => {
      const processor = withProcessStatus(cold(commits, values, error), stopper, { end$, parked });
      const seen = observe(processor.status$.pipe(until(ms)));
      observe(processor.pipe(until(ms)));
      flush();
      return { values: seen.values, at: (time: number) => seen.values.findLast(({ at }) => at <= time) };
    });
  }
  interface StatusOf {
    readonly ms?: number;
    readonly end$?: Observable<number>;
    readonly parked?: () => ObservableInput<unknown>;
    readonly error?: Error;
  }

  it('is waiting, then catching up, then caught up, then ended', () => {
    const { at } = statusOf('2500ms a 999ms b 999ms |', { a: commit(40, 30), b: commit(50, 10, true) });
    const times = { recordTime: '1970-01-01T00:00:01Z', ledgerEnd: 50 };
    expect(at(2_499)).toStrictEqual({ ...waiting(2_000, 50), seenAt: 2_000 });
    expect(at(3_000)).toStrictEqual({
      role: 'leader',
      state: 'catchingUp',
      ...times,
      seenAt: 2_000,
      offset: 40,
      lagOffsets: 10,
      recordTimeLagMs: 2_000,
      handled: 30,
      updatesPerSecond: 3,
      committedAt: 2_500,
      at: 3_000,
    });
    const end = { ...times, offset: 50, handled: 40, updatesPerSecond: 4, committedAt: 3_500 };
    expect(at(4_000)).toStrictEqual({
      role: 'leader',
      state: 'caughtUp',
      ...end,
      seenAt: 4_000,
      lagOffsets: 0,
      recordTimeLagMs: 3_000,
      at: 4_000,
    });
    expect(at(4_500)).toStrictEqual({
      role: 'starting',
      state: 'ended',
      ...end,
      seenAt: 4_500,
      recordTimeLagMs: 3_500,
      at: 4_500,
    });
    expect(isReady(at(4_500) ?? waiting(0))).toBe(false);
  });

  it('has a role: a leader that has lost its name is a standby, and its last cursor is no lag', () => {
    const standby: Committed = { ...commit(50, 0), role: 'standby' };
    const { values } = statusOf(
      '1500ms a 1999ms s 1999ms t 1999ms b 1999ms |',
      {
        a: commit(50, 10, true),
        s: { ...standby, role: 'starting' },
        t: standby,
        b: commit(70, 20, true),
      },
      { end$: of(70) },
    );
    const roles = values.map(({ role, state, lagOffsets }) => `${role} ${state} ${String(lagOffsets)}`);
    expect(roles.filter((role, index) => role !== roles[index - 1])).toEqual([
      'starting waiting undefined',
      'leader caughtUp 20',
      'starting waiting undefined',
      'standby waiting undefined',
      'leader caughtUp 0',
      'starting ended undefined',
    ]);
  });

  it('is ready while the reading is recent and the lag is young, each by its own limit', () => {
    const status = {
      role: 'leader',
      state: 'caughtUp',
      offset: 40,
      ledgerEnd: 50,
      handled: 1,
      updatesPerSecond: 0,
    } as const;
    const now = asyncScheduler.now();
    const readyAfter = (seenMs: number, behindMs: number, options: ReadyOptions): boolean =>
      isReady({ ...status, seenAt: now - seenMs, behindSince: now - behindMs, at: now }, options);
    const limits = { maxAgeMs: 10_000_000, maxBehindMs: 2_000_000 };
    expect(readyAfter(9_000_000, 1_000_000, limits)).toBe(true);
    expect(readyAfter(11_000_000, 1_000_000, limits)).toBe(false);
    expect(readyAfter(9_000_000, 3_000_000, limits)).toBe(false);
    // the limit of the lag is that of the reading, unless it is given
    expect(readyAfter(1_000_000, 9_000_000, { maxAgeMs: 10_000_000 })).toBe(true);
    expect(readyAfter(1_000_000, 11_000_000, { maxAgeMs: 10_000_000 })).toBe(false);
  });

  it('has the rate of the last ten seconds, and of no more', () => {
    const { at } = statusOf('500ms a 20s |', { a: commit(40, 30) });
    expect([1_000, 9_000, 10_000, 11_000].map((ms) => at(ms)?.updatesPerSecond)).toEqual([3, 3, 0, 0]);
  });

  it('has a rate that a later commit does not shorten', () => {
    const { at } = statusOf('1500ms a 7999ms b 5s |', { a: commit(40, 30), b: commit(50, 20) });
    expect(at(10_000)?.updatesPerSecond).toBe(5);
  });

  it.each([-86_400_000, 86_400_000])(
    'has a rate of the last ten seconds, and a fresh ledger end, after a clock set by %d ms',
    (by) => {
      marbles(({ cold, flush }) => {
        const real = asyncScheduler.now.bind(asyncScheduler);
        const processor = withProcessStatus(cold('500ms a 59s |', { a: commit(40, 30) }), stopper, { end$: of(40) });
        timer(5_000).subscribe(() => {
          jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + by);
        });
        const ready: boolean[] = [];
        const seen = observe(
          processor.status$.pipe(
            takeWhile(({ state }) => state !== 'ended'),
            tap((status) => ready.push(isReady(status))),
          ),
        );
        observe(processor);
        flush();
        jest.restoreAllMocks();
        expect(seen.values.at(-1)).toMatchObject({ updatesPerSecond: 0, lagOffsets: 0 });
        // from the first commit on
        expect(ready.slice(5)).not.toContain(false);
      });
    },
  );

  it('reads the ledger end every two seconds, one request at a time, for all its subscribers', () => {
    marbles(({ cold, flush, expectSubscriptions }) => {
      const end$ = cold('7s (e|)', { e: 7 });
      const { status$ } = withProcessStatus(NEVER, stopper, { end$ });
      const [seen] = [observe(status$.pipe(until(14_500))), observe(status$.pipe(until(14_500)))];
      flush();
      expectSubscriptions(end$.subscriptions).toBe(['^ 6999ms !', '8s ^ 6499ms !']);
      // a status does not wait for the ledger end, and has it at once
      expect(seen.values.map(({ at, ledgerEnd }) => `${at} ${String(ledgerEnd)}`).slice(5, 9)).toEqual([
        '5000 undefined',
        '6000 undefined',
        '7000 7',
        '7000 7',
      ]);
    });
  });

  it('has no lag while the ledger end cannot be read: the last one may be wrong', () => {
    let readings = 0;
    const end$ = defer(() => (readings++ === 1 ? throwError(() => new Error('down')) : of(7)));
    const { at } = statusOf('a 20s |', { a: commit(7, 1, true) }, { end$ });
    expect([1_000, 3_000, 5_000].map((ms) => at(ms)?.lagOffsets)).toEqual([0, undefined, 0]);
    expect([1_000, 3_000, 5_000].map((ms) => at(ms)?.ledgerEnd)).toEqual([7, 7, 7]);
  });

  it('has the number of parked updates, read anew each time, and none while that fails', () => {
    const store = memoryStore();
    let isDown = false;
    const parked = () => (isDown ? throwError(() => new Error('down')) : store.parked('a'));
    const { at } = marbles(({ flush }) => {
      const processor = withProcessStatus(NEVER, stopper, { end$: of(7), parked });
      const seen = observe(processor.status$.pipe(until(35_000)));
      timer(12_000).subscribe(() => void store.park('a', 7, {}));
      timer(22_000).subscribe(() => (isDown = true));
      flush();
      return { at: (ms: number) => seen.values.findLast((status) => status.at <= ms) };
    });
    expect([1_000, 11_000, 21_000, 31_000].map((ms) => at(ms)?.parked)).toEqual([0, 0, 1, undefined]);
  });

  it.each<[Error, string]>([
    [new HandlerError(7, undefined, 1, new Error('no'), undefined), 'Offset: 7'],
    [new Error('secret'), 'it failed with an error of the program'],
  ])('says why it ended: %s', (error, expected) => {
    const { values } = statusOf('1500ms #', {}, { error });
    const last = values.at(-1);
    expect(last).toMatchObject({ role: 'starting', state: 'ended' });
    expect(last?.error).toContain(expected);
    expect(last?.error).not.toContain('secret');
  });

  it('has behindSince until the processor reaches the ledger end of that time', () => {
    const { values } = statusOf(
      '500ms a 8999ms b 4999ms c 1s |',
      { a: commit(10, 1, true), b: commit(12, 1), c: commit(15, 1) },
      { end$: of(15) },
    );
    const since = values.map(({ behindSince }) => behindSince);
    expect(since.filter((each, index) => each !== since[index - 1])).toEqual([2_000, undefined]);
  });

  it('counts from the beginning of each run', () => {
    marbles(({ cold, flush }) => {
      const processor = withProcessStatus(cold('a 1999ms |', { a: commit(7, 3, true) }), stopper, { end$: of(7) });
      const seen = observe(processor.status$.pipe(until(7_000)));
      observe(processor);
      timer(3_500).subscribe(() => observe(processor));
      flush();
      expect(seen.values.findLast(({ at }) => at < 3_500)).toMatchObject({ state: 'ended', handled: 3 });
      expect(seen.values.findLast(({ at }) => at < 5_000)).toMatchObject({ state: 'caughtUp', handled: 3 });
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

  it.each<[Partial<ProcessStatus>, ReadyOptions, string]>([
    [{ state: 'ended', error: 'no' }, {}, 'it has failed'],
    [{ state: 'ended' }, {}, 'it has ended'],
    [{ role: 'starting', state: 'waiting' }, {}, 'it starts: its store or the ledger has not answered'],
    [{ role: 'standby', state: 'waiting' }, { isStandbyReady: false }, 'another processor is the leader'],
    [{ role: 'standby', state: 'paused' }, { isStandbyReady: false }, 'it is paused'],
    [{ seenAt: now - 2_000 }, { maxAgeMs: 1_000 }, 'the ledger end has not been read for more than 1000 ms'],
    [{ state: 'catchingUp', ...lag(11) }, { maxLagOffsets: 10 }, 'it has not caught up'],
    [
      { behindSince: now - 2_000, ...lag(1) },
      { maxBehindMs: 1_000 },
      'the ledger end has been after its offset for more than 1000 ms',
    ],
  ])('says why %j is not ready with %j', (changes, options, reason) => {
    expect(whyNotReady({ ...status, ...changes }, options)).toBe(reason);
  });

  it('says that the ledger end has not been read', () => {
    const { seenAt, ...unseen } = status;
    expect(seenAt).toBe(now);
    expect(whyNotReady(unseen, {})).toBe('the ledger end has not been read');
  });
});
