import { type ApiError, lookUpCode } from './ApiError.js';
import { isLedgerError, type LedgerError } from './LedgerError.js';
import { isUndecodedRequest } from './rejectionReason.js';

/**
 * The next step after an error of a request that may be repeated: repeat it after a delay, with a new token, for a smaller
 * page, at another path, or give up.
 */
type Verdict = 'retry' | 'refresh' | 'shrink' | 'switch' | 'stop';

/** The verdict on an error, by the ledger's code and category; by HTTP status if both are missing, or if the network answered. */
export function verdict(error: LedgerError): Verdict {
  switch (error._tag) {
    case 'ConnectionError':
      return error.isPermanent ? 'stop' : 'retry';
    case 'RequestTimeoutError':
    case 'TokenError':
      return 'retry';
    case 'StoreError':
      return error.endsProcessor ? 'stop' : 'retry';
    case 'UnauthorizedError':
      return error.tokenChanged || error.mayPass ? 'retry' : 'stop';
    case 'ResponseTooLargeError':
      return 'shrink';
    case 'ApiError':
      if (error.answeredBy === 'network') return networkVerdict(error);
      if (isUndecodedRequest(error)) return 'stop';
      return lookUpCode(verdictsByCode, error) ?? categoryVerdict(error) ?? statusVerdict(error);
    default:
      return 'stop';
  }
}

const verdictsByCode: Readonly<Record<string, Verdict>> = {
  // its category is contention, but the same page will always be too large
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: 'shrink',
  DEPRECATED_API_DISABLED: 'switch',
  ACCESS_TOKEN_EXPIRED: 'refresh',
  // a request took too long; it may have no category
  REQUEST_TIMEOUT: 'retry',
  // its category is an internal error before 3.6.1, and unavailability since
  INDEX_DB_SQL_NETWORK_TIMEOUT_ERROR: 'retry',
  // a signed submission outside its time bounds must be prepared and signed again
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'stop',
};

/**
 * The categories of unavailability, of contention and back-pressure, of a missed deadline, of an internal error, as of a
 * participant that stops, and of an offset after the ledger end.
 */
const transientCategories = [1, 2, 3, 4, 12];

const categoryVerdict = ({ errorCategory }: ApiError): Verdict | undefined => {
  // -1 in place of a category that the ledger withholds
  if (errorCategory === undefined || errorCategory < 1) return undefined;
  if (errorCategory === 6) return 'refresh';
  return transientCategories.includes(errorCategory) ? 'retry' : 'stop';
};

/** Of the ledger without a category that is known, and of the HTTP layer of the participant. */
function statusVerdict({ status, code }: ApiError): Verdict {
  if (status === 401) return 'refresh';
  if (code === undefined && (status === 404 || status === 405)) return 'switch';
  return isPassingStatus(status) ? 'retry' : 'stop';
}

/**
 * An answer of the network is an outage if the participant has answered at the path before. If it has not, the address may be
 * wrong, or a gateway may block the path.
 */
function networkVerdict(error: ApiError): Verdict {
  const { status, answeredBefore } = error;
  if (status === 401) return 'refresh';
  return answeredBefore === 'here' || isPassingStatus(status) || seemsMissing(error) ? 'retry' : 'stop';
}

/** Whether the network does not know a path that is new, of a participant that has answered elsewhere. */
const seemsMissing = ({ status, answeredBy, answeredBefore }: ApiError): boolean =>
  answeredBy === 'network' && answeredBefore === 'elsewhere' && [404, 405, 501].includes(status);

/** Statuses below 500 that may pass: a timeout, a request that is too early or too frequent, and a closed connection. */
const passingStatuses = [408, 425, 429, 460, 499];

/** Not implemented, and an HTTP version that is not supported. */
const permanentStatuses = [501, 505];

const isPassingStatus = (status: number): boolean =>
  status >= 500 ? !permanentStatuses.includes(status) : passingStatuses.includes(status);

/**
 * Whether a transient error may also be permanent, so that a request is repeated only a few times: an internal error of the
 * participant, which may stop or have a bug, and the answer of a gateway that may block a path.
 */
export const mayBePermanent = (error: LedgerError): boolean =>
  isLedgerError(error, 'ApiError') &&
  (seemsMissing(error) || error.errorCategory === 4 || (error.code === 'NA' && error.status === 500));

/**
 * Whether the same request may succeed later, without any intervention.
 *
 * @category Errors
 */
export const isTransient = (error: LedgerError): boolean => verdict(error) === 'retry';
