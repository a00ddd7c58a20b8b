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
import type {
  BatchHandler,
  BatchProcessOptions,
  Committed,
  Handler,
  ProcessOptions,
} from '../process/ProcessOptions.js';
import type { Signer } from '../submission/Signer.js';
import type { ExecuteOptions, SubmitOptions } from '../submission/SubmitOptions.js';

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
  /** As below, several updates at a time. */
  process<Tx = void>(
    request: UpdatesRequest,
    handler: BatchHandler<NoInfer<Tx>>,
    options: BatchProcessOptions<Tx>,
  ): Observable<Committed>;
  /**
   * Has a handler work on the updates after `beginExclusive`, each in its turn, and keeps the place behind what it has
   * done: in a store, from which it goes on when it is started again. Emits after each commit.
   *
   * The handler's Observable or Promise is awaited before it gets the next update; a page is asked for only as it keeps up.
   * With a {@link TransactionalStore} it works in the transaction that also saves the place, so that each update takes
   * effect once whatever crashes; with any other store an update may be handled again after a crash, up to a commit's worth.
   *
   * Ends as `updates` does; with a `HandlerError` where the handler fails for good and `onPoison` does not say otherwise; with a
   * `CursorError` where the stored place is not of this ledger and request; and with a `StoreError` when the store
   * fails for longer than the retry policy allows. Unsubscribing, or `signal`, stops it in an orderly way.
   *
   * @throws TypeError at once, for options that make no sense
   * @example
   * ```ts
   * import { acsDelta, createLedger, memoryStore } from 'canton-rx';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * const controller = new AbortController();
   * ledger
   *   .process(
   *     { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) },
   *     async (update) => {
   *       await Promise.resolve(update); // your work
   *     },
   *     { name: 'balances', store: memoryStore(), signal: controller.signal },
   *   )
   *   .subscribe(({ isCaughtUp }) => {
   *     if (isCaughtUp) controller.abort();
   *   });
   * ```
   */
  process<Tx = void>(
    request: UpdatesRequest,
    handler: Handler<NoInfer<Tx>>,
    options?: ProcessOptions<Tx>,
  ): Observable<Committed>;
  /**
   * Executes a submission that was prepared and signed, and emits the committed transaction, once. Its `events` may be
   * empty, when the format shows none of them.
   *
   * Ends in one of these, and in nothing else: the transaction; `SubmissionRejectedError` or `SubmissionExpiredError`,
   * nothing was or will be committed by it; `NotSentError`, it never reached the service; `OutcomeUnknownError`, it may
   * have been committed, and could not be found out in time; `UnauthorizedError`, the service refused the token; and
   * `InvalidRequestError` before anything is sent.
   *
   * Where the answer is lost, the same signed bytes are sent again (`recover`): the ledger commits a change once, and tells
   * where it did. So is a submission that the service refuses for the moment. Subscribing again sends the same change, too.
   * Unsubscribing aborts the request, not the submission.
   */
  executeAndWaitForTransaction(request: ExecuteRequest, options?: ExecuteOptions): Observable<Transaction>;
  /** Has a submission prepared for signing, and emits it, once. Changes nothing on the ledger. */
  prepare(request: PrepareRequest): Observable<PreparedSubmission>;
  /**
   * Prepares a submission, verifies what was prepared, has it signed, executes it and finds out what became of it: emits
   * the committed transaction, once.
   *
   * Ends otherwise as `prepare` and `executeAndWaitForTransaction` do; with a `VerificationError`, or whatever the verifier
   * says, where what was prepared must not be signed; or with a signer's own error. Until it is executed, nothing can
   * have been committed. Subscribing again sends what may have been committed as it is, and otherwise prepares anew, with
   * the same command id: the ledger commits it once.
   *
   * @throws TypeError at once, where `verify` was not chosen
   */
  submit(request: PrepareRequest, signer: Signer | readonly Signer[], options: SubmitOptions): Observable<Transaction>;
  /** Emits the offset at which the ledger ends now, once. */
  ledgerEnd(): Observable<Offset>;
  /**
   * What this ledger is doing, for logs, metrics and progress displays: polls, pages, retries, gaps, whether its feeds
   * have caught up, how submissions go. Hot, and never ends; costs nothing while nobody listens.
   */
  readonly diagnostics$: Observable<Diagnostic>;
}
