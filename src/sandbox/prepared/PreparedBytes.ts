/** A prepared transaction as it travels, and the hash that its party signs. */
export interface PreparedBytes {
  readonly bytes: Uint8Array;
  readonly hash: Buffer;
}
