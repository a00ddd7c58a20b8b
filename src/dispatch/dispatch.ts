import {
  asapScheduler,
  defer,
  EMPTY,
  endWith,
  finalize,
  ignoreElements,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  type ObservableInput,
  observeOn,
  race,
  repeat,
  scheduled,
  share,
  take,
  takeUntil,
  takeWhile,
  tap,
  timer,
  exhaustMap,
} from 'rxjs';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { WorkCounts } from '../diagnostics/SubmissionDiagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { rejectionReason } from '../errors/rejectionReason.js';
import { clampTimer } from '../http/retry.js';
import type { Stop } from '../process/Stop.js';
import type { Place, Places } from './Places.js';

/** The work, and when it is due. */
interface DueWork<W> {
  /** Emits what is due, the one that has been due longest first, as far as there are places; then completes. */
  readonly take: () => ObservableInput<W>;
  /** How long nothing will be due, in milliseconds. `Infinity` if only a change can help. */
  readonly waitMs: () => number;
  /** Emits when something may have become due. */
  readonly changed$: Observable<unknown>;
}

/** Emitted when all is done. */
const ended = Symbol('ended');

/** What is done, where, and until when. */
interface Dispatch<W, A> {
  readonly places: Places;
  readonly due: DueWork<W>;
  readonly stop: Stop;
  /** Does what is due. It has a place. */
  readonly work: (item: W, place: Place) => Observable<A>;
  /** Shows when the participant is overloaded. */
  readonly diagnostics$: Observable<Diagnostic>;
  /** Reads how much there is to do. */
  readonly count: () => ObservableInput<WorkCounts>;
  /** Is called with it from time to time, and at the end with none: another process may do it then. */
  readonly report: (counts: WorkCounts) => void;
}

/**
 * Does what is due whenever there is a place, until it is stopped. Then completes when what was begun has ended. Emits what the
 * work emits. Begins nothing while the participant is overloaded.
 */
export const dispatch = <W, A>({
  places,
  due,
  stop,
  work,
  diagnostics$,
  count,
  report,
}: Dispatch<W, A>): Observable<A> =>
  defer(() => {
    const { stop$, isStopped } = stop;
    let isWoken = false;
    const wake$ = merge(due.changed$, places.freed$).pipe(
      tap(() => {
        isWoken = true;
      }),
      share(),
    );
    const taken$ = defer(() => {
      isWoken = false;
      return isStopped() || !places.isFree ? EMPTY : due.take();
    });
    const next = (): Observable<unknown> => {
      if (isStopped()) return EMPTY;
      // not within the current work, so that work that ends at once does not nest
      if (isWoken) return scheduled([true], asapScheduler);
      const woken$ = race(wake$.pipe(observeOn(asapScheduler)), idle(places, due));
      return woken$.pipe(take(1), takeUntil(stop$));
    };
    const done$ = taken$.pipe(
      repeat({ delay: next }),
      mergeMap((item) => at(places, (place) => work(item, place))),
      endWith(ended),
    );
    const counted$ = reportCounts(count, report);
    return merge(wake$.pipe(ignoreElements()), pauseOnOverload(diagnostics$, places), counted$, done$).pipe(
      takeWhile((value): value is A => value !== ended),
    );
  });

/** Emits once when something becomes due by itself. */
function idle<W>(places: Places, due: DueWork<W>): Observable<unknown> {
  // read once: the pause may end between two readings
  const { pauseMs } = places;
  const waitMs = pauseMs > 0 ? pauseMs : workMs(places, due);
  return waitMs === Infinity ? NEVER : timer(clampTimer(waitMs));
}

const workMs = <W>(places: Places, due: DueWork<W>): number => (places.isFree ? due.waitMs() : Infinity);

/** Works at a place, which is free again when the work ends. */
const at = <A>(places: Places, work: (place: Place) => Observable<A>): Observable<A> =>
  defer(() => {
    const place = places.take();
    return work(place).pipe(finalize(place.end));
  });

/** Pauses while submissions are delayed because the participant is overloaded. */
const pauseOnOverload = (diagnostics$: Observable<Diagnostic>, places: Places): Observable<never> =>
  diagnostics$.pipe(
    tap((diagnostic) => {
      if (diagnostic._tag !== 'SubmissionUnclear' || !isLedgerError(diagnostic.cause, 'ApiError')) return;
      if (rejectionReason(diagnostic.cause) === 'backPressure') places.pause(diagnostic.delayMs);
    }),
    ignoreElements(),
  );

/** The counts where nothing is done. */
export const noWork: WorkCounts = { waiting: 0, due: 0, running: 0, parked: 0, oldestMs: 0 };

/** How often the counts are reported, in milliseconds. */
const reportEveryMs = 10_000;

/** Reports how much work there is, from time to time; and none at the end, because another process may do it then. */
const reportCounts = (
  count: () => ObservableInput<WorkCounts>,
  report: (counts: WorkCounts) => void,
): Observable<never> =>
  timer(0, reportEveryMs).pipe(
    exhaustMap(count),
    tap(report),
    finalize(() => {
      report(noWork);
    }),
    ignoreElements(),
  );
