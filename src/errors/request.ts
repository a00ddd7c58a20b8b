import { formatProblem, type Problem } from '../codecs/Problem.js';
import { hasTag, lines } from './internal/message.js';
import type { Retried } from './verdict.js';

/** The service was not reached, or its answer did not arrive whole. Transient. */
export class ConnectionError extends Error {
  /** The class's name. */
  override readonly name = 'ConnectionError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'ConnectionError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** What happened, in a few words. */
    readonly reason: string,
    /** The system's name for it, such as `ECONNREFUSED`, where there is one. */
    readonly code?: string,
  ) {
    super(lines(`The ledger service gave no answer: ${reason}.`, { Path: path, Code: code }));
  }
}

/** Whether a value is a {@link ConnectionError}. */
export const isConnectionError = (u: unknown): u is ConnectionError => hasTag(u, 'ConnectionError');

/** The service did not answer in time; the request was aborted. Transient. */
export class RequestTimeoutError extends Error {
  /** The class's name. */
  override readonly name = 'RequestTimeoutError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'RequestTimeoutError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** How long the answer was waited for, in milliseconds. */
    readonly afterMs: number,
  ) {
    super(lines(`The ledger service did not answer within ${afterMs} ms.`, { Path: path }));
  }
}

/** Whether a value is a {@link RequestTimeoutError}. */
export const isRequestTimeoutError = (u: unknown): u is RequestTimeoutError => hasTag(u, 'RequestTimeoutError');

/** An answer is larger than the ledger's `maxAnswerBytes`; it was not read to its end. A feed asks for smaller pages then. */
export class AnswerTooLargeError extends Error {
  /** The class's name. */
  override readonly name = 'AnswerTooLargeError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'AnswerTooLargeError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The most that is read, in bytes. */
    readonly maxBytes: number,
  ) {
    super(lines(`The answer is larger than ${maxBytes} bytes.`, { Path: path }));
  }
}

/** Whether a value is an {@link AnswerTooLargeError}. */
export const isAnswerTooLargeError = (u: unknown): u is AnswerTooLargeError => hasTag(u, 'AnswerTooLargeError');

/** The token provider failed, ended without a token, or did not answer in time. Transient. */
export class TokenError extends Error {
  /** The class's name. */
  override readonly name = 'TokenError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'TokenError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** What happened, in a few words; never what the provider's own error says, which may be secret. */
    readonly reason: string,
  ) {
    super(`There is no token to send: ${reason}.`);
  }
}

/** Whether a value is a {@link TokenError}. */
export const isTokenError = (u: unknown): u is TokenError => hasTag(u, 'TokenError');

/** The service refuses the token, and asking for another brought the same one, or one that it refuses as well. */
export class UnauthorizedError extends Error {
  /** The class's name. */
  override readonly name = 'UnauthorizedError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'UnauthorizedError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
  ) {
    super(lines('The ledger service refuses the token.', { Path: path }));
  }
}

/** Whether a value is an {@link UnauthorizedError}. */
export const isUnauthorizedError = (u: unknown): u is UnauthorizedError => hasTag(u, 'UnauthorizedError');

/** A request breaks a rule of the ledger; nothing was sent. */
export class InvalidRequestError extends Error {
  /** The class's name. */
  override readonly name = 'InvalidRequestError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'InvalidRequestError' as const;

  constructor(
    /** Every field that is wrong. */
    readonly problems: readonly Problem[],
  ) {
    super(['The request is not valid; nothing was sent.', ...problems.map(formatProblem)].join('\n'));
  }
}

/** Whether a value is an {@link InvalidRequestError}. */
export const isInvalidRequestError = (u: unknown): u is InvalidRequestError => hasTag(u, 'InvalidRequestError');
