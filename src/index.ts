/**
 * A Canton participant's JSON Ledger API as RxJS Observables. Start with {@link createLedger}: it returns a client with a feed
 * of updates, and with submissions. Operators such as {@link toEvents} take updates apart. The active contracts are in
 * `canton-rx/contracts`.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger, ofEvent, toEvents } from 'canton-rx';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger
 *   .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(toEvents(), ofEvent('CreatedEvent'), take(3))
 *   .subscribe(({ offset, templateId }) => console.log(offset, templateId));
 * ```
 *
 * @module canton-rx
 */

// The ledger
export { createLedger, createLedgerReader } from './ledger/createLedger.js';
export type { LedgerOptions } from './ledger/LedgerOptions.js';
export type { Ledger, LedgerReader, UpdateOf } from './ledger/Ledger.js';
export type { UpdatesAfter, UpdatesOptions } from './feed/UpdatesOptions.js';
export { LedgerPosition, type LastUpdate, type RecordPoint } from './codecs/LedgerPosition.js';
export type { CompletionsOptions } from './feed/completions.js';
export type { UndecodedUpdate } from './feed/Page.js';
export type { Gap, Transport } from './feed/LedgerFeed.js';
export type { ExecuteOptions } from './submission/execute.js';
export type { SubmitOptions } from './submission/submit.js';
export type { BaseUrl } from './client/Addresses.js';
export type { HttpPort, HttpRequest, HttpResponse } from './http/HttpPort.js';
export type { Token } from './client/TokenSource.js';
export { clientCredentials, type ClientCredentials } from './client/clientCredentials.js';
export type { RetryPolicy } from './http/retry.js';
export type { Interception, Interceptor } from './client/Interceptor.js';

// Diagnostics
export type { Diagnostic } from './diagnostics/Diagnostic.js';
export { logTo, type LineLogger } from './diagnostics/logTo.js';

// Operators
export { awaitIngested } from './operators/ofTransaction.js';
export { filterEvents, type FilteredUpdate } from './operators/filterEvents.js';
export { ofChange } from './operators/ofTransaction.js';
export { ofEvent } from './operators/ofVariant.js';
export { ofTemplate } from './operators/ofTemplate.js';
export { ofTransaction } from './operators/ofTransaction.js';
export { ofVariant } from './operators/ofVariant.js';
export { onSynchronizer } from './operators/onSynchronizer.js';
export { positions } from './history/positions.js';
export { recordTimes } from './operators/recordTimes.js';
export { retryContention } from './operators/retryContention.js';
export { toEither } from './operators/toEither.js';
export { toEvents, type EventOf } from './operators/toEvents.js';
export type { AssignedEventOf, ContractEvent, CreatedEventOf, UndecodedEvent } from './operators/ContractEvent.js';
export type { ExercisedChoice, ExercisedEventOf, OtherExercisedEvent } from './operators/ContractEvent.js';

// Updates
export { Update, UpdateElement, type UnknownUpdate } from './codecs/Update.js';
export { Transaction } from './codecs/Transaction.js';
export { Reassignment } from './codecs/Reassignment.js';
export { TopologyTransaction } from './codecs/TopologyTransaction.js';
export { OffsetCheckpoint, type SynchronizerTime, type TraceContext } from './codecs/OffsetCheckpoint.js';

// Completions
export { Completion, type CompletionResponse, type UnknownCompletion } from './codecs/Completion.js';
export type { CompletionsRequest } from './codecs/Completion.js';

// Events
export { TransactionEvent, type UnknownEvent } from './codecs/Event.js';
export { ArchivedEvent, CreatedEvent, ExercisedEvent, type InterfaceView, type ViewStatus } from './codecs/Event.js';
export { AssignedEvent, ReassignmentEvent, UnassignedEvent } from './codecs/Reassignment.js';
export { TopologyEvent } from './codecs/TopologyTransaction.js';

// Requests for updates
export { acsDelta, ledgerEffects, type FormatOptions, type LedgerEffectsFormat } from './codecs/UpdateFormat.js';
export type { UpdatesRequest } from './codecs/UpdatesRequest.js';
export type { EventFormat, UpdateFormat } from './codecs/UpdateFormat.js';
export type { Filters } from './codecs/Filters.js';

// Contract types
export { contractType, interfaceType } from './codecs/TemplateType.js';
export type { ContractType, CreatableType } from './codecs/ContractType.js';
export type { InterfaceType, TemplateType } from './codecs/TemplateType.js';
export type { ArgumentOf, ChoiceType, JsonDecoder, PayloadOf, ResultOf } from './codecs/ContractType.js';
export { optional, type OptionalCodec } from './codecs/optional.js';
export type { StandardSchema } from './codecs/StandardSchema.js';

// Submissions
export { type Command, create, createAndExercise, exercise } from './codecs/Command.js';
export type { CommandsRequest } from './codecs/SubmissionRequest.js';
export type { CommandsOptions } from './submission/submitCommands.js';
export type { SubmittedTransaction } from './codecs/Transaction.js';
export type {
  CostEstimate,
  DisclosedContract,
  PreparedSubmission,
  PrepareRequest,
} from './codecs/SubmissionRequest.js';
export type { PartyDetails } from './codecs/PartyDetails.js';
export type { DeduplicationPeriod, ExecuteRequest, Signature } from './codecs/ExecuteRequest.js';
export type { Signer, Verifier } from './submission/Signer.js';
export { fingerprintOf, webCryptoSigner } from './submission/Signer.js';

// Values
export { type HashingSchemeVersion, Offset, type Party, type TemplateId, type Timestamp } from './codecs/scalars.js';

// Errors
export { isLedgerError, matchLedgerError, OutcomeUnknownError, type LedgerError } from './errors/LedgerError.js';
export { isTransient } from './errors/verdict.js';
export { summarize } from './errors/LedgerError.js';
export { ApiError } from './errors/ApiError.js';
export { ConnectionError, InvalidRequestError, RequestTimeoutError } from './errors/request.js';
export { ResponseTooLargeError, TokenError, UnauthorizedError } from './errors/request.js';
export { DecodeError, LedgerResetError, OrderError, PageLimitError, PrunedError } from './errors/feed.js';
export { SnapshotLimitError } from './errors/feed.js';
export { NotSentError, SubmissionExpiredError } from './errors/submission.js';
export { SubmissionRejectedError, VerificationError, type Submission } from './errors/submission.js';
export type { VerificationReason } from './errors/submission.js';
export type { RejectionReason } from './errors/rejectionReason.js';
export { CursorError, HandlerError, StoreError, type StoreOperation } from './errors/process.js';
export type { Problem } from './codecs/Problem.js';
