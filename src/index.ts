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
export type { Ledger, LedgerReader } from './ledger/Ledger.js';
export type { LedgerOptions } from './ledger/LedgerOptions.js';
export type { InvalidUpdate } from './feed/UpdatesOptions.js';
export type { Gap } from './feed/UpdatesOptions.js';
export type { UpdatesOptions } from './feed/UpdatesOptions.js';
export type { ExecuteOptions, Recovery } from './submission/SubmitOptions.js';
export type { SubmitOptions } from './submission/SubmitOptions.js';
export type { HttpPort, HttpRequest, HttpResponse } from './http/HttpPort.js';
export type { Transport } from './feed/Transport.js';
export type { Token } from './http/Link.js';
export type { RetryPolicy } from './http/retry.js';

// Diagnostics
export { logTo, type LineLogger } from './diagnostics/logTo.js';
export type { Diagnostic } from './diagnostics/Diagnostic.js';
export type { DiagnosticBody, ResponseDelayed, TokenRefreshed } from './diagnostics/Diagnostic.js';
export type {
  CaughtUp,
  EndpointSwitched,
  FeedEnded,
  FeedDiagnostic,
  FeedStarted,
  FellBehind,
  GapFound,
  PageLimitLearned,
  PageReceived,
  PollSent,
  RetryScheduled,
  SocketClosed,
  SocketOpened,
} from './diagnostics/FeedDiagnostic.js';
export type {
  ContractsDiagnostic,
  ContractUndecoded,
  SnapshotCompleted,
  SnapshotPageReceived,
  SnapshotRestarted,
  SnapshotStarted,
  TypesUnknown,
} from './diagnostics/ContractsDiagnostic.js';
export type {
  HandlerFailed,
  NameLost,
  ProcessDiagnostic,
  UpdateParked,
  UpdateSkipped,
} from './diagnostics/Diagnostic.js';
export type {
  SubmissionCommitted,
  SubmissionFailed,
  SubmissionDiagnostic,
  SubmissionPrepared,
  SubmissionSent,
  SubmissionSigned,
  SubmissionUnclear,
  SubmissionVerified,
} from './diagnostics/SubmissionDiagnostic.js';

// Operators
export { awaitIngested } from './operators/awaitIngested.js';
export { filterEvents, type FilteredUpdate } from './operators/filterEvents.js';
export { ofEvent } from './operators/ofEvent.js';
export { ofTemplate, type TemplateEvent } from './operators/ofTemplate.js';
export type { AssignedEventOf, ContractEvent, CreatedEventOf, UndecodedEvent } from './operators/ContractEvent.js';
export type {
  ChoiceNameOf,
  ExercisedChoice,
  ExercisedEventOf,
  OtherExercisedEvent,
} from './operators/ContractEvent.js';
export type { DecodeOptions } from './operators/decodeEvents.js';
export { ofTransaction } from './operators/ofTransaction.js';
export { ofVariant } from './operators/ofVariant.js';
export { onSynchronizer } from './operators/onSynchronizer.js';
export { recordTimes } from './operators/recordTimes.js';
export { toEither } from './operators/toEither.js';
export { toEvents, type EventOf } from './operators/toEvents.js';

// Updates
export { Update, type UnknownUpdate } from './codecs/Update.js';
export { UpdateElement } from './codecs/Update.js';
export { Transaction } from './codecs/Transaction.js';
export { Reassignment } from './codecs/Reassignment.js';
export { TopologyTransaction } from './codecs/TopologyTransaction.js';
export { OffsetCheckpoint } from './codecs/OffsetCheckpoint.js';

// Events
export { Event } from './codecs/Event.js';
export { CreatedEvent } from './codecs/Event.js';
export { ArchivedEvent } from './codecs/Event.js';
export { ExercisedEvent } from './codecs/Event.js';
export type { UnknownEvent } from './codecs/Event.js';
export { ReassignmentEvent } from './codecs/Reassignment.js';
export { AssignedEvent } from './codecs/Reassignment.js';
export { UnassignedEvent } from './codecs/Reassignment.js';
export { TopologyEvent, type UnknownTopologyEvent } from './codecs/TopologyTransaction.js';
export { ParticipantAuthorizationAdded } from './codecs/TopologyTransaction.js';
export { ParticipantAuthorizationChanged } from './codecs/TopologyTransaction.js';
export { ParticipantAuthorizationOnboarding } from './codecs/TopologyTransaction.js';
export { ParticipantAuthorizationRevoked } from './codecs/TopologyTransaction.js';
export { ParticipantPermission } from './codecs/TopologyTransaction.js';
export { InterfaceView, type ProtoAny, type ViewStatus } from './codecs/Event.js';
export { SynchronizerTime } from './codecs/OffsetCheckpoint.js';
export { TraceContext } from './codecs/OffsetCheckpoint.js';

// Requests for updates
export { UpdatesRequest, type UpdatesRange, type UpdatesSelection } from './codecs/UpdatesRequest.js';
export { acsDelta } from './codecs/formats.js';
export { ledgerEffects } from './codecs/formats.js';
export type { FormatOptions } from './codecs/formats.js';
export { UpdateFormat } from './codecs/UpdateFormat.js';
export { TransactionFormat } from './codecs/UpdateFormat.js';
export { TransactionShape } from './codecs/UpdateFormat.js';
export { EventFormat } from './codecs/UpdateFormat.js';
export { TopologyFormat, type ParticipantAuthorizationFormat } from './codecs/UpdateFormat.js';
export { Filters, type CumulativeFilter } from './codecs/Filters.js';
export { IdentifierFilter, type InterfaceFilter, type TemplateFilter, type WildcardFilter } from './codecs/Filters.js';
export { TransactionFilter } from './codecs/Filters.js';
export { LedgerEnd } from './codecs/OffsetCheckpoint.js';
export type { Opt } from './codecs/scalars.js';

// Contract types
export { contractType, interfaceType } from './codecs/ContractType.js';
export type { ContractType, CreatableType, InterfaceType, TemplateType } from './codecs/ContractType.js';
export type { ArchiveAlone, ChoiceCodecs, ChoiceCodecsByName, ChoicesOf, TypeOptions } from './codecs/ContractType.js';
export type { ArgumentOf, ChoiceType, PayloadOf, ResultOf, Unit } from './codecs/ContractType.js';
export type { Decoded, DecodeFailure, JsonDecoder } from './codecs/ContractType.js';

// Submissions
export { create, createAndExercise, exercise } from './codecs/commands.js';
export { PrepareRequest } from './codecs/PrepareRequest.js';
export {
  Command,
  type CreateAndExerciseCommand,
  type CreateCommand,
  type ExerciseByKeyCommand,
  type ExerciseCommand,
} from './codecs/Command.js';
export { DisclosedContract } from './codecs/PrepareRequest.js';
export { PrefetchContractKey } from './codecs/PrepareRequest.js';
export { TrafficEstimation } from './codecs/PrepareRequest.js';
export { PreparedSubmission, type CostEstimation } from './codecs/PreparedSubmission.js';
export { ExecuteRequest } from './codecs/ExecuteRequest.js';
export { ExecuteResponse } from './codecs/Transaction.js';
export { PartySignatures, type SinglePartySignatures } from './codecs/ExecuteRequest.js';
export { Signature, type SignatureFormat, type SigningAlgorithmSpec } from './codecs/ExecuteRequest.js';
export { HashingSchemeVersion } from './codecs/scalars.js';
export { DeduplicationPeriod } from './codecs/ExecuteRequest.js';
export { MinLedgerTime } from './codecs/MinLedgerTime.js';
export { Duration } from './codecs/MinLedgerTime.js';
export { Empty } from './codecs/MinLedgerTime.js';

// Signing
export type { Signer } from './submission/Signer.js';
export { webCryptoSigner, type WebCryptoSignerOptions } from './submission/webCryptoSigner.js';
export { fingerprintOf } from './submission/webCryptoSigner.js';
export type { Verifier } from './submission/Signer.js';

// Scalars
export { Offset } from './codecs/scalars.js';
export { Int64 } from './codecs/scalars.js';
export { Timestamp } from './codecs/scalars.js';
export { Party } from './codecs/scalars.js';
export { LedgerString } from './codecs/scalars.js';
export { PackageName } from './codecs/scalars.js';
export { TemplateId } from './codecs/scalars.js';
export { UserId } from './codecs/scalars.js';
export { Base64 } from './codecs/scalars.js';

// Errors
export { isLedgerError, type LedgerError } from './errors/LedgerError.js';
export { matchLedgerError, type LedgerErrorCases } from './errors/LedgerError.js';
export { isTransient } from './errors/verdict.js';
export { AnswerTooLargeError, isAnswerTooLargeError } from './errors/request.js';
export { ApiError, isApiError, type ApiErrorFacts } from './errors/ApiError.js';
export { ConnectionError, isConnectionError } from './errors/request.js';
export { CursorError, isCursorError, type CursorReason } from './errors/process.js';
export { DecodeError, isDecodeError } from './errors/feed.js';
export { HandlerError, isHandlerError } from './errors/process.js';
export { InvalidRequestError, isInvalidRequestError } from './errors/request.js';
export { isLedgerResetError, LedgerResetError } from './errors/feed.js';
export { isNotSentError, NotSentError } from './errors/submission.js';
export { isOutcomeUnknownError, OutcomeUnknownError } from './errors/submission.js';
export { isStoreError, StoreError, type StoreOperation } from './errors/process.js';
export { isSubmissionExpiredError, SubmissionExpiredError } from './errors/submission.js';
export { isSubmissionRejectedError, SubmissionRejectedError } from './errors/submission.js';
export { isOrderError, OrderError } from './errors/feed.js';
export { isPageLimitError, PageLimitError } from './errors/feed.js';
export { isSnapshotLimitError, SnapshotLimitError } from './errors/feed.js';
export { isPrunedError, PrunedError } from './errors/feed.js';
export { isRequestTimeoutError, RequestTimeoutError } from './errors/request.js';
export type { Retried } from './errors/verdict.js';
export type { Submission } from './errors/submission.js';
export { isTokenError, TokenError } from './errors/request.js';
export { isUnauthorizedError, UnauthorizedError } from './errors/request.js';
export { isVerificationError, VerificationError, type VerificationReason } from './errors/submission.js';
export { JsCantonError } from './codecs/JsCantonError.js';
export { formatProblem, problemsOf, type Problem } from './codecs/Problem.js';
