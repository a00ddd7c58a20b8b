import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { Base64 } from '../codecs/scalars.js';
import type { TransactionFormat } from '../codecs/UpdateFormat.js';
import { checkPositive } from '../http/retry.js';
import type { Verifier } from './Signer.js';

/**
 * Options for verifying and executing a submission.
 *
 * @category Submission
 */
export interface SubmitOptions extends Pick<ExecuteOptions, 'recover'> {
  /**
   * Checks the prepared submission before it is signed: `preparedTransactionVerifier()` from `canton-rx/verify`, or
   * your own verifier. `false` trusts the participant with everything that the party's key can sign. Required.
   */
  readonly verify: Verifier | false;
  /** How far back the ledger searches for the same change. Default: `{ Empty: {} }`, the longest period. */
  readonly deduplicationPeriod?: DeduplicationPeriod | undefined;
  /** The events in the transaction. Default: the changes of active contracts that a submitting party sees. */
  readonly transactionFormat?: TransactionFormat | undefined;
}

/**
 * Options for the recovery from a lost response.
 *
 * @category Submission
 */
export interface Recovery {
  /** How long to attempt the recovery after the first failure, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Options for executing a submission.
 *
 * @category Submission
 */
export interface ExecuteOptions {
  /**
   * How to determine the outcome of a submission whose response was lost. The client sends the same signed bytes again,
   * with a new submission id, and the ledger refuses what it has already committed. `withinMs` limits the time from the
   * first failure, in milliseconds; the last attempt may take 5 seconds longer. `false` sends the submission only once.
   *
   * @defaultValue `{ withinMs: 120_000 }`
   */
  readonly recover?: Recovery | false | undefined;
  /** The signed hash, as returned by `prepare`. Errors show it, so that you can find the transaction. */
  readonly transactionHash?: Base64 | undefined;
}

/** Returns the time for the recovery in milliseconds; 0 for none. Throws a TypeError if the time is out of range. */
export function recoveryTimeMs({ recover = { withinMs: 120_000 } }: ExecuteOptions): number {
  if (recover === false) return 0;
  checkPositive({ 'recover.withinMs': recover.withinMs });
  return recover.withinMs;
}
