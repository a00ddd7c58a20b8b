/** A participant that does nothing for a party from now on. */
export interface WireRevocation {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
}
