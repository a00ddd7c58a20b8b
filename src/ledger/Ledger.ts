import type { Observable } from 'rxjs';
import type { CommandsRequest, CostEstimate, PreparedSubmission, PrepareRequest } from '../codecs/SubmissionRequest.js';
import type { CompletionResponse, CompletionsRequest } from '../codecs/Completion.js';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { PartyDetails } from '../codecs/PartyDetails.js';
import type { Offset, Party } from '../codecs/scalars.js';
import type { SubmittedTransaction, Transaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';
import type { LedgerEffectsFormat } from '../codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { CompletionsOptions } from '../feed/completions.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import type { UpdatesAfter, UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { ExecuteOptions } from '../submission/execute.js';
import type { Signer } from '../submission/Signer.js';
import type { SubmitOptions } from '../submission/submit.js';
import type { CommandsOptions } from '../submission/submitCommands.js';

/**
 * The updates that an update format of type `F` selects. With that of {@link ledgerEffects}, transactions have no
 * archivals.
 *
 * @category Ledger
 */
export type UpdateOf<F> = F extends LedgerEffectsFormat
  ? | Exclude<Update, Transaction>
    | (Transaction & {
        /** Absent, for the compiler only: there are no archivals. */
        readonly archivals?: undefined;
      })
  : Update;

/**
 * A client that reads a participant's ledger and does not submit. All Observables are cold: they send nothing before
 * `subscribe`, and subscriptions share no state.
 *
 * @category Ledger
 */
export interface LedgerReader {
  /**
   * Emits the updates after `beginExclusive`, each once and in order: first those already on the ledger, then new ones,
   * until you unsubscribe. With `endInclusive`, it completes at that offset, and waits if the ledger has not reached it
   * yet.
   *
   * After a transient failure, the feed retries from its cursor. Any other failure ends it with a {@link LedgerError}:
   * `InvalidRequestError` before it sends anything; `PrunedError` or `LedgerResetError` if continuing would leave a
   * gap; `DecodeError`, `OrderError`, `UnauthorizedError`, `PageLimitError` or `ApiError`; or the last transient error
   * if the retry budget is used up. Unsubscribing aborts the request.
   *
   * To resume, pass the position of the last update that you handled as `after`: {@link positions} gives it. A bare offset
   * as `beginExclusive` proves nothing: the feed takes the ledger that it finds.
   *
   * @throws TypeError synchronously, if an option is invalid
   * @example
   * ```ts
   * import { acsDelta, createLedger, ofVariant } from 'canton-rx';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * ledger
   *   .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: ['alice::1220ab'] }) })
   *   .pipe(ofVariant('Transaction'));
   * ```
   */
  updates<F extends UpdatesRequest['updateFormat']>(
    request: (UpdatesRequest | UpdatesAfter) & { readonly updateFormat?: F },
    options?: UpdatesOptions & { readonly onUndecodable?: 'fail' },
  ): Observable<UpdateOf<F>>;
  /** Emits the updates after `beginExclusive`, and an {@link UndecodedUpdate} for each update that cannot be decoded. */
  updates(request: UpdatesRequest | UpdatesAfter, options: UpdatesOptions): Observable<Update | UndecodedUpdate>;
  /**
   * Emits the current ledger end and completes. A single request, which is not repeated: any failure is an error, a
   * `ConnectionError`, `RequestTimeoutError`, `UnauthorizedError`, `TokenError`, `ApiError`, `ResponseTooLargeError` or `DecodeError`.
   */
  ledgerEnd(): Observable<Offset>;
  /**
   * Emits the last offset before a record time, and completes: no update at or before the offset has that time or a later
   * one. To read everything since the time, pass the offset as `beginExclusive`. Without a later update, it is the ledger
   * end, also for a time in the future.
   *
   * It reads an update in each of about log2(ledger end) requests, which it repeats after a transient failure. If the
   * participant is connected to several synchronizers, whose record times may be apart, it also reads back to the last
   * update of each before the result. That takes long if a synchronizer has none for a long time.
   *
   * It errors as `updates` does; with a `PrunedError` if the ledger is pruned and shows no update before the time.
   *
   * @param time - a `Date`, or a text in ISO 8601 with a time zone; all digits of a text count: `2026-11-23T10:00:00.123456Z`
   * @param request - the parties whose updates count; by default every party, which requires the right to read as any party
   * @throws TypeError synchronously, if the time is invalid or has no time zone
   * @example
   * ```ts
   * import { concatMap } from 'rxjs';
   * import { acsDelta, createLedger } from 'canton-rx';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * const parties = ['alice::1220ab'];
   * const sinceMonday$ = ledger
   *   .offsetAt('2026-11-23T00:00+01:00', { parties })
   *   .pipe(concatMap((beginExclusive) => ledger.updates({ beginExclusive, updateFormat: acsDelta({ parties }) })));
   * ```
   */
  offsetAt(time: string | Date, request?: { readonly parties?: readonly Party[] | 'any' }): Observable<Offset>;
  /**
   * Emits the parties that the participant knows, page by page, and completes. Requires the right of an administrator of
   * the participant or of the identity provider; otherwise it fails with an `ApiError` of status 403. A request that fails
   * is not repeated: the errors are those of `ledgerEnd`.
   *
   * @example
   * ```ts
   * import { filter } from 'rxjs';
   * import { createLedger } from 'canton-rx';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * const mine$ = ledger.parties().pipe(filter(({ party }) => party.startsWith('alice::')));
   * ```
   */
  parties(): Observable<PartyDetails>;
  /**
   * Emits what the client does, for logs, metrics and progress displays: polls, pages, retries, gaps, whether feeds
   * have caught up, and the progress of submissions. It is hot, never completes, and costs nothing without subscribers.
   */
  readonly diagnostics$: Observable<Diagnostic>;
}

/**
 * A client that reads a participant's ledger and submits to it.
 *
 * @category Ledger
 */
export interface Ledger extends LedgerReader {
  /**
   * Submits commands of parties that the participant hosts and signs for. Emits the committed transaction, and completes.
   *
   * The participant commits a change at most once, whatever is lost or repeated. A change is identified by `commandId`, `userId`
   * and the parties of `actAs`. If an earlier attempt, or another submission with the same command id, has committed it,
   * `isRepeated` is set.
   *
   * All other outcomes are errors:
   *
   * - `SubmissionRejectedError`: nothing was committed, and nothing will be. Its `reason` says what helps. If it `isContention`,
   *   `retryContention` submits again, with new commands.
   * - `NotSentError`: the commands never reached the participant.
   * - `OutcomeUnknownError`: they may have been committed; the outcome could not be determined in time. Its `submission` has what
   *   another process needs to continue: pass `commandId`, `userId` and `actAs` again, and `since` as an option.
   * - `UnauthorizedError`: the participant refused the token.
   * - `InvalidRequestError`: the request is invalid, and nothing was sent.
   *
   * After a lost response, the client sends the same change again until the participant's answer decides (see `recover`).
   * Unsubscribing stops that, not the commands: the outcome is then unknown. The next subscription continues with the same
   * change. Without `commandId`, any other subscription submits a new change.
   *
   * @throws TypeError synchronously, if an option is invalid
   * @example
   * ```ts
   * import { contractType, create, createLedger } from 'canton-rx';
   * import * as t from 'io-ts';
   * import { map } from 'rxjs';
   *
   * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * ledger
   *   .submitAndWaitForTransaction({
   *     actAs: ['alice::1220ab'],
   *     commandId: 'iou-4711',
   *     commands: [create(Iou, { owner: 'alice::1220ab', amount: '10.0' })],
   *   })
   *   .pipe(map(({ updateId, offset }) => `committed as ${updateId} at ${offset}`));
   * ```
   */
  submitAndWaitForTransaction(request: CommandsRequest, options?: CommandsOptions): Observable<SubmittedTransaction>;
  /**
   * Emits the completions of commands after `beginExclusive`, each once and in order: first those already on the ledger,
   * then new ones, until you unsubscribe. A completion shows whether a command was committed or rejected, also if the
   * response to its submission was lost. Find those of your command with {@link ofChange}.
   *
   * The feed resumes and ends as `updates` does, with the same errors. Its cursor moves only with completions and
   * checkpoints, because an empty response does not prove that there is nothing. Participants before 3.5.1 send almost no
   * checkpoints over HTTP. If such a participant prunes its ledger while no command is completed, the feed ends with a
   * `PrunedError`, although it has missed nothing.
   *
   * After an outage, the feed checks that the ledger still has the last committed completion. If the response does not
   * show that, it checks the id of the participant. One case remains unnoticed: the same participant was restored from a
   * backup, and has grown past the cursor again. This needs a backup that has the completion, or a response that does not
   * show it.
   *
   * @throws TypeError synchronously, if an option is invalid
   * @example
   * ```ts
   * import { createLedger, ofChange } from 'canton-rx';
   * import { takeWhile } from 'rxjs';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * ledger
   *   .completions({ parties: ['alice::1220ab'], userId: 'app', beginExclusive: 40 })
   *   .pipe(
   *     ofChange({ commandId: 'order-7', userId: 'app', actAs: ['alice::1220ab'] }),
   *     takeWhile(({ outcome }) => outcome === 'rejected', true),
   *   );
   * ```
   */
  completions(request: CompletionsRequest, options?: CompletionsOptions): Observable<CompletionResponse>;
  /**
   * Executes a prepared and signed submission, emits the committed transaction, and completes. Its `events` are empty
   * if the format includes none of them.
   *
   * All other outcomes are errors:
   *
   * - `SubmissionRejectedError` or `SubmissionExpiredError`: the submission has committed nothing, and never will.
   * - `NotSentError`: it never reached the participant.
   * - `OutcomeUnknownError`: it may have been committed; the outcome could not be determined in time.
   * - `UnauthorizedError`: the participant refused the token.
   * - `InvalidRequestError`: the request is invalid, and nothing was sent.
   *
   * If the response is lost, the client sends the same signed bytes again (see `recover`): the ledger commits a change
   * once, and the response contains its offset. If `transactionHash` is known, the client first looks for the
   * transaction. After a lost response, a refusal proves nothing, because another participant at the same address
   * may have committed the change: the outcome is then the transaction, or an `OutcomeUnknownError`. The client also retries a submission that the participant refuses temporarily.
   * A second subscription sends the same change. Unsubscribing aborts the request, not the submission.
   *
   * @throws TypeError synchronously, if an option is invalid
   */
  executeAndWaitForTransaction(request: ExecuteRequest, options?: ExecuteOptions): Observable<SubmittedTransaction>;
  /**
   * Requests the preparation of a submission for signing, emits the result, and completes. It does not change the
   * ledger.
   *
   * It fails with an `InvalidRequestError` if the request is invalid, and nothing was sent; with an `ApiError` if the
   * participant refuses it, for example because a contract is archived; or with the other errors of `ledgerEnd`. A request
   * that fails is not repeated.
   */
  prepare(request: PrepareRequest): Observable<PreparedSubmission>;
  /**
   * Estimates the traffic that a submission costs, in bytes: emits the estimate of its preparation, and completes. Nothing is
   * submitted. Completes without a value if the participant does not estimate: before Canton 3.4, and if the request says
   * `estimateTrafficCost: { disabled: true }`. The right to read as the parties suffices. It fails with the errors of `prepare`.
   *
   * @param request - the submission, with one command, as for {@link Ledger.prepare}. A submission of a hosted party may be estimated, too
   * @example
   * ```ts
   * import { createLedger, type PrepareRequest } from 'canton-rx';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * export const printCost = (request: PrepareRequest) =>
   *   ledger.estimateCost(request).subscribe((cost) => {
   *     console.log(`about ${cost.totalTrafficCostEstimation} bytes`);
   *   });
   * ```
   */
  estimateCost(request: PrepareRequest): Observable<CostEstimate>;
  /**
   * Prepares, verifies, signs and executes a submission, and determines its outcome. Emits the committed transaction
   * and completes.
   *
   * It fails with the errors of `prepare` and `executeAndWaitForTransaction`; with a `VerificationError`, or another
   * error of the verifier, if the prepared submission must not be signed; or with the error of a signer. An error
   * before the execution means that nothing has been committed. A second subscription sends the same bytes if they may
   * have been committed. Otherwise, it prepares the submission again with the same command id. In both cases, the
   * ledger commits it once.
   *
   * @throws TypeError synchronously, if `verify` is missing or another option is invalid
   */
  submit(
    request: PrepareRequest,
    signer: Signer | readonly Signer[],
    options: SubmitOptions,
  ): Observable<SubmittedTransaction>;
}
