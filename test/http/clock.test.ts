import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, timer } from 'rxjs';
import { monotonicNow, startAge, stopwatch } from '../../src/http/clock.js';
import { marbles } from '../helpers/time.js';

const hour = 3_600_000;

afterEach(() => {
  jest.restoreAllMocks();
});

/** Sets the machine's clock by so many milliseconds. */
function setClock(by: number): void {
  const real = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => real() + by);
}

describe.each([-24 * hour, -hour, hour, 24 * hour])('a clock that is set by %d ms', (by) => {
  it('does not change a duration (G20)', () => {
    const tookMs = stopwatch();
    setClock(by);
    expect(tookMs()).toBeGreaterThanOrEqual(0);
    expect(tookMs()).toBeLessThan(10_000);
  });

  it('does not change a duration in virtual time', () => {
    marbles(({ flush }) => {
      const tookMs = stopwatch();
      const real = asyncScheduler.now.bind(asyncScheduler);
      jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + by);
      let took = 0;
      timer(70_000).subscribe(() => {
        took = tookMs();
      });
      flush();
      expect(took).toBe(70_000);
    });
  });

  it('makes an age old', () => {
    const ageMs = startAge();
    setClock(by);
    expect(ageMs()).toBeGreaterThanOrEqual(hour - 10_000);
  });
});

describe('the monotonic clock', () => {
  it('is that of the schedulers in virtual time', () => {
    marbles(({ flush }) => {
      const seen: number[] = [];
      for (const ms of [0, 1, hour]) timer(ms).subscribe(() => seen.push(monotonicNow()));
      flush();
      expect(seen).toEqual([0, 1, hour]);
    });
  });

  it('has no time of day outside of it', () => {
    expect(monotonicNow()).toBeLessThan(Date.now() / 2);
  });

  it.each([2, 3])('goes on if the clock is set before reading %d of one call', (setAt) => {
    const before = monotonicNow();
    const real = Date.now.bind(Date);
    let reads = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => real() + ((reads += 1) >= setAt ? hour : 0));
    const tookMs = monotonicNow() - before;
    expect(tookMs).toBeGreaterThanOrEqual(0);
    expect(tookMs).toBeLessThan(10_000);
  });
});
