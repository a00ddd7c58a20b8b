import type { DeduplicationPeriod } from '../codecs/DeduplicationPeriod.js';
import type { TransactionFormat } from '../codecs/TransactionFormat.js';
import type { ExecuteOptions } from './ExecuteOptions.js';
import type { Verifier } from './Verifier.js';

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
