import { expect, it } from '@jest/globals';
import { defer, ignoreElements, interval, merge, NEVER, take, tap, timer } from 'rxjs';
import { oneAtATime } from '../../src/postgres/oneAtATime.js';
import { marbles } from '../helpers/time.js';

it('runs at once after a quiet time, then once in an interval, and once for the last change', () => {
  marbles(({ hot, cold, expectObservable }) => {
    const changes$ = hot('a--bc-d----- 20ms e---f-----------------');
    const work$ = cold('  -(x|)');
    // a, b to d after 10 ms, e at once, f after 10 ms
    expectObservable(changes$.pipe(oneAtATime(work$, 10))).toBe('-x 9ms x 20ms -x 9ms x');
  });
});

it('waits for a run that takes longer than the interval', () => {
  marbles(({ hot, cold, expectObservable }) => {
    const changes$ = hot('ab-c------------------');
    const work$ = cold('  -----(x|)');
    expectObservable(changes$.pipe(oneAtATime(work$, 2))).toBe('-----x----x');
  });
});

it('runs without an interval as soon as the run before has ended', () => {
  marbles(({ hot, cold, expectObservable }) => {
    expectObservable(hot('ab-c-------').pipe(oneAtATime(cold('--(x|)'), 0))).toBe('--x-x-x');
  });
});

it('needs 11 runs for 1000 changes in a second, of which the last one sees all', () => {
  let [changes, runs, seen] = [0, 0, 0];
  marbles(({ expectObservable }) => {
    const changes$ = interval(1).pipe(
      take(1_000),
      tap(() => {
        changes += 1;
      }),
    );
    const work$ = defer(() => {
      runs += 1;
      seen = changes;
      return timer(1).pipe(ignoreElements());
    });
    expectObservable(merge(changes$, NEVER).pipe(oneAtATime(work$, 100))).toBe('');
  });
  expect([changes, runs, seen]).toEqual([1_000, 11, 1_000]);
});
