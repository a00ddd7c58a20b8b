import type { AnswerTooLargeError } from './AnswerTooLargeError.js';
import type { ApiError } from './ApiError.js';
import type { ConnectionError } from './ConnectionError.js';
import type { CursorError } from './CursorError.js';
import type { DecodeError } from './DecodeError.js';
import type { HandlerError } from './HandlerError.js';
import type { InvalidRequestError } from './InvalidRequestError.js';
import type { LedgerResetError } from './LedgerResetError.js';
import type { NotSentError } from './NotSentError.js';
import type { OutcomeUnknownError } from './OutcomeUnknownError.js';
import type { StoreError } from './StoreError.js';
import type { SubmissionExpiredError } from './SubmissionExpiredError.js';
import type { SubmissionRejectedError } from './SubmissionRejectedError.js';
import type { OrderError } from './OrderError.js';
import type { PageLimitError } from './PageLimitError.js';
import type { PrunedError } from './PrunedError.js';
import type { RequestTimeoutError } from './RequestTimeoutError.js';
import type { TokenError } from './TokenError.js';
import type { UnauthorizedError } from './UnauthorizedError.js';
import type { VerificationError } from './VerificationError.js';

/** Everything that an Observable of this library may end with; told apart by `_tag`. */
export type LedgerError =
  | AnswerTooLargeError
  | ApiError
  | ConnectionError
  | CursorError
  | DecodeError
  | HandlerError
  | InvalidRequestError
  | LedgerResetError
  | NotSentError
  | OutcomeUnknownError
  | StoreError
  | SubmissionExpiredError
  | SubmissionRejectedError
  | OrderError
  | PageLimitError
  | PrunedError
  | RequestTimeoutError
  | TokenError
  | UnauthorizedError
  | VerificationError;

const tags: ReadonlySet<unknown> = new Set<LedgerError['_tag']>([
  'AnswerTooLargeError',
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
  'TokenError',
  'UnauthorizedError',
  'VerificationError',
]);

/** Whether a value is an error of this library. */
export const isLedgerError = (u: unknown): u is LedgerError =>
  typeof u === 'object' && u !== null && '_tag' in u && tags.has(u._tag);
