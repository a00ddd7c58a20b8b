import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { afterEach, jest } from '@jest/globals';

/** The clock of the sandbox, which stands still unless the test lets time pass. */
export interface StoppedClock {
  /** Resolves once the sandbox waits for time to pass. */
  readonly isWaitedFor: () => Promise<void>;
  /** Lets time pass, and what is due in it happen. */
  readonly pass: (ms: number) => Promise<void>;
}

afterEach(() => {
  jest.useRealTimers();
});

/**
 * Stops the clock until the end of the test: however slow the machine, nothing is too late. Node.js itself has another, so
 * that sockets work all the same, and so do request timeouts.
 */
export function stoppedClock(): StoppedClock {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
  const isWaitedFor = async () => {
    while (jest.getTimerCount() === 0) await turnOfTheLoop();
  };
  return { isWaitedFor, pass: (ms) => jest.advanceTimersByTimeAsync(ms) };
}
