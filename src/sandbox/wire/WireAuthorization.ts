/** What a participant may do for a party from now on. */
export interface WireAuthorization {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** The permission, such as `PARTICIPANT_PERMISSION_SUBMISSION`. */
  readonly participantPermission: string;
}
