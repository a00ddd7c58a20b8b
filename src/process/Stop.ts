import {
  asapScheduler,
  defer,
  delay,
  delayWhen,
  forkJoin,
  from,
  fromEvent,
  isObservable,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  of,
  scheduled,
  shareReplay,
  Subject,
  take,
  takeUntil,
  tap,
  timeout,
  timer,
} from 'rxjs';
import { clampTimer } from '../http/retry.js';

/** Whether work must stop. */
export interface Stop {
  /** Emits when the work must stop. */
  readonly stop$: Observable<unknown>;
  readonly isStopped: () => boolean;
}

/** Stops the runs of some work: when a signal is aborted, and by its method. */
export class Stopper {
  readonly #stops$ = new Subject<void>();

  constructor(private readonly signal: AbortSignal | undefined) {}

  /** Stops the present run, if there is one. */
  stop(): void {
    this.#stops$.next();
  }

  /** The stop of a new run. */
  begin(): Stop {
    const { signal } = this;
    let isStopped = signal?.aborted ?? false;
    const stop$ = merge(signal === undefined ? NEVER : aborted(signal), this.#stops$).pipe(
      take(1),
      tap(() => {
        isStopped = true;
      }),
      // replayed for subscribers that arrive after the stop
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    return { stop$, isStopped: () => isStopped };
  }
}

/** Emits when a signal is aborted, at once if it is. */
const aborted = (signal: AbortSignal): Observable<unknown> =>
  defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')));

/**
 * Runs work, which a stop ends without interrupting it: the work then continues until it completes or the time limit
 * has passed. Unsubscribing interrupts it.
 *
 * @param abandon - called when the time limit has passed
 */
export const stopGracefully = <A>(
  run: (stop: Stop) => Observable<A>,
  abandon: () => void,
  stopWithinMs: number,
  stopper: Stopper,
): Observable<A> =>
  defer(() => {
    const stop = stopper.begin();
    return run(stop).pipe(takeUntil(stop.stop$.pipe(delay(clampTimer(stopWithinMs)), tap(abandon))));
  });

/** Ends work at a stop: at once if it is idle, otherwise when it completes or the time limit has passed. */
export const endAtStop = <A>(
  { stop$ }: Stop,
  isBusy: () => boolean,
  stopWithinMs: number,
): MonoTypeOperatorFunction<A> =>
  takeUntil(stop$.pipe(delayWhen(() => (isBusy() ? timer(clampTimer(stopWithinMs)) : of(true)))));

/** The last calls that a run has made of its handler and of its store. */
export interface LastCalls {
  /** Notes the result of a call of the handler, and returns it. */
  readonly handled: (result: unknown) => unknown;
  /** Notes the result of a call of the store, and returns it. */
  readonly stored: <A>(result: A) => A;
  /**
   * Emits once when both calls have ended, at once if there are none. A Promise cannot be cancelled, so a handler that was abandoned
   * may still work. A call of the store counts as failed after its time limit, and is then not waited for.
   */
  readonly settled$: Observable<unknown>;
  /** Emits after that, and after the teardown of the run. */
  readonly ended$: Observable<unknown>;
  /** Gives up waiting for the handler. */
  readonly abandonHandler: () => void;
}

/** Returns the last calls of a new run. */
export function lastCalls(storeTimeoutMs: number): LastCalls {
  let handling: PromiseLike<unknown> | undefined;
  let storing: PromiseLike<unknown> | undefined;
  const areNone = (): boolean => handling === undefined && storing === undefined;
  const settled$ = defer((): Observable<unknown> => {
    if (areNone()) return of(true);
    const stored$ = settled(storing).pipe(timeout({ first: clampTimer(storeTimeoutMs), with: () => of(true) }));
    return forkJoin([settled(handling), stored$]);
  });
  /** Reads the same values. They have ended when their source has, or when it was returned from. */
  const readNoted = async function* (values: AsyncIterable<unknown>): AsyncGenerator {
    let end = (): void => undefined;
    handling = new Promise<void>((resolve) => (end = resolve));
    try {
      yield* values;
    } finally {
      end();
    }
  };
  return {
    handled: (returned) => {
      const result = begunOnce(returned);
      if (isPromise(result)) handling = result;
      return isAsyncIterable(result) ? readNoted(result) : result;
    },
    stored: (returned) => {
      const result = begunOnce(returned);
      storing = isPromise(result) ? result : undefined;
      return result;
    },
    abandonHandler: () => {
      handling = undefined;
    },
    settled$,
    // the teardown of the run also ends Observables
    ended$: defer(() => (areNone() ? scheduled([true], asapScheduler) : settled$)),
  };
}

const settled = (result: PromiseLike<unknown> | undefined): Observable<unknown> =>
  defer(() => from(Promise.allSettled([result])));

/** Whether a value is a Promise, and not an Observable that has a method `then`, too. */
export const isPromise = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === 'object' && u !== null && 'then' in u && typeof u.then === 'function' && !isObservable(u);

/**
 * Returns a value that is awaited in more than one place. The query of a database library may not be a Promise, but an object that
 * runs its statement each time that its method `then` is called: it becomes a Promise, which calls it once.
 */
export const begunOnce = <A>(result: A): A => (isPromise(result) ? (Promise.resolve(result) as A) : result);

/** Whether a value can be read by `for await`. */
export const isAsyncIterable = (u: unknown): u is AsyncIterable<unknown> =>
  typeof u === 'object' && u !== null && Symbol.asyncIterator in u && !isObservable(u);
