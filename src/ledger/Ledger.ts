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
 * A client that reads a participant's ledger, and does not submit. All Observables are cold: nothing is sent before
 * `subscribe`, and subscriptions share no state.
 *
 * @category Ledger
 */
export interface LedgerReader {
  /**
   * Emits the updates after `beginExclusive`, each once and in order: first those that are on the ledger, then new ones, until
   * it is unsubscribed from. With `endInclusive` it completes there, even if the ledger has yet to reach that offset.
   *
   * After a transient failure the feed retries from its cursor. Any other failure ends it with a {@link LedgerError}:
   * `InvalidRequestError` before anything is sent, `PrunedError` and `LedgerResetError` if continuing would leave a gap,
   * `DecodeError`, `OrderError`, `UnauthorizedError`, `PageLimitError`, `ApiError`, and the last transient error when the
   * budget of the retry policy is used up. Unsubscribing aborts the request.
   *
   * To resume, subscribe with the offset of the last handled update as `beginExclusive`.
   *
   * @throws TypeError for invalid options, synchronously
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
  /** Emits the updates after `beginExclusive`, and an {@link InvalidUpdate} for each that does not decode. */
  updates(request: UpdatesRequest, options: UpdatesOptions): Observable<Update | InvalidUpdate>;
  /** Emits the current ledger end once. */
  ledgerEnd(): Observable<Offset>;
  /**
   * Reports what the client does, for logs, metrics and progress displays: polls, pages, retries, gaps, whether feeds have
   * caught up, the progress of submissions. Hot, never completes, and costs nothing without subscribers.
   */
  readonly diagnostics$: Observable<Diagnostic>;
}

/**
 * A client of a participant's ledger, which reads and submits.
 *
 * @category Ledger
 */
export interface Ledger extends LedgerReader {
  /**
   * Executes a prepared and signed submission, and emits the committed transaction once. Its `events` are empty if the format
   * includes none of them.
   *
   * Apart from the transaction, these are the only outcomes: `SubmissionRejectedError` or `SubmissionExpiredError`, nothing
   * was or will be committed by it; `NotSentError`, it never reached the service; `OutcomeUnknownError`, it may have been
   * committed, and the outcome could not be found in time; `UnauthorizedError`, the service refused the token; and
   * `InvalidRequestError` before anything is sent.
   *
   * If the answer is lost, the same signed bytes are sent again (`recover`): the ledger commits a change once, and the answer contains its offset.
   * A submission that the service refuses temporarily is sent again, too. A second subscription sends the same change.
   * Unsubscribing aborts the request, not the submission.
   */
  executeAndWaitForTransaction(request: ExecuteRequest, options?: ExecuteOptions): Observable<Transaction>;
  /** Requests the preparation of a submission for signing, and emits the result once. Does not change the ledger. */
  prepare(request: PrepareRequest): Observable<PreparedSubmission>;
  /**
   * Prepares a submission, verifies the result, signs it, executes it and finds its outcome. Emits the committed transaction
   * once.
   *
   * It fails as `prepare` and `executeAndWaitForTransaction` do; with a `VerificationError`, or another error of the verifier,
   * if the prepared submission must not be signed; or with the error of a signer. Before it is executed, nothing can have been
   * committed. A second subscription sends the same bytes if they may have been committed, and otherwise prepares the
   * submission again with the same command id: the ledger commits it once.
   *
   * @throws TypeError without `verify`, synchronously
   */
  submit(request: PrepareRequest, signer: Signer | readonly Signer[], options: SubmitOptions): Observable<Transaction>;
}
