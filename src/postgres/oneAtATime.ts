import { defer, exhaustMap, finalize, forkJoin, type Observable, Subject, take, throttle, timer } from 'rxjs';
import { clampTimer } from '../http/retry.js';

/**
 * Runs work on each change, one run at a time. Changes during a run, and within an interval after it began, cause one more run:
 * the first change of a quiet time is not delayed, and the last one is never left out.
 *
 * @param minIntervalMs - the minimum time from the beginning of a run to that of the next one, in milliseconds
 */
export const oneAtATime =
  <A>(work$: Observable<A>, minIntervalMs: number) =>
  (changes$: Observable<unknown>): Observable<A> =>
    defer(() => {
      const ended$ = new Subject<void>();
      // both have one value: when the run has ended, and when the interval is over
      const free$ = defer(() => forkJoin([ended$.pipe(take(1)), timer(clampTimer(minIntervalMs))]));
      return changes$.pipe(
        throttle(() => (minIntervalMs === 0 ? ended$ : free$), { leading: true, trailing: true }),
        exhaustMap(() =>
          work$.pipe(
            finalize(() => {
              ended$.next();
            }),
          ),
        ),
      );
    });
