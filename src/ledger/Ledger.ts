import type { Observable } from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/Offset.js';
import type { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { LedgerEvent } from '../events/LedgerEvent.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';

/** A Canton participant's ledger. Everything here is cold: nothing is sent before `subscribe`, and each subscription is its own. */
export interface Ledger {
  /**
   * The updates after `beginExclusive`, each once and in order: what there is, then what comes, for as long as it is
   * subscribed; with `endInclusive` up to there, also when the ledger has yet to come that far.
   *
   * A transient failure is retried from where the feed stands. Anything else ends it with a {@link LedgerError}:
   * `InvalidRequestError` before anything is sent, `PrunedError` and `LedgerResetError` where going on would leave a gap,
   * `DecodeError`, `OrderError`, `UnauthorizedError`, `PageLimitError`, `ApiError`, and the last transient error when
   * the retry policy's time is over. Unsubscribing aborts the request.
   *
   * To resume, subscribe with the offset of the last update that was handled as `beginExclusive`.
   *
   * @throws TypeError at once, for options that make no sense
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
  /** The updates after `beginExclusive`; one that does not decode is passed on as an {@link InvalidUpdate}. */
  updates(request: UpdatesRequest, options: UpdatesOptions): Observable<Update | InvalidUpdate>;
  /**
   * Executes a submission that was prepared and signed, and emits the committed transaction, once. Its `events` may be
   * empty, when the format shows none of them.
   *
   * Sent once; and once more only where the service refused the token and the provider has another. After a
   * `ConnectionError`, a `RequestTimeoutError`, a `DecodeError` or a transient `ApiError` the submission may have been
   * committed all the same; the same signed bytes with a new `submissionId` can be sent again safely, since the ledger
   * refuses the second of one change with `DUPLICATE_COMMAND`.
   * Unsubscribing aborts the request, not the submission.
   */
  executeAndWaitForTransaction(request: ExecuteRequest): Observable<Transaction>;
  /** Has a submission prepared for signing, and emits it, once. Changes nothing on the ledger. */
  prepare(request: PrepareRequest): Observable<PreparedSubmission>;
  /** Emits the offset at which the ledger ends now, once. */
  ledgerEnd(): Observable<Offset>;
  /**
   * What this ledger is doing, for logs, metrics and progress displays: polls, pages, retries, gaps, whether its feeds
   * have caught up. Hot, and never ends; costs nothing while nobody listens. Of a submission only a refreshed token is told.
   */
  readonly events$: Observable<LedgerEvent>;
}
