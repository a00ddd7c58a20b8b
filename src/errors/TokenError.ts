import { hasTag } from './internal/hasTag.js';

/** The token provider failed, ended without a token, or did not answer in time. Transient. */
export class TokenError extends Error {
  /** The class's name. */
  override readonly name = 'TokenError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'TokenError' as const;

  constructor(
    /** What happened, in a few words; never what the provider's own error says, which may be secret. */
    readonly reason: string,
  ) {
    super(`There is no token to send: ${reason}.`);
  }
}

/** Whether a value is a {@link TokenError}. */
export const isTokenError = (u: unknown): u is TokenError => hasTag(u, 'TokenError');
