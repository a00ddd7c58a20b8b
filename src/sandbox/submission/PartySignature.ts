/** One signature of an execute request, with the party that it is for. */
export interface PartySignature {
  readonly party: string;
  readonly format: string;
  readonly signature: Buffer;
  readonly signedBy: string;
  readonly algorithm: string;
}
