import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { Base64 } from '../codecs/scalars.js';
import type { TransactionFormat } from '../codecs/UpdateFormat.js';
import { checkPositive } from '../http/retry.js';
import type { Verifier } from './Signer.js';

/** How a submission is verified, and executed. */
export interface SubmitOptions extends Pick<ExecuteOptions, 'recover'> {
  /**
   * Looks at what the participant prepared before it is signed: `preparedTransactionVerifier()` of `canton-rx/verify`, or a
   * verifier of your own. `false` trusts the participant with whatever the party's key can sign. There is no default.
   */
  readonly verify: Verifier | false;
  /** How far back the ledger looks for the same change. Default: `{ Empty: {} }`, as far as the participant allows. */
  readonly deduplicationPeriod?: DeduplicationPeriod | undefined;
  /** What the transaction shows. Default: changes of active contracts that a submitting party sees. */
  readonly transactionFormat?: TransactionFormat | undefined;
}

/** How a lost answer is made up for. */
export interface Recovery {
  /** For how long after the first failure, in milliseconds. */
  readonly withinMs: number;
}

/** What is done where the answer to a submission is lost. */
export interface ExecuteOptions {
  /**
   * Whether to find out what became of a submission whose answer was lost: the same signed bytes are sent again, with a
   * new submission id, and the ledger refuses what it has committed already. `withinMs` is how long that may go on after
   * the first failure, in milliseconds; the last try may take 5 seconds more. `false` sends once.
   *
   * @defaultValue `{ withinMs: 120_000 }`
   */
  readonly recover?: Recovery | false | undefined;
  /** The hash that was signed, as `prepare` answered it: told in errors, to find the transaction by. */
  readonly transactionHash?: Base64 | undefined;
}

/** How long to find out what became of a submission, in milliseconds; 0 for not at all. Throws a TypeError for no time. */
export function withinMsOf({ recover = { withinMs: 120_000 } }: ExecuteOptions): number {
  if (recover === false) return 0;
  checkPositive({ 'recover.withinMs': recover.withinMs });
  return recover.withinMs;
}
