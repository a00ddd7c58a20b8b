import {
  BehaviorSubject,
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  endWith,
  ignoreElements,
  lastValueFrom,
  map,
  type Observable,
  of,
  race,
  take,
  takeLast,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { SubmittedTransaction, Transaction } from '../codecs/Transaction.js';
import { errorOf } from './LiveState.js';

/**
 * The outcome of a submission, for a page.
 *
 * @category Submission
 */
export type SubmitOutcome =
  | {
      /** The discriminant. */
      readonly _tag: 'Committed';
      /** The committed transaction. */
      readonly transaction: SubmittedTransaction;
    }
  | {
      /** The discriminant. */
      readonly _tag: 'Failed';
      /**
       * Why. After a `SubmissionRejectedError`, `SubmissionExpiredError`, `NotSentError`, `InvalidRequestError`,
       * `UnauthorizedError` or `VerificationError`, nothing is committed. After any other error, in particular an
       * `OutcomeUnknownError`, the commands may be committed: call `retry`, which cannot commit them twice.
       */
      readonly error: Error;
    };

/**
 * Contracts that a page shows: of a live view, of `useContracts` or of `injectContracts`.
 *
 * @inline
 */
export interface AwaitedView {
  /** Emits when they include a transaction. */
  after(transaction: Pick<Transaction, 'offset' | 'synchronizerId' | 'recordTime'>): Observable<unknown>;
}

/** What a page shows of its submission. */
interface Submission {
  readonly pending: boolean;
  readonly outcome: SubmitOutcome | undefined;
}

/**
 * The submissions of a form: one at a time, so that a second click cannot submit twice. Its methods are not asynchronous
 * functions, because zone.js, and with it Angular's `fakeAsync`, does not see their promises.
 */
export class SingleSubmission {
  readonly #state$ = new BehaviorSubject<Submission>(initial);
  #last: Observable<SubmittedTransaction> | undefined;

  readonly state$: Observable<Submission> = this.#state$.asObservable();

  get state(): Submission {
    return this.#state$.value;
  }

  /** Submits, unless a submission is pending. Resolves to the outcome once the view includes the commit. */
  submit(
    submit: () => Observable<SubmittedTransaction>,
    view: AwaitedView | undefined,
  ): Promise<SubmitOutcome | undefined> {
    if (this.state.pending) return Promise.resolve(undefined);
    this.#last = onceCreated(submit);
    return this.retry(view);
  }

  /** Submits the last one again, if it is not committed. */
  retry(view: AwaitedView | undefined): Promise<SubmitOutcome | undefined> {
    if (this.state.pending || this.#last === undefined) return Promise.resolve(undefined);
    this.#state$.next({ pending: true, outcome: undefined });
    const outcome$ = outcomeOf(this.#last, view).pipe(
      // at once, so that it is rendered together with what the view shows
      tap((outcome) => {
        const isForgotten = this.#last === undefined;
        // what is committed is not submitted again
        if (outcome._tag === 'Committed') this.#last = undefined;
        this.#state$.next({ pending: false, outcome: isForgotten ? undefined : outcome });
      }),
    );
    return lastValueFrom(outcome$, { defaultValue: undefined });
  }

  /** Forgets the outcome. */
  reset(): void {
    if (!this.state.pending) this.#state$.next(initial);
  }

  /** Forgets the request, too, and the outcome of a pending submission as soon as it has one: its user has left. */
  forget(): void {
    this.#last = undefined;
    this.reset();
  }
}

/** Creates a submission once: `retry` continues with the same change. One that cannot be created fails when it is subscribed to. */
function onceCreated(submit: () => Observable<SubmittedTransaction>): Observable<SubmittedTransaction> {
  try {
    return submit();
  } catch (error) {
    return throwError(() => error);
  }
}

const initial: Submission = { pending: false, outcome: undefined };

const outcomeOf = (
  submission: Observable<SubmittedTransaction>,
  view: AwaitedView | undefined,
): Observable<SubmitOutcome> =>
  submission.pipe(
    takeLast(1),
    concatMap((transaction) => (view === undefined ? of(transaction) : onceShown(view, transaction))),
    map((transaction): SubmitOutcome => ({ _tag: 'Committed', transaction })),
    catchError((error: unknown) => of(failed(error))),
    defaultIfEmpty(failed(new Error('The Observable has emitted no transaction.'))),
  );

/** How long a commit waits for a view, in milliseconds. It is committed, whatever the view shows. */
const maxAwaitMs = 10_000;

const onceShown = (view: AwaitedView, transaction: SubmittedTransaction): Observable<SubmittedTransaction> =>
  race(
    defer(() => view.after(transaction)),
    timer(maxAwaitMs),
  ).pipe(
    take(1),
    // a view that has ended shows its error itself, and one that throws has not undone the commit
    catchError(() => EMPTY),
    ignoreElements(),
    endWith(transaction),
  );

const failed = (error: unknown): SubmitOutcome => ({
  _tag: 'Failed',
  error: errorOf(error),
});
