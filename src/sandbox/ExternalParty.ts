import type { WireSignature } from './wire/WireSignature.js';

/** A party with its own key, hosted on the sandbox. */
export interface ExternalParty {
  /** The party id, `hint::fingerprint`. */
  readonly party: string;
  /** The fingerprint of the public key. */
  readonly fingerprint: string;
  /**
   * Signs what a prepare answer calls `preparedTransactionHash`.
   *
   * @param preparedTransactionHash - the hash in base64
   */
  readonly sign: (preparedTransactionHash: string) => WireSignature;
}
