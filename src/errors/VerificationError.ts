import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/**
 * Why a prepared submission must not be signed: it cannot be read (`undecodable`), its hash is built in a way that cannot
 * be checked (`scheme`), the hash is not the one of the transaction (`hash`), or the transaction is another one than was
 * asked for: in its parties, command id or synchronizer (`parties`), in what it does (`commands`), or in its time bounds
 * (`times`). Or a verifier said `false` (`refused`).
 */
export type VerificationReason = 'undecodable' | 'scheme' | 'hash' | 'parties' | 'commands' | 'times' | 'refused';

/** A prepared submission must not be signed. It says why and where, never what was found; nothing was signed or sent. */
export class VerificationError extends Error {
  /** The class's name. */
  override readonly name = 'VerificationError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'VerificationError' as const;

  constructor(
    /** What is wrong with it, in a word. */
    readonly reason: VerificationReason,
    /** The same in a few words, without any value. */
    readonly explanation: string,
    /** The field, where there is one: `commands[0].createArguments.owner`. */
    readonly path?: string,
  ) {
    super(lines(`The prepared submission must not be signed: ${explanation}.`, { Reason: reason, Path: path }));
  }
}

/** Whether a value is a {@link VerificationError}. */
export const isVerificationError = (u: unknown): u is VerificationError => hasTag(u, 'VerificationError');
