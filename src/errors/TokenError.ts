import { hasTag } from './internal/hasTag.js';
import type { Retried } from './Retried.js';

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
