import { defer, delay, fromEvent, merge, NEVER, of, share, shareReplay, Subject, take, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
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
    const stop$ = merge(left$, signal === undefined ? NEVER : abortion(signal)).pipe(
      take(1),
      tap(() => {
        isStopped = true;
      }),
      // also for what begins to wait only then
      shareReplay({ bufferSize: 1, refCount: true }),
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

const abortion = (signal: AbortSignal): Observable<unknown> =>
  defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')));
