import type { HostedParty } from './HostedParty.js';
import type { WireSignature } from './wire/WireSignature.js';

/** A party with a key that the sandbox made, hosted on the sandbox. */
export interface ExternalParty extends HostedParty {
  /**
   * Signs what a prepare answer calls `preparedTransactionHash`.
   *
   * @param preparedTransactionHash - the hash in base64
   */
  readonly sign: (preparedTransactionHash: string) => WireSignature;
}
