/**
 * A Canton participant's JSON Ledger API as RxJS Observables.
 *
 * @module canton-rx
 */

// The ledger
export { createLedger } from './ledger/createLedger.js';
export type { Ledger } from './ledger/Ledger.js';
export type { LedgerOptions } from './ledger/LedgerOptions.js';
export type { InvalidUpdate } from './feed/InvalidUpdate.js';
export type { Gap } from './feed/Gap.js';
export type { UpdatesOptions } from './feed/UpdatesOptions.js';
export type { ExecuteOptions, Recovery } from './submission/ExecuteOptions.js';
export type { SubmitOptions } from './submission/SubmitOptions.js';
export type { HttpPort, HttpRequest, HttpResponse } from './http/HttpPort.js';
export type {
  SocketAlive,
  SocketEnd,
  SocketOpen,
  SocketPort,
  SocketRequest,
  SocketSign,
  SocketText,
} from './http/SocketPort.js';
export type { Token } from './http/Link.js';
export type { RetryPolicy } from './http/RetryPolicy.js';

// Processing
export type { BatchOptions, BatchProcessOptions, CommitEvery, ProcessOptions } from './process/ProcessOptions.js';
export type { BatchHandler, Handler, Work } from './process/Handler.js';
export type { Committed } from './process/Committed.js';
export type { CheckpointStore, TransactionalStore, Transactions } from './process/CheckpointStore.js';
export { memoryStore } from './process/memoryStore.js';
export { Cursor, type LastUpdate } from './process/Cursor.js';
export { Parked } from './process/Parked.js';
export { handleParked, type Unparked } from './process/handleParked.js';
export { toStatus } from './process/toStatus.js';
export type { ProcessStatus } from './process/ProcessStatus.js';
export { isReady, type ReadyOptions } from './process/isReady.js';

// What it is doing
export type { LedgerEvent } from './events/LedgerEvent.js';
export type { Happening, TokenRefreshed } from './events/Happening.js';
export type {
  CaughtUp,
  EndpointSwitched,
  FeedEnded,
  FeedHappening,
  FeedStarted,
  FellBehind,
  GapFound,
  PageLimitLearned,
  PageReceived,
  PollSent,
  RetryScheduled,
  SocketClosed,
  SocketOpened,
} from './events/FeedHappening.js';
export type { HandlerFailed, ProcessHappening, UpdateParked, UpdateSkipped } from './events/ProcessHappening.js';
export type {
  SubmissionCommitted,
  SubmissionFailed,
  SubmissionHappening,
  SubmissionPrepared,
  SubmissionSent,
  SubmissionSigned,
  SubmissionUnclear,
  SubmissionVerified,
} from './events/SubmissionHappening.js';

// Operators
export { awaitIngested } from './operators/awaitIngested.js';
export { ofEvent } from './operators/ofEvent.js';
export { ofTemplate, type TemplateEvent } from './operators/ofTemplate.js';
export { ofTransaction } from './operators/ofTransaction.js';
export { ofVariant } from './operators/ofVariant.js';
export { onSynchronizer } from './operators/onSynchronizer.js';
export { recordTimes } from './operators/recordTimes.js';
export { toEither } from './operators/toEither.js';
export { toEvents, type EventOf } from './operators/toEvents.js';

// Updates
export { Update, type UnknownUpdate } from './codecs/Update.js';
export { UpdateElement } from './codecs/UpdateElement.js';
export { Transaction } from './codecs/Transaction.js';
export { Reassignment } from './codecs/Reassignment.js';
export { TopologyTransaction } from './codecs/TopologyTransaction.js';
export { OffsetCheckpoint } from './codecs/OffsetCheckpoint.js';

// Events
export { Event } from './codecs/Event.js';
export { CreatedEvent } from './codecs/CreatedEvent.js';
export { ArchivedEvent } from './codecs/ArchivedEvent.js';
export { ExercisedEvent } from './codecs/ExercisedEvent.js';
export type { UnknownEvent } from './codecs/UnknownEvent.js';
export { ReassignmentEvent } from './codecs/ReassignmentEvent.js';
export { AssignmentEvent } from './codecs/AssignmentEvent.js';
export { UnassignedEvent } from './codecs/UnassignedEvent.js';
export { TopologyEvent, type UnknownTopologyEvent } from './codecs/TopologyEvent.js';
export { ParticipantAuthorizationAdded } from './codecs/ParticipantAuthorizationAdded.js';
export { ParticipantAuthorizationChanged } from './codecs/ParticipantAuthorizationChanged.js';
export { ParticipantAuthorizationOnboarding } from './codecs/ParticipantAuthorizationOnboarding.js';
export { ParticipantAuthorizationRevoked } from './codecs/ParticipantAuthorizationRevoked.js';
export { ParticipantPermission } from './codecs/ParticipantPermission.js';
export { InterfaceView, type ViewStatus } from './codecs/InterfaceView.js';
export { SynchronizerTime } from './codecs/SynchronizerTime.js';
export { TraceContext } from './codecs/TraceContext.js';

// Requests for updates
export { UpdatesRequest, type UpdatesRange, type UpdatesSelection } from './codecs/UpdatesRequest.js';
export { acsDelta } from './codecs/acsDelta.js';
export { ledgerEffects } from './codecs/ledgerEffects.js';
export type { FormatOptions } from './codecs/FormatOptions.js';
export { UpdateFormat } from './codecs/UpdateFormat.js';
export { TransactionFormat } from './codecs/TransactionFormat.js';
export { TransactionShape } from './codecs/TransactionShape.js';
export { EventFormat } from './codecs/EventFormat.js';
export { TopologyFormat, type ParticipantAuthorizationFormat } from './codecs/TopologyFormat.js';
export { Filters, type CumulativeFilter } from './codecs/Filters.js';
export {
  IdentifierFilter,
  type InterfaceFilter,
  type TemplateFilter,
  type WildcardFilter,
} from './codecs/IdentifierFilter.js';
export { TransactionFilter } from './codecs/TransactionFilter.js';
export { LedgerEnd } from './codecs/LedgerEnd.js';
export type { Opt } from './codecs/Opt.js';

// Submissions
export { PrepareRequest } from './codecs/PrepareRequest.js';
export {
  Command,
  type CreateAndExerciseCommand,
  type CreateCommand,
  type ExerciseByKeyCommand,
  type ExerciseCommand,
} from './codecs/Command.js';
export { DisclosedContract } from './codecs/DisclosedContract.js';
export { PrefetchContractKey } from './codecs/PrefetchContractKey.js';
export { TrafficEstimation } from './codecs/TrafficEstimation.js';
export { PreparedSubmission, type CostEstimation } from './codecs/PreparedSubmission.js';
export { ExecuteRequest } from './codecs/ExecuteRequest.js';
export { ExecuteResponse } from './codecs/ExecuteResponse.js';
export { PartySignatures, type SinglePartySignatures } from './codecs/PartySignatures.js';
export { Signature, type SignatureFormat, type SigningAlgorithmSpec } from './codecs/Signature.js';
export { HashingSchemeVersion } from './codecs/HashingSchemeVersion.js';
export { DeduplicationPeriod } from './codecs/DeduplicationPeriod.js';
export { MinLedgerTime } from './codecs/MinLedgerTime.js';
export { Duration } from './codecs/Duration.js';
export { Empty } from './codecs/Empty.js';

// Signing
export type { Signer } from './submission/Signer.js';
export { webCryptoSigner, type WebCryptoSignerOptions } from './submission/webCryptoSigner.js';
export { fingerprintOf } from './submission/fingerprintOf.js';
export type { Verifier } from './submission/Verifier.js';

// Scalars
export { Offset } from './codecs/Offset.js';
export { Int64 } from './codecs/Int64.js';
export { Timestamp } from './codecs/Timestamp.js';
export { Party } from './codecs/Party.js';
export { LedgerString } from './codecs/LedgerString.js';
export { PackageName } from './codecs/PackageName.js';
export { TemplateId } from './codecs/TemplateId.js';
export { UserId } from './codecs/UserId.js';
export { Base64 } from './codecs/Base64.js';

// Errors
export { isLedgerError, type LedgerError } from './errors/LedgerError.js';
export { matchLedgerError, type LedgerErrorCases } from './errors/matchLedgerError.js';
export { isTransient } from './errors/verdict.js';
export { AnswerTooLargeError, isAnswerTooLargeError } from './errors/AnswerTooLargeError.js';
export { ApiError, isApiError, type ApiErrorFacts } from './errors/ApiError.js';
export { ConnectionError, isConnectionError } from './errors/ConnectionError.js';
export { CursorError, isCursorError, type CursorReason } from './errors/CursorError.js';
export { DecodeError, isDecodeError } from './errors/DecodeError.js';
export { HandlerError, isHandlerError } from './errors/HandlerError.js';
export { InvalidRequestError, isInvalidRequestError } from './errors/InvalidRequestError.js';
export { isLedgerResetError, LedgerResetError } from './errors/LedgerResetError.js';
export { isNotSentError, NotSentError } from './errors/NotSentError.js';
export { isOutcomeUnknownError, OutcomeUnknownError } from './errors/OutcomeUnknownError.js';
export { isStoreError, StoreError, type StoreOperation } from './errors/StoreError.js';
export { isSubmissionExpiredError, SubmissionExpiredError } from './errors/SubmissionExpiredError.js';
export { isSubmissionRejectedError, SubmissionRejectedError } from './errors/SubmissionRejectedError.js';
export { isOrderError, OrderError } from './errors/OrderError.js';
export { isPageLimitError, PageLimitError } from './errors/PageLimitError.js';
export { isPrunedError, PrunedError } from './errors/PrunedError.js';
export { isRequestTimeoutError, RequestTimeoutError } from './errors/RequestTimeoutError.js';
export type { Retried } from './errors/Retried.js';
export type { Submission } from './errors/Submission.js';
export { isTokenError, TokenError } from './errors/TokenError.js';
export { isUnauthorizedError, UnauthorizedError } from './errors/UnauthorizedError.js';
export { isVerificationError, VerificationError, type VerificationReason } from './errors/VerificationError.js';
export { JsCantonError } from './codecs/JsCantonError.js';
export { formatProblem, problemsOf, type Problem } from './codecs/Problem.js';
