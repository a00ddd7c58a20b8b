import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { Base64 } from '../codecs/scalars.js';
import type { TransactionFormat } from '../codecs/UpdateFormat.js';
import { checkPositive } from '../http/retry.js';
import type { Verifier } from './Signer.js';

/**
 * How a submission is verified and executed.
 *
 * @category Submission
 */
export interface SubmitOptions extends Pick<ExecuteOptions, 'recover'> {
  /**
   * Checks what the participant prepared before it is signed: `preparedTransactionVerifier()` of `canton-rx/verify`, or a
   * verifier of your own. `false` trusts the participant with everything that the party's key can sign. There is no default.
   */
  readonly verify: Verifier | false;
  /** How far back the ledger searches for the same change. Default: `{ Empty: {} }`, as far as the participant allows. */
  readonly deduplicationPeriod?: DeduplicationPeriod | undefined;
  /** The events in the transaction. Default: the changes of active contracts that a submitting party sees. */
  readonly transactionFormat?: TransactionFormat | undefined;
}

/**
 * How to recover from a lost response.
 *
 * @category Submission
 */
export interface Recovery {
  /** For how long, after the first failure, in milliseconds. */
  readonly withinMs: number;
}

/**
 * How a submission is executed.
 *
 * @category Submission
 */
export interface ExecuteOptions {
  /**
   * How to find out the outcome of a submission whose response was lost: the same signed bytes are sent again, with a new
   * submission id, and the ledger refuses what it has already committed. `withinMs` limits the time for that, from the first
   * failure, in milliseconds; the last attempt may take 5 seconds more. `false` sends once.
   *
   * @defaultValue `{ withinMs: 120_000 }`
   */
  readonly recover?: Recovery | false | undefined;
  /** The hash that was signed, as `prepare` returned it. Errors show it, so that the transaction can be found. */
  readonly transactionHash?: Base64 | undefined;
}

/** The time to recover from a lost response, in milliseconds; 0 for none. Throws a TypeError for a time out of range. */
export function recoveryTimeMs({ recover = { withinMs: 120_000 } }: ExecuteOptions): number {
  if (recover === false) return 0;
  checkPositive({ 'recover.withinMs': recover.withinMs });
  return recover.withinMs;
}
