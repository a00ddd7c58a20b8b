import { defer, delay, fromEvent, merge, NEVER, share, Subject, take, takeUntil, tap, type Observable } from 'rxjs';
import { atMost } from '../http/atMost.js';
import type { Stop } from './Stop.js';

/**
 * Work that is not cut off: when its subscriber leaves, or a signal says so, it is told to stop, and goes on by itself
 * until it has completed, or the time for that is over.
 */
export const gracefully = <A>(
  work: (stop: Stop) => Observable<A>,
  withinMs: number,
  signal: AbortSignal | undefined,
): Observable<A> =>
  defer(() => {
    let isStopped = signal?.aborted ?? false;
    const left$ = new Subject<void>();
    const stop$ = merge(left$, signal === undefined ? NEVER : fromEvent(signal, 'abort')).pipe(
      take(1),
      tap(() => {
        isStopped = true;
      }),
      share(),
    );
    return work({ stop$, isStopped: () => isStopped }).pipe(
      takeUntil(stop$.pipe(delay(atMost(withinMs)))),
      share({
        resetOnRefCountZero: () => {
          left$.next();
          return NEVER;
        },
      }),
    );
  });
