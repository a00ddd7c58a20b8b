import { Offset } from '../codecs/scalars.js';
import { type ApiError, lookUpCode } from '../errors/ApiError.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { isUndecodedRequest } from '../errors/rejectionReason.js';
import type { ConnectionError } from '../errors/request.js';

/**
 * What a failed attempt to execute a signed submission means:
 *
 * - `committed`: the ledger has committed the change.
 * - `rejected`: the ledger refused this attempt permanently.
 * - `busy`: the ledger refused this attempt temporarily.
 * - `expired`: this attempt is outside its time bounds.
 * - `notSent`: this attempt did not reach the participant.
 * - `inconclusive`: the participant refused this attempt because of its current state, which may change.
 * - `unknown`: this attempt may have been committed.
 *
 * Only `committed` says something about earlier attempts.
 */
export type Outcome = 'committed' | 'rejected' | 'busy' | 'expired' | 'notSent' | 'inconclusive' | 'unknown';

/**
 * Determines the outcome of a failed attempt: by the ledger's error code, its definite answer, its error category and
 * the HTTP status, in this order. If there is no response, by whether the request was sent. An answer of the network decides
 * nothing: a gateway may replace the answer of a participant that has committed.
 */
export function decideOutcome(error: LedgerError): Outcome {
  switch (error._tag) {
    case 'TokenError':
      return 'notSent';
    case 'ConnectionError':
      return connectionOutcome(error);
    case 'UnauthorizedError':
      return error.mayPass ? 'busy' : 'inconclusive';
    case 'ApiError':
      if (isAboutNames(error.code) || isUndecidedAnswer(error)) return 'unknown';
      if (isUndecodedRequest(error)) return 'rejected';
      return lookUpCode(outcomes, error) ?? categoryOutcome(error) ?? statusOutcome(error);
    default:
      return 'unknown';
  }
}

/**
 * Codes of a connection that was never established, so that nothing was sent: refused, unknown host, untrusted
 * certificate. An unreachable host is not among them, because an established connection may report it, too.
 */
const noConnection =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|ERR_TLS_CERT_\w+)$/;

/** Whether an attempt without a response was certainly not sent. */
export const isUnsent = ({ code = '' }: ConnectionError): boolean => noConnection.test(code);

/** Nothing at a wrong address accepts an attempt. A dispatcher that is destroyed aborts requests, too, that have been sent. */
const connectionOutcome = (error: ConnectionError): 'notSent' | 'unknown' =>
  isUnsent(error) || (error.isPermanent && error.code !== 'UND_ERR_DESTROYED') ? 'notSent' : 'unknown';

/**
 * Whether an answer says nothing about the attempt: that of the network, and an error whose reason the ledger withholds. A
 * refused token is an answer before any work, whoever refuses it, and so is a missing right.
 */
const isUndecidedAnswer = ({ answeredBy, code, status }: ApiError): boolean =>
  status !== 401 && (answeredBy === 'network' || (code === 'NA' && status !== 403));

/** The outcomes of codes whose category is misleading or not specific enough. */
const outcomes: Readonly<Record<string, Outcome>> = {
  DUPLICATE_COMMAND: 'committed',
  // an earlier attempt is still being processed
  SUBMISSION_ALREADY_IN_FLIGHT: 'unknown',
  // the token expired while the request waited for its result
  ACCESS_TOKEN_EXPIRED: 'unknown',
  STALE_STREAM_AUTHORIZATION: 'unknown',
  // a time limit of the client or of the HTTP layer
  REQUEST_TIMEOUT: 'unknown',
  // the transaction was committed, and could not be read
  UPDATE_NOT_FOUND: 'unknown',
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'expired',
  LEDGER_TIME_OUTSIDE_BOUNDS: 'expired',
};

/** Codes that prove that nothing was committed: back-pressure before any work, and verdicts on the submission. */
const certainCodes =
  /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT|^LOCAL_VERDICT_|^MEDIATOR_SAYS_|^NOT_SEQUENCED_/;

/** Unavailable, contention, deadline: a retry may succeed, and only some of them prove that nothing was committed. */
const passingCategories: readonly number[] = [1, 2, 3];

/** About the current state of the participant, possibly before it searched for an earlier attempt. */
const stateCategories: readonly number[] = [9, 10, 11, 12, 14];

function categoryOutcome({ errorCategory = 0, code = '', definiteAnswer }: ApiError): Outcome | undefined {
  const isCertain = certainCodes.test(code);
  if (passingCategories.includes(errorCategory))
    return definiteAnswer === true || (errorCategory === 2 && isCertain) ? 'busy' : 'unknown';
  if (stateCategories.includes(errorCategory)) return isCertain ? 'rejected' : 'inconclusive';
  // an internal error
  if (errorCategory === 4) return definiteAnswer === true ? 'inconclusive' : 'unknown';
  // authentication and permission, which may be granted; security and invalid arguments
  if (errorCategory === 6 || errorCategory === 7) return 'inconclusive';
  return errorCategory === 5 || errorCategory === 8 ? 'rejected' : undefined;
}

/** Statuses below 500 that do not show how far the request got. */
const unknownStatuses = [408, 409, 425, 429, 499];

function statusOutcome({ status }: ApiError): Outcome {
  if ((status >= 500 && status !== 501) || unknownStatuses.includes(status)) return 'unknown';
  // for example, a path that the participant does not serve
  return 'inconclusive';
}

/**
 * What a failed attempt to submit commands of hosted parties means. It follows from where in the participant the error
 * arises: the participant interprets the commands before it registers the change and searches for duplicates.
 *
 * - `committed`: the participant has committed the change, in this or an earlier attempt.
 * - `rejected`: the attempt was registered and failed. No earlier attempt was in flight or committed at that time.
 * - `refused`: the attempt failed before it was registered. That says nothing about earlier attempts.
 * - `inFlight`: another attempt is in flight.
 * - `notSent`: the attempt did not reach the participant.
 * - `pruned`: the deduplication period begins before the data that the participant still has.
 * - `unknown`: the attempt may have been committed, or may still be.
 */
export type AttemptOutcome = 'committed' | 'rejected' | 'refused' | 'inFlight' | 'notSent' | 'pruned' | 'unknown';

/**
 * Determines what an error means for an attempt: by the ledger's code, then its category, then the HTTP status.
 *
 * @param hasNames - whether the attempt requests a transaction by names, which the participant looks up after the commit
 */
export function decideAttempt(error: LedgerError, hasNames: boolean): AttemptOutcome {
  if (isLedgerError(error, 'TokenError')) return 'notSent';
  if (isLedgerError(error, 'ConnectionError')) return connectionOutcome(error);
  if (isLedgerError(error, 'UnauthorizedError')) return 'refused';
  if (!isLedgerError(error, 'ApiError')) return 'unknown';
  if (isUndecidedAnswer(error)) return 'unknown';
  const { code = '', errorCategory = 0, status } = error;
  const known = lookUpCode(attemptOutcomes, error);
  if (known !== undefined) return known;
  if (isUndecodedRequest(error)) return 'refused';
  if (isAboutNames(code)) return hasNames ? 'unknown' : 'refused';
  if (registered.test(code)) return 'rejected';
  if (errorCategory === 2) return refusedBusy.test(code) ? 'refused' : 'unknown';
  if (errorCategory < 1 || code === 'NA') return refusedStatuses.includes(status) ? 'refused' : 'unknown';
  return refusedCategories.includes(errorCategory) ? 'refused' : 'unknown';
}

/**
 * Whether a submission is repeated after a transient error. After one about the token, only if the participant has accepted a
 * token before: otherwise the caller can do more about it than time.
 */
export const isAwaited = (error: LedgerError): boolean => !isLedgerError(error, 'UnauthorizedError') || error.mayPass;

/** Whether an error of reading a transaction is about names in its format, which the participant does not know. */
export const isAboutNames = (code = ''): boolean =>
  /^(PACKAGE_NAMES|TEMPLATES_OR_INTERFACES)_NOT_FOUND$|^NO_(TEMPLATES|INTERFACE)_/.test(code);

const attemptOutcomes: Readonly<Record<string, AttemptOutcome>> = {
  DUPLICATE_COMMAND: 'committed',
  SUBMISSION_ALREADY_IN_FLIGHT: 'inFlight',
  INVALID_DEDUPLICATION_PERIOD: 'pruned',
  // the transaction was committed, and could not be read
  UPDATE_NOT_FOUND: 'unknown',
  // the token expired while the request waited for its result
  ACCESS_TOKEN_EXPIRED: 'unknown',
};

/** Codes of the synchronizer, of its mediator and of the confirming participants. A malformed request hides its reason. */
const registered =
  /^(LOCAL_VERDICT_(?!MALFORMED)|MEDIATOR_(SAYS|INVALID)_|NOT_SEQUENCED_|SEQUENCER_(BACKPRESSURE|REQUEST_FAILED|NOT_ENOUGH|MAX_SEQ)|OUTDATED_TRAFFIC)/;

/** Codes of a participant that is busy: of those with category 2, only they are certain to come before the registration. */
const refusedBusy =
  /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT|^INTERPRETATION_TIME|^FAILED_TO_DETERMINE|^NO_VIEW_|^CHOSEN_MEDIATOR/;

/** Security, authentication, permission, invalid argument, current state, resource, offset, unsupported. */
const refusedCategories: readonly number[] = [5, 6, 7, 8, 9, 10, 11, 12, 14];

/** Statuses of the participant's HTTP layer, and of an error without a category, that are certain to come before any work. */
const refusedStatuses: readonly number[] = [400, 401, 403, 404, 405, 413, 501];

/**
 * The earliest offset that a deduplication period may have, if a participant that is pruned within the requested one names
 * it.
 */
export function earliestOffset(error: LedgerError): Offset | undefined {
  if (!isLedgerError(error, 'ApiError') || error.code !== 'INVALID_DEDUPLICATION_PERIOD') return undefined;
  const digits = /^\d+$/.exec(error.context['earliest_offset'] ?? '')?.[0];
  const earliest = digits === undefined ? undefined : Number(digits);
  return Offset.is(earliest) ? earliest : undefined;
}
