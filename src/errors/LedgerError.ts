import type { Offset } from '../codecs/scalars.js';
import { type ApiError, lookUpCode } from './ApiError.js';
import type * as feed from './feed.js';
import { type Retried, TaggedError } from './internal/message.js';
import type * as process from './process.js';
import { isUndecodedRequest } from './rejectionReason.js';
import type * as request from './request.js';
import type * as submission from './submission.js';

/**
 * Every error of the Observables of this library: a union, discriminated by `_tag`.
 *
 * @category Errors
 */
export type LedgerError =
  | ApiError
  | OutcomeUnknownError
  | request.ConnectionError
  | request.InvalidRequestError
  | request.RequestTimeoutError
  | request.ResponseTooLargeError
  | request.TokenError
  | request.UnauthorizedError
  | feed.DecodeError
  | feed.LedgerResetError
  | feed.OrderError
  | feed.PageLimitError
  | feed.PrunedError
  | feed.SnapshotLimitError
  | submission.NotSentError
  | submission.SubmissionExpiredError
  | submission.SubmissionRejectedError
  | submission.VerificationError
  | process.CursorError
  | process.HandlerError
  | process.StoreError;

/**
 * A submission may have been committed: its response was lost, and its outcome could not be determined in time. Subscribe to
 * the same Observable again, which cannot commit it twice. Or look for the transaction in the feed after
 * `submission.since`.
 *
 * @category Errors
 */
export class OutcomeUnknownError extends TaggedError<'OutcomeUnknownError'> {
  constructor(
    /** The submission. */
    readonly submission: submission.Submission,
    /** The error of the last attempt. */
    readonly lastError: LedgerError,
    /** The offset of the transaction, if the ledger reported the commit, but the transaction could not be read. */
    readonly completionOffset?: Offset,
  ) {
    super(
      'OutcomeUnknownError',
      completionOffset === undefined
        ? 'The submission may have been committed.'
        : 'The submission was committed, but its transaction could not be read.',
      {
        'Committed at': completionOffset,
        Submission: submission.submissionId,
        Attempts: submission.attempts,
        'After offset': submission.since,
        'Last error': nameAndReason(lastError),
      },
    );
  }

  override get summary(): string {
    return this.completionOffset === undefined
      ? 'It is not known whether your request has succeeded.'
      : 'Your request has succeeded, but its result could not be read.';
  }
}

/** The name of an error and the beginning of its reason, if it has one. */
const nameAndReason = (error: LedgerError): string =>
  `${error.name}${'reason' in error && error.reason !== '' ? `: ${error.reason.slice(0, maxReason)}` : ''}`;

/** The maximum length of a reason within the message of another error. */
const maxReason = 200;

/**
 * One function for each error, by its `_tag`.
 *
 * @inline
 */
type LedgerErrorCases<R> = {
  readonly [T in LedgerError['_tag']]: (error: Extract<LedgerError, { readonly _tag: T }>) => R;
};

const tags: ReadonlySet<unknown> = new Set<LedgerError['_tag']>([
  'ResponseTooLargeError',
  'ApiError',
  'ConnectionError',
  'CursorError',
  'DecodeError',
  'HandlerError',
  'InvalidRequestError',
  'LedgerResetError',
  'NotSentError',
  'OutcomeUnknownError',
  'StoreError',
  'SubmissionExpiredError',
  'SubmissionRejectedError',
  'OrderError',
  'PageLimitError',
  'PrunedError',
  'RequestTimeoutError',
  'SnapshotLimitError',
  'TokenError',
  'UnauthorizedError',
  'VerificationError',
]);

/**
 * Whether a value is one of these errors; without tags, whether it is an error of this library. It compares the tag and not
 * the class, because two copies of the package have different classes.
 *
 * @example
 * ```ts
 * import { isLedgerError } from 'canton-rx';
 *
 * const isGap = (error: unknown): boolean => isLedgerError(error, 'PrunedError', 'LedgerResetError');
 * ```
 * @category Errors
 */
export function isLedgerError<T extends LedgerError['_tag']>(
  u: unknown,
  ...anyOf: readonly [T, ...T[]]
): u is Extract<LedgerError, { readonly _tag: T }>;
export function isLedgerError(u: unknown): u is LedgerError;
export function isLedgerError(u: unknown, ...anyOf: readonly unknown[]): boolean {
  if (typeof u !== 'object' || u === null || !('_tag' in u)) return false;
  // as the predicate of `filter`, it is called with an index and an array too
  return typeof anyOf[0] === 'string' ? anyOf.includes(u._tag) : tags.has(u._tag);
}

/**
 * Calls the function for an error's `_tag`. The compiler reports a missing function. A value that is not an error of this
 * library is thrown.
 *
 * @example
 * ```ts
 * import { isTransient, matchLedgerError, type LedgerError } from 'canton-rx';
 *
 * const advice = (error: LedgerError): string => (isTransient(error) ? 'try again' : explain(error));
 * const explain = matchLedgerError<string>({
 *   ResponseTooLargeError: ({ maxBytes }) => `more than ${maxBytes} bytes`,
 *   ApiError: ({ code, status }) => `the ledger answered ${code ?? status}`,
 *   ConnectionError: ({ reason }) => reason,
 *   CursorError: ({ explanation }) => `not the same ledger or request: ${explanation}`,
 *   DecodeError: ({ offset }) => `update ${offset ?? '?'} cannot be read`,
 *   HandlerError: ({ offset }) => `the handler failed on update ${offset}`,
 *   InvalidRequestError: ({ message }) => message,
 *   LedgerResetError: () => 'the ledger was reset',
 *   NotSentError: () => 'nothing was committed',
 *   OutcomeUnknownError: ({ submission }) => `look for it after ${submission.since ?? '?'}`,
 *   StoreError: ({ reason }) => `the store: ${reason}`,
 *   SubmissionExpiredError: () => 'prepare and sign again',
 *   SubmissionRejectedError: ({ reason }) => `nothing was committed: ${reason}`,
 *   OrderError: () => 'the participant is broken',
 *   PageLimitError: () => 'one update is too large',
 *   PrunedError: ({ earliestOffset }) => `resume from ${earliestOffset ?? '?'}, with a gap`,
 *   RequestTimeoutError: ({ afterMs }) => `no response within ${afterMs} ms`,
 *   SnapshotLimitError: ({ limit }) => `more than ${limit} contracts: use canton-rx/ws`,
 *   TokenError: ({ reason }) => reason,
 *   UnauthorizedError: () => 'log in again',
 *   VerificationError: ({ explanation }) => `not signed: ${explanation}`,
 * });
 * ```
 * @category Errors
 */
export const matchLedgerError =
  <R>(cases: LedgerErrorCases<R>) =>
  (error: LedgerError): R => {
    // from JavaScript, or an `any`: an unrelated error must not be lost here
    if (!isLedgerError(error)) throw error as unknown;
    // the compiler cannot relate the case to the error
    const handle = cases[error._tag] as (error: LedgerError) => R;
    return handle(error);
  };

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

/** Adds the retries to the last error of a feed that gave up, and to its message. */
export const withRetried = <E extends LedgerError>(error: E, retried: Retried): E =>
  Object.assign(error, {
    retried,
    message: `${error.message}\nRetried: ${retried.times} times in ${Math.round(retried.forMs)} ms`,
  });
