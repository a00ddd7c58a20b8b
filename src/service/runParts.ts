import process from 'node:process';
import {
  catchError,
  concat,
  connect,
  defer,
  delay,
  EMPTY,
  filter,
  fromEvent,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  retry,
  share,
  startWith,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { clampTimer } from '../http/retry.js';
import { messageOf } from '../process/withStatus.js';

/**
 * A part of a service: a processor, a rule or an outbox, which `processFeed`, `automate` and `submitAll` return.
 *
 * @category Service
 */
export interface ServicePart<S> extends Observable<unknown> {
  /** Emits the status of the part, before, during and after its run. */
  readonly status$: Observable<S>;
  /** Stops the run: it finishes what is in flight, and completes. */
  readonly stop: () => void;
}

/**
 * A part of a service that failed.
 *
 * @category Service
 */
export interface PartFailure {
  /** The part, such as `processor payments`. */
  readonly part: string;
  /** The error of its Observable; or one that says that the part did not end within `drainWithinMs`, and was aborted. */
  readonly error: unknown;
}

/**
 * A service has ended, and some of its parts had failed.
 *
 * @category Service
 */
export class ServiceError extends Error {
  /** The name of the class. */
  override readonly name = 'ServiceError';

  /** @param failures - the parts that failed, and why, in the order of their failures */
  constructor(readonly failures: readonly PartFailure[]) {
    // a line: the rest of a message is in the diagnostics
    super(
      failures.map(({ part, error }) => `${part} failed: ${reasonOf(error).replace(/\.?(\n.*)?$/s, '')}`).join('; '),
    );
  }
}

/** How parts are run. */
interface PartsRun {
  /** Emits the reason of the first signal to stop, if there was none before. */
  readonly signal$: Observable<string>;
  readonly drainWithinMs: number;
  readonly onFailure: 'continue' | 'stop';
  readonly log: (line: string) => void;
  /** Returns the name of a part. */
  readonly nameOf: (index: number) => string;
  /** Called with the reason when the parts are stopped. */
  readonly onStop: (reason: string) => void;
}

/** After how long a part begins again that has given up retrying, in milliseconds. */
const restartAfterMs = 10_000;

/**
 * Runs all parts until they have ended, or have been stopped and did not end within the time limit, which is a failure, too. Emits each
 * failure: the others continue, or are stopped. If they continue, a part that fails because the ledger or the store cannot be reached begins again.
 */
export const runParts = (parts: readonly ServicePart<unknown>[], run: PartsRun): Observable<PartFailure> =>
  defer(() => {
    const { signal$, drainWithinMs, onFailure, log, nameOf, onStop } = run;
    let isStopped = false;
    const stop = (reason: string): void => {
      isStopped = true;
      onStop(reason);
      for (const part of parts) part.stop();
    };
    const running = new Set(parts.keys());
    const runs = parts.map((part, index) =>
      // one that failed at once may have stopped the others before they begin
      defer(() => (isStopped ? EMPTY : part)).pipe(
        ignoreElements(),
        retry({
          delay: (error: unknown) => {
            // what a part could not finish before its end is a failure, although it may pass
            if (isStopped || onFailure === 'stop' || !mayPass(error)) return throwError(() => error);
            const { message } = new ServiceError([{ part: nameOf(index), error }]);
            log(`${message}; it begins again in ${restartAfterMs / 1_000} s`);
            return merge(timer(restartAfterMs), signal$).pipe(take(1));
          },
        }),
        catchError((error: unknown) => of({ part: nameOf(index), error })),
        tap({
          complete: () => {
            running.delete(index);
          },
        }),
      ),
    );
    // a supervisor would take the end of a service that has aborted something for a clean one
    const aborted = (): readonly PartFailure[] =>
      [...running].map((index) => ({
        part: nameOf(index),
        error: new AbortedError(`it did not end within ${drainWithinMs} ms, and was aborted`),
      }));
    const logFailure = (failure: PartFailure): void => {
      const others = !isStopped && onFailure === 'continue' && parts.length > 1 ? '; the other parts continue' : '';
      log(`${new ServiceError([failure]).message}${others}`);
    };
    return merge(...runs).pipe(
      tap(logFailure),
      connect((failed$) => {
        const failure$ = failed$.pipe(map(({ part }) => `${part} failed`));
        // the first signal after a failure is awaited, too: without a listener, it would end the process
        const abandoned$ = merge(signal$, onFailure === 'stop' ? failure$ : NEVER).pipe(
          tap((reason) => {
            if (!isStopped) stop(reason);
          }),
          delay(clampTimer(drainWithinMs)),
        );
        return concat(failed$.pipe(takeUntil(abandoned$)), defer(aborted).pipe(tap(logFailure)));
      }),
    );
  });

/** A part was stopped, and did not end in time. */
class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/** The reason of a failure, which quotes nothing of the program. */
const reasonOf = (error: unknown): string => (error instanceof AbortedError ? error.message : messageOf(error));

/** Whether a part gave up because a ledger or a store could not be reached for long. */
const mayPass = (error: unknown): boolean =>
  isLedgerError(error) && (error._tag === 'StoreError' ? !error.endsProcessor : isTransient(error));

/**
 * Emits the reason when the process or the program stops a service, once: a second signal ends the process, as by default. All
 * subscribers share one listener: Node.js takes more than ten for a leak, and warns of it.
 */
export function firstSignal(signal: AbortSignal | undefined): Observable<string> {
  const ofProcess = ['SIGTERM', 'SIGINT'].map((name) => fromEvent(process, name).pipe(map(() => name)));
  const aborted$ =
    signal === undefined
      ? NEVER
      : fromEvent(signal, 'abort').pipe(
          startWith(undefined),
          filter(() => signal.aborted),
          map(() => 'its signal was aborted'),
        );
  return merge(...ofProcess, aborted$).pipe(take(1), share({ resetOnComplete: false }));
}
