import type { Offset } from '../codecs/scalars.js';
import type { ApiError } from './ApiError.js';
import type * as feed from './feed.js';
import { type Retried, TaggedError } from './internal/message.js';
import type * as process from './process.js';
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

/** Adds the retries to the last error of a feed that gave up, and to its message. */
export const withRetried = <E extends LedgerError>(error: E, retried: Retried): E =>
  Object.assign(error, {
    retried,
    message: `${error.message}\nRetried: ${retried.times} times in ${Math.round(retried.forMs)} ms`,
  });

/**
 * Returns the sentence of an error for the person at a screen, in the words of the app, for example in another language. An
 * error without a sentence of the app has its own, `summary`.
 *
 * @example
 * ```ts
 * import { isLedgerError, summarize } from 'canton-rx';
 *
 * const words = {
 *   PrunedError: 'Der Verlauf ist nicht mehr verfügbar.',
 *   SubmissionRejectedError: ({ isContention }: { readonly isContention: boolean }) =>
 *     isContention ? 'Bitte noch einmal versuchen.' : 'Das ist nicht möglich.',
 * };
 * const sentenceOf = (error: unknown): string =>
 *   isLedgerError(error) ? summarize(error, words) : 'Etwas ist schiefgegangen.';
 * ```
 * @category Errors
 */
export function summarize(error: LedgerError, summaries: Summaries): string {
  // the compiler cannot relate the sentence to the error
  const own = summaries[error._tag] as string | ((error: LedgerError) => string) | undefined;
  return typeof own === 'function' ? own(error) : (own ?? error.summary);
}

/**
 * The sentences of an app, by `_tag`: each a text, or a function of the error.
 *
 * @inline
 */
type Summaries = {
  readonly [T in LedgerError['_tag']]?: string | ((error: Extract<LedgerError, { readonly _tag: T }>) => string);
};
