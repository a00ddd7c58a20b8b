import { isDecodeError } from '../errors/DecodeError.js';
import { isOutcomeUnknownError } from '../errors/OutcomeUnknownError.js';

/** Whether an error is one of decoding, or says that the last thing that was heard was one. */
export const isUndecodable = (error: unknown): boolean =>
  isDecodeError(isOutcomeUnknownError(error) ? error.lastError : error);
