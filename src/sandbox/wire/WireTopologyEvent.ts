import type { WireAuthorization } from './WireAuthorization.js';
import type { WireRevocation } from './WireRevocation.js';

/** A change of what a participant may do for a party. */
export interface WireTopologyEvent {
  /** The one-of. */
  readonly event:
    | {
        /** A new authorisation. */
        readonly ParticipantAuthorizationAdded: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** Another permission than before. */
        readonly ParticipantAuthorizationChanged: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** An authorisation that waits for the party's contracts; from 3.5 on. */
        readonly ParticipantAuthorizationOnboarding: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** The end of an authorisation. */
        readonly ParticipantAuthorizationRevoked: {
          /** The event. */
          readonly value: WireRevocation;
        };
      };
}
