import type { ApiError } from './ApiError.js';
import type { LedgerError } from './LedgerError.js';

/**
 * What to do about an error of a request that may be asked again: wait and ask again, ask with a new token, ask for a
 * smaller page, ask at another path, or give up.
 */
export type Verdict = 'retry' | 'refresh' | 'shrink' | 'switch' | 'stop';

/** How often and how long a feed has asked again before it gave up. */
export interface Retried {
  /** How many times. */
  readonly times: number;
  /** How long, in milliseconds: the attempts and the waits between them. */
  readonly forMs: number;
}

/** The verdict on an error, decided by the ledger's code and category; by HTTP status only where neither is there. */
export function verdict(error: LedgerError): Verdict {
  switch (error._tag) {
    case 'ConnectionError':
    case 'RequestTimeoutError':
    case 'TokenError':
    case 'StoreError':
      return 'retry';
    case 'AnswerTooLargeError':
      return 'shrink';
    case 'ApiError':
      return ofCode(error) ?? ofCategory(error) ?? ofStatus(error);
    default:
      return 'stop';
  }
}

const codes: Readonly<Record<string, Verdict>> = {
  // its category says contention, but the same page will always be too large
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: 'shrink',
  DEPRECATED_API_DISABLED: 'switch',
  ACCESS_TOKEN_EXPIRED: 'refresh',
  // time bounds of a signed submission: it must be prepared and signed again
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'stop',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'stop',
};

const ofCode = ({ code }: ApiError): Verdict | undefined =>
  code !== undefined && Object.hasOwn(codes, code) ? codes[code] : undefined;

/** Unavailable, contention and back-pressure, deadline, not yet there. */
const transientCategories = [1, 2, 3, 12];

const ofCategory = ({ errorCategory }: ApiError): Verdict | undefined => {
  // below 1 the ledger keeps the category to itself
  if (errorCategory === undefined || errorCategory < 1) return undefined;
  if (errorCategory === 6) return 'refresh';
  return transientCategories.includes(errorCategory) ? 'retry' : 'stop';
};

const transientStatuses = [408, 425, 429, 499, 502, 503, 504];

function ofStatus({ status, code }: ApiError): Verdict {
  const isFromLedger = code !== undefined;
  if (status === 401) return 'refresh';
  if (transientStatuses.includes(status)) return 'retry';
  if (isFromLedger) return 'stop';
  // a proxy or the HTTP layer: a path that is not there, or a failure that says nothing of the request
  if (status === 404 || status === 405 || status === 501) return 'switch';
  return status === 500 ? 'retry' : 'stop';
}

/** Whether the same request may succeed later, without anybody doing something about it. */
export const isTransient = (error: LedgerError): boolean => verdict(error) === 'retry';

/** Adds to the last error of a feed that gave up, and to its message, how often and how long it had asked. */
export const withRetried = <E extends LedgerError>(error: E, retried: Retried): E =>
  Object.assign(error, {
    retried,
    message: `${error.message}\nRetried: ${retried.times} times in ${Math.round(retried.forMs)} ms`,
  });
