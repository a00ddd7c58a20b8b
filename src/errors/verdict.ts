import { type ApiError, lookUpCode } from './ApiError.js';
import type { Retried } from './internal/message.js';
import type { LedgerError } from './LedgerError.js';

/**
 * What to do after an error of a request that may be repeated: repeat it after a delay, with a new token, for a smaller
 * page, at another path, or give up.
 */
type Verdict = 'retry' | 'refresh' | 'shrink' | 'switch' | 'stop';

/** The verdict on an error, by the ledger's code and category; by HTTP status only if both are missing. */
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
      return error.tokenChanged ? 'retry' : 'stop';
    case 'ResponseTooLargeError':
      return 'shrink';
    case 'ApiError':
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

/** The categories of unavailability, of contention and back-pressure, of a missed deadline, and of an offset after the ledger end. */
const transientCategories = [1, 2, 3, 12];

const categoryVerdict = ({ errorCategory }: ApiError): Verdict | undefined => {
  // -1 in place of a category that the ledger withholds
  if (errorCategory === undefined || errorCategory < 1) return undefined;
  if (errorCategory === 6) return 'refresh';
  return transientCategories.includes(errorCategory) ? 'retry' : 'stop';
};

const transientStatuses = [408, 425, 429, 499, 502, 503, 504];

function statusVerdict({ status, code }: ApiError): Verdict {
  const isFromLedger = code !== undefined;
  if (status === 401) return 'refresh';
  if (transientStatuses.includes(status)) return 'retry';
  if (isFromLedger) return 'stop';
  // from a proxy or the HTTP layer: an unknown path, or a failure unrelated to the request
  if (status === 404 || status === 405 || status === 501) return 'switch';
  return status === 500 ? 'retry' : 'stop';
}

/**
 * Whether the same request may succeed later, without any intervention.
 *
 * @category Errors
 */
export const isTransient = (error: LedgerError): boolean => verdict(error) === 'retry';

/** Adds the retries to the last error of a feed that gave up, and to its message. */
export const withRetried = <E extends LedgerError>(error: E, retried: Retried): E =>
  Object.assign(error, {
    retried,
    message: `${error.message}\nRetried: ${retried.times} times in ${Math.round(retried.forMs)} ms`,
  });
