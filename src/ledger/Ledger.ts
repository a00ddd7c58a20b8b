import type { Observable } from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { InvalidUpdate, UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { Signer } from '../submission/Signer.js';
import type { ExecuteOptions, SubmitOptions } from '../submission/SubmitOptions.js';

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
   * To resume, pass the offset of the last update that you handled as `beginExclusive`.
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
  updates(request: UpdatesRequest, options?: UpdatesOptions & { readonly onInvalid?: 'fail' }): Observable<Update>;
  /** Emits the updates after `beginExclusive`, and an {@link InvalidUpdate} for each update that cannot be decoded. */
  updates(request: UpdatesRequest, options: UpdatesOptions): Observable<Update | InvalidUpdate>;
  /** Emits the current ledger end and completes. */
  ledgerEnd(): Observable<Offset>;
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
   * once, and the response contains its offset. It also retries a submission that the participant refuses temporarily.
   * A second subscription sends the same change. Unsubscribing aborts the request, not the submission.
   */
  executeAndWaitForTransaction(request: ExecuteRequest, options?: ExecuteOptions): Observable<Transaction>;
  /**
   * Requests the preparation of a submission for signing, emits the result, and completes. It does not change the
   * ledger.
   */
  prepare(request: PrepareRequest): Observable<PreparedSubmission>;
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
   * @throws TypeError synchronously, if `verify` is missing
   */
  submit(request: PrepareRequest, signer: Signer | readonly Signer[], options: SubmitOptions): Observable<Transaction>;
}
