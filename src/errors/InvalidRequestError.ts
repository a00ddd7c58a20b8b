import { formatProblem, type Problem } from '../codecs/Problem.js';
import { hasTag } from './internal/hasTag.js';

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
