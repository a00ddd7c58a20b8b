import { inject, Injector, NgZone, runInInjectionContext, type Signal, computed, untracked } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { filter, ignoreElements, isObservable, merge, type Observable, tap } from 'rxjs';
import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { type AwaitedView, SingleSubmission, type SubmitOutcome } from '../contracts/SingleSubmission.js';
import type { Ledger } from '../ledger/Ledger.js';
import { LEDGER, LEFT } from './provideLedger.js';
import { insideZone } from './zone.js';

/**
 * Options of {@link injectSubmit}.
 *
 * @category Angular
 */
export interface InjectSubmitOptions {
  /**
   * The contracts that the submission changes: of `injectContracts` or `injectContract`, or a live view. A commit is then shown
   * together with what it has changed: until they include it, `pending` is true, for at most 10 seconds. Default: it is shown as
   * soon as it is known.
   */
  readonly awaits?: AwaitedView | undefined;
  /** The ledger. Default: the one that `provideLedger` provides. */
  readonly ledger?: Ledger | undefined;
  /** The injector, required outside an injection context. */
  readonly injector?: Injector | undefined;
}

/**
 * The submissions of a form. Created by {@link injectSubmit}.
 *
 * @category Angular
 */
export interface SubmitResource {
  /**
   * Submits commands, or subscribes to an Observable of `ledger.submit` and its like. While a submission is pending it
   * does nothing, so that a second click cannot submit twice.
   *
   * @returns the outcome, which is never a rejection; `undefined` if it has submitted nothing
   */
  submit(request: CommandsRequest | Observable<SubmittedTransaction>): Promise<SubmitOutcome | undefined>;
  /**
   * Submits the last request again. If its outcome is unknown, it continues with the same change, which is committed at
   * most once. Does nothing while a submission is pending, before the first, and after one that is committed.
   *
   * @returns as `submit` does
   */
  retry(): Promise<SubmitOutcome | undefined>;
  /** Forgets the outcome. A pending submission is not affected. */
  reset(): void;
  /** Whether the outcome of a submission is not known yet. */
  readonly pending: Signal<boolean>;
  /**
   * The outcome of the last submission; `undefined` before, while one is pending, and after `reset`. The function of
   * `injectClearContracts` forgets it, and what `retry` submits.
   */
  readonly outcome: Signal<SubmitOutcome | undefined>;
}

/**
 * Submits commands in response to a user's action, one submission at a time. A submission continues if the component is
 * destroyed: to stop it would leave its outcome unknown. Must be called in an injection context, or with an `injector`.
 *
 * @param options - the contracts with which an outcome is shown
 * @throws Angular's error NG0201 if no ledger is provided, and NG0203 outside an injection context
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { contractType, create } from 'canton-rx';
 * import { injectContracts, injectSubmit } from 'canton-rx/angular';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const owner = 'alice::1220ab';
 *
 * class Issue {
 *   readonly ious = injectContracts({ types: { iou: Iou }, parties: [owner] });
 *   readonly form = injectSubmit({ awaits: this.ious });
 *
 *   issue(): void {
 *     void this.form.submit({ userId: 'app', actAs: [owner], commands: [create(Iou, { owner, amount: '10.0' })] });
 *   }
 * }
 * ```
 *
 * @category Angular
 */
export function injectSubmit({
  awaits,
  ledger,
  injector = inject(Injector),
}: InjectSubmitOptions = {}): SubmitResource {
  return runInInjectionContext(injector, () => {
    const submitter = ledger ?? inject(LEDGER);
    const submission = new SingleSubmission();
    const forgets$ = inject(LEFT).pipe(
      filter((left) => left === submitter),
      tap(() => {
        submission.forget();
      }),
      ignoreElements(),
    );
    // a view that it awaits may run outside the zone
    const state$ = merge(submission.state$, forgets$).pipe(insideZone(inject(NgZone)));
    const state = toSignal(state$, { requireSync: true });
    return {
      // an effect that submits would otherwise submit again when a signal changes that the ledger has read
      submit: (request) =>
        untracked(() =>
          submission.submit(
            () => (isObservable(request) ? request : submitter.submitAndWaitForTransaction(request)),
            awaits,
          ),
        ),
      retry: () => untracked(() => submission.retry(awaits)),
      reset: () => {
        submission.reset();
      },
      pending: computed(() => state().pending),
      outcome: computed(() => state().outcome),
    };
  });
}
