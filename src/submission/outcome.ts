import { type ApiError, lookUpCode } from '../errors/ApiError.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { ConnectionError } from '../errors/request.js';

/**
 * What a failed attempt means for the submission:
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
 * the HTTP status, in this order. If there is no response, by whether the request was sent.
 */
export function decideOutcome(error: LedgerError): Outcome {
  switch (error._tag) {
    case 'TokenError':
      return 'notSent';
    case 'ConnectionError':
      return connectionOutcome(error);
    case 'UnauthorizedError':
      return 'inconclusive';
    case 'ApiError':
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

/** Whether an attempt without a response was sent. */
export const connectionOutcome = ({ code = '' }: ConnectionError): 'notSent' | 'unknown' =>
  noConnection.test(code) ? 'notSent' : 'unknown';

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
  // the transaction may have been committed, and could not be read with the names in its format
  UPDATE_NOT_FOUND: 'unknown',
  PACKAGE_NAMES_NOT_FOUND: 'unknown',
  TEMPLATES_OR_INTERFACES_NOT_FOUND: 'unknown',
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: 'unknown',
  NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: 'unknown',
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'expired',
  LEDGER_TIME_OUTSIDE_BOUNDS: 'expired',
};

/** Codes that prove that nothing was committed: back-pressure before any work, and verdicts on the submission. */
const certainCodes =
  /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT|^LOCAL_VERDICT_|^MEDIATOR_SAYS_|^NOT_SEQUENCED_/;

function categoryOutcome({ errorCategory = 0, code = '', definiteAnswer }: ApiError): Outcome | undefined {
  switch (errorCategory) {
    // unavailable, contention, deadline: a retry may succeed, and only some of them prove that nothing was committed
    case 1:
    case 2:
    case 3:
      return definiteAnswer === true || (errorCategory === 2 && certainCodes.test(code)) ? 'busy' : 'unknown';
    case 4:
      return definiteAnswer === true ? 'inconclusive' : 'unknown';
    case 6:
    case 7:
      return 'inconclusive';
    case 5:
    case 8:
      return 'rejected';
    // depends on the current state of the participant, possibly before it searched for an earlier attempt
    case 9:
    case 10:
    case 11:
    case 12:
    case 14:
      return certainCodes.test(code) ? 'rejected' : 'inconclusive';
    default:
      return undefined;
  }
}

/** Statuses below 500 that do not show how far the request got. */
const unknownStatuses = [408, 409, 425, 429, 499];

function statusOutcome({ status }: ApiError): Outcome {
  if ((status >= 500 && status !== 501) || unknownStatuses.includes(status)) return 'unknown';
  // for example, a path that is temporarily missing, or an error whose reason the ledger withholds
  return 'inconclusive';
}
