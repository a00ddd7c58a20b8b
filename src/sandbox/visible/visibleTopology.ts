import type { SandboxProfile } from '../SandboxProfile.js';
import type { WireTopologyEvent } from '../wire/WireTopologyEvent.js';
import type { WireTopologyTransaction } from '../wire/WireTopologyTransaction.js';

/** A change of topology as its reader gets it, `undefined` if nothing is left of it. */
export function visibleTopology(
  update: WireTopologyTransaction,
  parties: readonly string[],
  profile: SandboxProfile,
): object | undefined {
  const events = update.events.filter(
    (event) => (parties.length === 0 || parties.includes(partyOf(event))) && isKnown(event, profile),
  );
  return events.length === 0 ? undefined : { ...update, events };
}

function partyOf({ event }: WireTopologyEvent): string {
  if ('ParticipantAuthorizationAdded' in event) return event.ParticipantAuthorizationAdded.value.partyId;
  if ('ParticipantAuthorizationChanged' in event) return event.ParticipantAuthorizationChanged.value.partyId;
  if ('ParticipantAuthorizationOnboarding' in event) return event.ParticipantAuthorizationOnboarding.value.partyId;
  return event.ParticipantAuthorizationRevoked.value.partyId;
}

function isKnown({ event }: WireTopologyEvent, profile: SandboxProfile): boolean {
  return profile !== '3.4' || !('ParticipantAuthorizationOnboarding' in event);
}
