import type { Offset } from '../codecs/scalars.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { earliestOffsetIn } from '../errors/readAnswer.js';
import { isTransient } from '../errors/verdict.js';
import { isUndecodedRequest, rejectionReason } from '../errors/rejectionReason.js';
import type { ConnectionError } from '../errors/request.js';
import {
  NotSentError,
  type Submission,
  SubmissionExpiredError,
  SubmissionRejectedError,
} from '../errors/submission.js';
import { retryAfterOf } from '../http/retry.js';
import { type Again, isAboutNames, type Kind, meaningOf, type Outcome, type Proof } from './codes.js';

/**
 * Determines what an error proves about an attempt. Only an error with a code of the ledger proves anything: a gateway may
 * replace the answer of a participant that has committed. A code proves what the table of codes says, then what its category
 * says. `definiteAnswer` proves nothing: it is false for final verdicts, too.
 *
 * @param hasNames - whether the attempt requests a transaction by names, which the participant looks up after the commit
 */
export function prove(error: LedgerError, kind: Kind, hasNames = false): Proof {
  switch (error._tag) {
    case 'TokenError':
      return { outcome: 'notSent', again: 'whileOpen' };
    case 'ConnectionError':
      return isNeverSent(error) ? { outcome: 'notSent', again: 'whileOpen' } : unknown;
    case 'UnauthorizedError':
      return { outcome: 'refused', again: error.mayPass ? 'always' : 'whileOpen' };
    case 'ApiError':
      return isWithheld(error) ? { outcome: 'unknown', again: againAfter(error) } : byCode(error);
    default:
      return unknown;
  }

  function byCode(answer: ApiError): Proof {
    const { code = '', errorCategory = 0 } = answer;
    if (isUndecodedRequest(answer)) return { outcome: 'refused', again: 'never' };
    if (hasNames && isAboutNames(code)) return unknown;
    const meaning = meaningOf(code);
    if (meaning !== undefined) return meaning[kind];
    const outcome = errorCategory < 1 || code === 'NA' ? outcomeOfStatus(answer) : outcomeOfCategory(errorCategory);
    if (outcome === 'unknown') return { outcome, again: errorCategory === 4 ? 'twice' : 'always' };
    return { outcome, again: kind === 'signed' ? signedAgain(answer) : hostedAgain(answer) };
  }
}

const unknown: Proof = { outcome: 'unknown', again: 'always' };

/** Security, authentication, permission, invalid argument, current state, resource, offset, unsupported. */
const refusedCategories: readonly number[] = [5, 6, 7, 8, 9, 10, 11, 12, 14];

const outcomeOfCategory = (category: number): Outcome => (refusedCategories.includes(category) ? 'refused' : 'unknown');

/** Statuses of the participant's HTTP layer, and of an error without a category, that are certain to come before any work. */
const refusedStatuses: readonly number[] = [400, 401, 403, 404, 405, 413, 501];

const outcomeOfStatus = ({ status }: ApiError): Outcome => (refusedStatuses.includes(status) ? 'refused' : 'unknown');

/** The same bytes stay insecure, invalid and too large. The state of the participant, and the rights of the user, may change. */
const signedAgain = ({ errorCategory, status }: ApiError): Again =>
  errorCategory === 5 || errorCategory === 8 || status === 413 ? 'never' : 'whileOpen';

function hostedAgain(error: ApiError): Again {
  const reason = rejectionReason(error);
  if (reason === 'contention') return 'thrice';
  return reason !== 'traffic' && isTransient(error) ? 'always' : 'never';
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
const isNeverSent = (error: ConnectionError): boolean =>
  isUnsent(error) || (error.isPermanent && error.code !== 'UND_ERR_DESTROYED');

const isOfNetwork = ({ answeredBy }: ApiError): boolean => answeredBy === 'network';

/**
 * Whether an answer says nothing about the attempt: that of the network, and an error whose reason the ledger withholds. A
 * refused token is an answer before any work, whoever refuses it, and so is a missing right.
 */
const isWithheld = (error: ApiError): boolean =>
  error.status !== 401 && (isOfNetwork(error) || (error.code === 'NA' && error.status !== 403));

/** A body that is too large stays so, whatever refuses it, and an error that is withheld may be a bug. */
const againAfter = (error: ApiError): Again => (isOfNetwork(error) && error.status !== 413 ? 'always' : 'twice');

/** Whether to send the same change again after a delay. */
export function mayRepeat(again: Again, limited: number, mayBeCommitted: boolean): boolean {
  switch (again) {
    case 'always':
      return true;
    case 'thrice':
      return limited <= 3;
    case 'twice':
      return limited <= 2;
    case 'whileOpen':
      return mayBeCommitted;
    case 'never':
      return false;
  }
}

/** The error of a submission that was not committed and will not be. */
export function refusalOf(error: LedgerError, submission: Submission, outcome: Outcome): LedgerError {
  if (outcome === 'notSent' || isLedgerError(error, 'ConnectionError', 'TokenError')) {
    const reason = 'reason' in error ? error.reason : error.message.split('\n', 1)[0];
    return new NotSentError(reason ?? '', submission, 'code' in error ? error.code : undefined);
  }
  if (isLedgerError(error, 'ApiError'))
    return outcome === 'expired'
      ? new SubmissionExpiredError(error, submission)
      : new SubmissionRejectedError(error, submission);
  return error;
}

/** The minimum delay before a change is sent again, in milliseconds: a participant under load needs time. */
export const minDelayMs = (error: LedgerError): number =>
  Math.max(
    retryAfterOf(error) ?? 0,
    isLedgerError(error, 'ApiError') && rejectionReason(error) === 'backPressure' ? 1_000 : 0,
  );

/**
 * Whether a submission is repeated after a transient error. After one about the token, only if the participant has accepted a
 * token before: otherwise the caller can do more about it than time.
 */
export const isAwaited = (error: LedgerError): boolean => !isLedgerError(error, 'UnauthorizedError') || error.mayPass;

/**
 * The earliest offset that a deduplication period may have, if a participant that is pruned within the requested one names
 * it.
 */
export function earliestOffset(error: LedgerError): Offset | undefined {
  if (!isLedgerError(error, 'ApiError', 'SubmissionRejectedError')) return undefined;
  if (error.code !== 'INVALID_DEDUPLICATION_PERIOD') return undefined;
  return earliestOffsetIn(error.context);
}
