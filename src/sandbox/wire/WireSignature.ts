/** A signature as `partySignatures` of an execute request takes it. */
export interface WireSignature {
  /** r and s after another. */
  readonly format: 'SIGNATURE_FORMAT_CONCAT';
  /** The signature in base64. */
  readonly signature: string;
  /** The fingerprint of the key. */
  readonly signedBy: string;
  /** Always Ed25519 here. */
  readonly signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519';
}
