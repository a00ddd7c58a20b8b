import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

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
