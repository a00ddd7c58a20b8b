import { AnswerTooLargeError, isAnswerTooLargeError } from '../errors/AnswerTooLargeError.js';
import { ConnectionError } from '../errors/ConnectionError.js';

/** The typed error of a request without an answer. Made anew in any case: what a port errors with may hold the request. */
export function failureOf(path: string, error: unknown): ConnectionError | AnswerTooLargeError {
  if (isAnswerTooLargeError(error)) return new AnswerTooLargeError(path, error.maxBytes);
  return new ConnectionError(path, 'the connection failed', codeWithin(error));
}

/** The system's code, from the innermost error that has one: fetch wraps them, and ky wraps fetch's. */
function codeWithin(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined;
  const inner = 'cause' in error ? codeWithin(error.cause, depth + 1) : undefined;
  return inner ?? ('code' in error && isCode(error.code) ? error.code : undefined);
}

/** A name, and not whatever a `fetch` of the caller's may put there. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(u);
