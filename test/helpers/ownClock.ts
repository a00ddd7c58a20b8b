import { clearInterval, setInterval } from 'node:timers';
import { afterEach, jest } from '@jest/globals';

let going: ReturnType<typeof setInterval> | undefined;
afterEach(() => {
  clearInterval(going);
  jest.useRealTimers();
});

/**
 * Has timers and `performance` go, until the end of the test, by the time that this process is given: by so many
 * milliseconds in a turn of the event loop at most. How long something takes then tells how long it waits, and not how busy
 * the machine is. `Date` is the machine's as ever, and so is what Node.js itself does by timers.
 */
export function ownClock(msPerTurn = 1): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'Date'] });
  going = setInterval(() => {
    jest.advanceTimersByTime(msPerTurn);
  }, 1);
}
