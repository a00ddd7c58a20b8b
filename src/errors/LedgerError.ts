import type { ApiError } from './ApiError.js';
import type { ConnectionError } from './ConnectionError.js';
import type { DecodeError } from './DecodeError.js';
import type { InvalidRequestError } from './InvalidRequestError.js';
import type { LedgerResetError } from './LedgerResetError.js';
import type { OrderError } from './OrderError.js';
import type { PageLimitError } from './PageLimitError.js';
import type { PrunedError } from './PrunedError.js';
import type { RequestTimeoutError } from './RequestTimeoutError.js';
import type { TokenError } from './TokenError.js';
import type { UnauthorizedError } from './UnauthorizedError.js';

/** Everything that an Observable of this library may end with; told apart by `_tag`. */
export type LedgerError =
  | ApiError
  | ConnectionError
  | DecodeError
  | InvalidRequestError
  | LedgerResetError
  | OrderError
  | PageLimitError
  | PrunedError
  | RequestTimeoutError
  | TokenError
  | UnauthorizedError;

const tags: Readonly<Record<LedgerError['_tag'], true>> = {
  ApiError: true,
  ConnectionError: true,
  DecodeError: true,
  InvalidRequestError: true,
  LedgerResetError: true,
  OrderError: true,
  PageLimitError: true,
  PrunedError: true,
  RequestTimeoutError: true,
  TokenError: true,
  UnauthorizedError: true,
};

/** Whether a value is an error of this library. */
export const isLedgerError = (u: unknown): u is LedgerError =>
  typeof u === 'object' && u !== null && '_tag' in u && typeof u._tag === 'string' && Object.hasOwn(tags, u._tag);
