import {
  defer,
  delay,
  delayWhen,
  fromEvent,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  of,
  share,
  shareReplay,
  Subject,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { clampTimer } from '../http/retry.js';

/** Whether work must stop. */
export interface Stop {
  /** Emits when the work must stop. */
  readonly stop$: Observable<unknown>;
  readonly isStopped: () => boolean;
}

/** Stops when a signal is aborted, or when another Observable emits. */
export function stopOn(signal: AbortSignal | undefined, other$: Observable<unknown> = NEVER): Stop {
  let isStopped = signal?.aborted ?? false;
  const stop$ = merge(other$, signal === undefined ? NEVER : aborted(signal)).pipe(
    take(1),
    tap(() => {
      isStopped = true;
    }),
    // replayed for subscribers that arrive after the stop
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  return { stop$, isStopped: () => isStopped };
}

/** Emits when a signal is aborted, at once if it is. */
const aborted = (signal: AbortSignal): Observable<unknown> =>
  defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')));

/**
 * Runs work without interrupting it. When its subscriber unsubscribes or a signal aborts, requests a stop; the work
 * then continues until it completes or the time limit has passed.
 *
 * @param abandon - called when the time limit has passed
 */
export const stopGracefully = <A>(
  run: (stop: Stop) => Observable<A>,
  abandon: () => void,
  stopWithinMs: number,
  signal: AbortSignal | undefined,
): Observable<A> =>
  defer(() => {
    const unsubscribed$ = new Subject<void>();
    const stop = stopOn(signal, unsubscribed$);
    return run(stop).pipe(
      takeUntil(stop.stop$.pipe(delay(clampTimer(stopWithinMs)), tap(abandon))),
      share({
        resetOnRefCountZero: () => {
          unsubscribed$.next();
          return NEVER;
        },
      }),
    );
  });

/** Ends work at a stop: at once if it is idle, otherwise when it completes or the time limit has passed. */
export const endAtStop = <A>(
  { stop$ }: Stop,
  isBusy: () => boolean,
  stopWithinMs: number,
): MonoTypeOperatorFunction<A> =>
  takeUntil(stop$.pipe(delayWhen(() => (isBusy() ? timer(clampTimer(stopWithinMs)) : of(true)))));
