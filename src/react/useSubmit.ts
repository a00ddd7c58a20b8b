import { useCallback, useMemo, useRef, useState } from 'react';
import { catchError, isObservable, lastValueFrom, map, type Observable, of } from 'rxjs';
import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { useSubmitter } from './LedgerProvider.js';

/**
 * The outcome of a submission.
 *
 * @category React
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
  /** The outcome of the last submission; `undefined` before, while one is pending, and after `reset`. */
  readonly outcome: SubmitOutcome | undefined;
}

/**
 * Submits commands in response to a user's action, one submission at a time. A submission continues if the component is
 * unmounted: to stop it would leave its outcome unknown.
 *
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
export function useSubmit(): SubmitState {
  const ledger = useSubmitter('useSubmit');
  const [{ pending, outcome }, setState] = useState<Pick<SubmitState, 'pending' | 'outcome'>>(initial);
  // state alone would admit a second click before the next render
  const isPending = useRef(false);
  const last = useRef<Observable<SubmittedTransaction>>(undefined);
  const retry = useCallback(async (): Promise<SubmitOutcome | undefined> => {
    if (isPending.current || last.current === undefined) return undefined;
    isPending.current = true;
    setState({ pending: true, outcome: undefined });
    const latest = await lastValueFrom(outcomeOf(last.current), {
      defaultValue: failed(new Error('The Observable has emitted no transaction.')),
    });
    isPending.current = false;
    // what is committed is not submitted again
    if (latest._tag === 'Committed') last.current = undefined;
    setState({ pending: false, outcome: latest });
    return latest;
  }, []);
  const submit = useCallback<SubmitState['submit']>(
    async (request) => {
      if (isPending.current) return undefined;
      last.current = isObservable(request) ? request : ledger.submitAndWaitForTransaction(request);
      return retry();
    },
    [ledger, retry],
  );
  const reset = useCallback(() => {
    setState((state) => (state.pending ? state : initial));
  }, []);
  return useMemo(() => ({ submit, retry, reset, pending, outcome }), [submit, retry, reset, pending, outcome]);
}

const initial = { pending: false, outcome: undefined };

const outcomeOf = (submission: Observable<SubmittedTransaction>): Observable<SubmitOutcome> =>
  submission.pipe(
    map((transaction): SubmitOutcome => ({ _tag: 'Committed', transaction })),
    catchError((error: unknown) => of(failed(error))),
  );

const failed = (error: unknown): SubmitOutcome => ({
  _tag: 'Failed',
  error: error instanceof Error ? error : new Error(String(error)),
});
