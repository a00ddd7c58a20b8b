import {
  BehaviorSubject,
  catchError,
  concat,
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  from,
  map,
  merge,
  type Observable,
  type ObservableInput,
  ReplaySubject,
  share,
  startWith,
  switchMap,
  timer,
} from 'rxjs';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { endsProcessor } from '../errors/process.js';
import type { Stopper } from './Stop.js';

/** The time between two statuses, in milliseconds. */
const everyMs = 1_000;

/** The part of a status that says whether the work runs. */
interface RunStatus {
  readonly role: ProcessorRole;
  readonly state: string;
  readonly error?: string;
}

/** The status of work that has ended, and has not begun again. */
interface Ended {
  readonly role: 'starting';
  readonly state: 'ended';
  readonly error?: string;
}

/**
 * Adds a status to work. This is the rule for processors, rules and outboxes:
 *
 * - All subscriptions to the work at the same time are one run. It ends at once when the last of them unsubscribes. A
 *   subscription after the end is a new run.
 * - Subscribing to `status$` starts nothing. It emits now, every second, and when the run begins and ends. It neither
 *   completes nor fails. Before the first run, its state is `'waiting'`; after a run, it is `'ended'`, with the error if
 *   the run failed.
 *
 * @param stopper - stops the run; becomes its method `stop`
 * @param status - emits the present status, once
 * @param changes$ - emits when the status must be emitted earlier; subscribed to while `status$` is
 */
export const withStatus = <A, S extends RunStatus>(
  run$: Observable<A>,
  stopper: Stopper,
  status: () => ObservableInput<S>,
  changes$: Observable<unknown> = EMPTY,
): Observable<A> & { readonly status$: Observable<S | (S & Ended)>; readonly stop: () => void } => {
  const ended$ = new BehaviorSubject<Ended | undefined>(undefined);
  /** The present run. It is over before the status of its end: whoever sees that may begin the next one. */
  let present$: Observable<A> | undefined;
  const start = (): Observable<A> => {
    const end = (error?: { readonly error: string }): void => {
      if (present$ !== observed$) return;
      present$ = undefined;
      ended$.next({ role: 'starting', state: 'ended', ...error });
    };
    const observed$ = defer(() => {
      ended$.next(undefined);
      // the status of the end comes before the end itself, and after the resources of the run are released
      const failed = (error: unknown): Observable<never> =>
        defer(() => {
          end({ error: messageOf(error) });
          throw error;
        });
      const completed$ = defer(() => {
        end();
        return EMPTY;
      });
      return concat(run$.pipe(catchError(failed)), completed$).pipe(finalize(end));
    }).pipe(share());
    return observed$;
  };
  const status$ = ended$.pipe(
    switchMap((ended) =>
      merge(timer(everyMs, everyMs), changes$).pipe(
        startWith(0),
        exhaustMap(() => from(status()).pipe(map((present) => ({ ...present, ...ended })))),
      ),
    ),
    share({ connector: () => new ReplaySubject(1) }),
  );
  const work$ = defer(() => (present$ ??= start()));
  return Object.assign(work$, {
    status$,
    stop: () => {
      stopper.stop();
    },
  });
};

/** Returns the message of an error. That of another part of the program may quote its secrets. */
export const messageOf = (error: unknown): string =>
  error instanceof Error && (isLedgerError(error) || endsProcessor(error))
    ? error.message
    : 'it failed with an error of the program';
