import type { Base64 } from '../codecs/Base64.js';

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
