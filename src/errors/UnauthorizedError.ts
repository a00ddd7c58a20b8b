import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

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
