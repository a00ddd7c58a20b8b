import { clearInterval, setInterval } from 'node:timers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, it, jest } from '@jest/globals';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';

export { until } from './servers.js';

/** Runs a marble test in virtual time, and returns its result. */
export const marbles = <A>(test: (helpers: RunHelpers) => A): A =>
  new TestScheduler((actual, expected) => {
    expect(actual).toStrictEqual(expected);
  }).run(test);

/** A test in virtual time. */
export const itInVirtualTime = (name: string, test: (helpers: RunHelpers) => void): void => {
  it(name, () => {
    marbles(test);
  });
};

/** Waits until a read value equals the expected one. At the time limit the difference fails the test. */
export async function eventually<Read>(read: () => Promise<Read>, expected: Read, withinMs = 150_000): Promise<void> {
  const end = Date.now() + withinMs;
  let last = await read();
  while (!isDeepStrictEqual(last, expected) && Date.now() < end) {
    await sleep(20);
    last = await read();
  }
  expect(last).toEqual(expected);
}

/**
 * Runs something that depends on the machine's clock, and repeats it if the event loop of this process stalled for that
 * many milliseconds meanwhile: a stalled process sends no heartbeats, so the result says nothing. The result is not looked
 * at here, so that no failure is hidden by a repetition.
 */
export async function repeatIfStalled<Result>(stallMs: number, run: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    const result = await run();
    delays.disable();
    // in nanoseconds
    if (delays.max / 1e6 < stallMs) return result;
  }
}

let processTime: ReturnType<typeof setInterval> | undefined;
let isFaked = false;

afterEach(() => {
  if (!isFaked) return;
  isFaked = false;
  clearInterval(processTime);
  jest.useRealTimers();
});

/**
 * Until the end of the test, timers and `performance` advance by at most `msPerTurn` milliseconds in each turn of the event
 * loop. Durations then measure how long the code waits, not how busy the machine is. `Date` and the timers inside Node.js
 * keep the machine's time.
 */
export function useProcessTime(msPerTurn = 1): void {
  isFaked = true;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'Date'] });
  processTime = setInterval(() => {
    jest.advanceTimersByTime(msPerTurn);
  }, 1);
}

/** A clock that stands still unless the test advances it. */
export interface StoppedClock {
  /** Resolves once a timer is waiting. */
  readonly hasTimer: () => Promise<void>;
  /** Advances the clock, and runs the timers that are due. */
  readonly advance: (ms: number) => Promise<void>;
}

/**
 * Stops the clock until the end of the test, so that nothing is late on a slow machine. The timers inside Node.js are not
 * affected: sockets and the request timeout of `node:timers/promises` work as usual.
 */
export function stopClock(): StoppedClock {
  isFaked = true;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
  const hasTimer = async () => {
    while (jest.getTimerCount() === 0) await nextTurn();
  };
  return { hasTimer, advance: (ms) => jest.advanceTimersByTimeAsync(ms) };
}
