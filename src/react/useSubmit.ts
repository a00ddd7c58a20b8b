import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { ignoreElements, isObservable, merge, type Observable, tap } from 'rxjs';
import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { type AwaitedView, SingleSubmission, type SubmitOutcome } from '../contracts/SingleSubmission.js';
import { useLedgerContext, useSubmitter } from './LedgerProvider.js';

/**
 * Options of {@link useSubmit}.
 *
 * @category React
 */
export interface UseSubmitOptions {
  /**
   * The contracts that the submission changes: the result of `useContracts` or `useContract` in the same component, or a live
   * view. A commit is then rendered together with what it has changed: until they include it, `pending` is true, for at most
   * 10 seconds. Default: it is rendered as soon as it is known.
   */
  readonly awaits?: AwaitedView | undefined;
}

/**
 * The state of {@link useSubmit}. Its functions are always the same.
 *
 * @category React
 */
export interface SubmitState {
  /**
   * Submits commands, or subscribes to an Observable of `ledger.submit` and its like. While a submission is pending it
   * does nothing, so that a second click cannot submit twice.
   *
   * @returns the outcome, which is never a rejection; `undefined` if it has submitted nothing
   */
  readonly submit: (request: CommandsRequest | Observable<SubmittedTransaction>) => Promise<SubmitOutcome | undefined>;
  /**
   * Submits the last request again. If its outcome is unknown, it continues with the same change, which is committed at
   * most once. Does nothing while a submission is pending, before the first, and after one that is committed.
   *
   * @returns as `submit` does
   */
  readonly retry: () => Promise<SubmitOutcome | undefined>;
  /** Forgets the outcome. A pending submission is not affected. */
  readonly reset: () => void;
  /** Whether the outcome of a submission is not known yet. */
  readonly pending: boolean;
  /**
   * The outcome of the last submission; `undefined` before, while one is pending, and after `reset`. With another ledger, and
   * after `clear` of the shared contracts, it is forgotten, and so is what `retry` submits: they may be of another user.
   */
  readonly outcome: SubmitOutcome | undefined;
}

/**
 * Submits commands in response to a user's action, one submission at a time. A submission continues if the component is
 * unmounted: to stop it would leave its outcome unknown.
 *
 * @param options - the contracts with which an outcome is rendered
 * @throws Error without a {@link LedgerProvider}, and with a ledger that is a reader
 * @example
 * ```ts
 * import { contractType, create } from 'canton-rx';
 * import { useSubmit } from 'canton-rx/react';
 * import { createElement } from 'react';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 *
 * const Issue = ({ party }: { party: string }) => {
 *   const { submit, pending, outcome } = useSubmit();
 *   const onClick = () => {
 *     void submit({ actAs: [party], commands: [create(Iou, { owner: party, amount: '10.0' })] });
 *   };
 *   return createElement('button', { onClick, disabled: pending }, outcome?._tag ?? 'Issue');
 * };
 * ```
 *
 * @category React
 */
export function useSubmit({ awaits }: UseSubmitOptions = {}): SubmitState {
  const ledger = useSubmitter('useSubmit');
  const [submission] = useState(() => new SingleSubmission());
  const { clears$ } = useLedgerContext('useSubmit').shared;
  // an external store, so that React renders it together with the contracts
  const subscribe = useCallback(
    (notify: () => void) => {
      const forgets$ = clears$.pipe(
        tap(() => {
          submission.forget();
        }),
        ignoreElements(),
      );
      const subscription = merge(submission.state$, forgets$).subscribe({ next: notify, error: notify });
      return () => {
        subscription.unsubscribe();
      };
    },
    [submission, clears$],
  );
  const current = (): SingleSubmission['state'] => submission.state;
  const { pending, outcome: last } = useSyncExternalStore(subscribe, current, current);
  const submitter = useRef(ledger);
  useEffect(() => {
    if (submitter.current === ledger) return;
    submitter.current = ledger;
    submission.forget();
  }, [ledger, submission]);
  // also before the effect: what was submitted to another ledger may be of another user
  const outcome = submitter.current === ledger ? last : undefined;
  const awaited = useRef(awaits);
  awaited.current = awaits;
  const submit = useCallback<SubmitState['submit']>(
    (request) =>
      submission.submit(
        () => (isObservable(request) ? request : ledger.submitAndWaitForTransaction(request)),
        awaited.current,
      ),
    [ledger, submission],
  );
  const retry = useCallback(() => submission.retry(awaited.current), [submission]);
  const reset = useCallback(() => {
    submission.reset();
  }, [submission]);
  return useMemo(() => ({ submit, retry, reset, pending, outcome }), [submit, retry, reset, pending, outcome]);
}
