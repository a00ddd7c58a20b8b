import { formatProblem, type Problem } from '../codecs/Problem.js';
import { nameOf, printableProblems, type Retried, TaggedError } from './internal/message.js';

/** The reason of an error if there is no response; browsers do not say more. */
export const connectionFailed = 'the connection failed';

/**
 * The participant could not be reached, or its response was incomplete or not JSON. Transient, unless `isPermanent`.
 *
 * @category Errors
 */
export class ConnectionError extends TaggedError<'ConnectionError'> {
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;
  /** The system's error code, such as `ECONNREFUSED`, if there is one. */
  readonly code?: string | undefined;
  /** The host and the port of the participant or proxy. */
  readonly host?: string | undefined;
  /** The fault of the server at this address and its remedy, if the response or its absence shows it. */
  readonly hint?: string | undefined;
  /**
   * Whether a retry cannot help, because the address is wrong: the server speaks another protocol, its certificate is not
   * trusted, or another system answers, such as with a web page. Only before the first response of the participant: afterwards, the same
   * failure is an outage, and transient.
   */
  readonly isPermanent: boolean;
  /** The delay that the response requests by `Retry-After`, in milliseconds, if it does. */
  readonly retryAfterMs?: number | undefined;

  /** @param facts - what else is known, by name */
  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The reason, in a few words. */
    readonly reason: string,
    facts: Partial<Pick<ConnectionError, 'code' | 'host' | 'hint' | 'isPermanent' | 'retryAfterMs'>> = {},
  ) {
    const { code, host, hint, isPermanent = false, retryAfterMs } = facts;
    const isUnreachable = code !== undefined || reason === connectionFailed;
    const fact = isUnreachable ? 'cannot be reached' : `did not answer as expected: ${reason}`;
    const details = { Hint: hint, Path: path };
    super('ConnectionError', `${nameOf(host)} ${fact}${code === undefined ? '' : ` (${code})`}.`, details);
    this.code = code;
    this.host = host;
    this.hint = hint;
    this.isPermanent = isPermanent;
    this.retryAfterMs = retryAfterMs;
  }

  override get summary(): string {
    return 'The ledger cannot be reached at the moment.';
  }
}

/**
 * The participant did not answer in time, and the request was aborted. Transient.
 *
 * @category Errors
 */
export class RequestTimeoutError extends TaggedError<'RequestTimeoutError'> {
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The timeout, in milliseconds. */
    readonly afterMs: number,
    /** The host and the port of the participant or proxy. */
    readonly host?: string,
  ) {
    super('RequestTimeoutError', `${nameOf(host)} did not answer within ${afterMs} ms.`, { Path: path });
  }

  override get summary(): string {
    return 'The ledger did not answer in time.';
  }
}

/**
 * A response is larger than the ledger's `maxResponseBytes` and was not read to its end. A feed then requests smaller pages.
 *
 * @category Errors
 */
export class ResponseTooLargeError extends TaggedError<'ResponseTooLargeError'> {
  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The limit, in bytes. */
    readonly maxBytes: number,
  ) {
    super('ResponseTooLargeError', `The response is larger than ${maxBytes} bytes.`, { Path: path });
  }

  override get summary(): string {
    return 'The ledger sent more data than this app accepts.';
  }
}

/**
 * The token provider failed, completed without a token, or did not return one in time. Transient.
 *
 * @category Errors
 */
export class TokenError extends TaggedError<'TokenError'> {
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;

  constructor(
    /** The reason, in a few words. Never the text of the provider's own error, which may contain a secret. */
    readonly reason: string,
  ) {
    super('TokenError', `No token is available: ${reason}.`);
  }

  override get summary(): string {
    return 'Your login could not be confirmed.';
  }
}

/** Why a value cannot be a token, and the remedy; `undefined` for a possible token. */
export function tokenProblem(token: unknown): string | undefined {
  if (typeof token !== 'string' || token === '') return 'is not a text, or an empty one';
  if (/^bearer\s/i.test(token)) return 'starts with "Bearer ": leave that out';
  return /^[\x21-\x7e]+$/.test(token)
    ? undefined
    : 'has a space, a line feed or another character of no token: trim it';
}

/**
 * The participant refuses the token, or none was sent. A token that never worked, and that the provider returns again, is a
 * permanent error, and a feed ends immediately. The error is transient, so that a feed retries with back-off, if the
 * provider returned another token that was refused as well (`tokenChanged`), or if the token may be accepted or replaced
 * later (`mayPass`).
 *
 * @category Errors
 */
export class UnauthorizedError extends TaggedError<'UnauthorizedError'> {
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** Whether the provider returned another token after the first was refused. */
    readonly tokenChanged = false,
    /** The host and the port of the participant or proxy. */
    readonly host?: string,
    hasToken = true,
    /**
     * Whether the participant may accept a token later: it has accepted one of this ledger before, or the token function is
     * about to replace a token that ends. A submission waits only in this case.
     */
    readonly mayPass = false,
  ) {
    const refusal = `refuses the token${tokenChanged ? ' and its replacement' : ''}`;
    super('UnauthorizedError', `${nameOf(host)} ${hasToken ? refusal : 'requires a token, and none was sent'}.`, {
      Path: path,
    });
  }

  override get summary(): string {
    return 'Your login is not valid.';
  }
}

/**
 * A request violates a rule of the ledger. It was not sent.
 *
 * @category Errors
 */
export class InvalidRequestError extends TaggedError<'InvalidRequestError'> {
  /** The invalid fields, at most 100. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('InvalidRequestError', 'The request is invalid and was not sent.', undefined, {
      lines: problems.map(formatProblem),
    });
    this.problems = printableProblems(problems);
  }

  override get summary(): string {
    return 'The request is not valid and was not sent.';
  }
}
