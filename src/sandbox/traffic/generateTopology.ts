import type { LedgerEntry } from '../ledger/LedgerEntry.js';
import type { WireTopologyEvent } from '../wire/WireTopologyEvent.js';
import { generatedParties } from './generatedParties.js';
import { generateHeader } from './generateHeader.js';
import type { Scene } from './Scene.js';

const participants = [`participant1::1220${'11'.repeat(32)}`, `participant2::1220${'22'.repeat(32)}`];

/** A change of what a participant may do for a party, of any kind that the release has. */
export function generateTopology(scene: Scene): LedgerEntry {
  const { random, participant } = scene;
  const { synchronizers, profile } = participant.settings;
  const [synchronizer = '', ...otherSynchronizers] = synchronizers;
  const [party = '', ...otherParties] = generatedParties;
  const [home = '', ...others] = participants;
  const who = { partyId: random.pick(party, ...otherParties), participantId: random.pick(home, ...others) };
  const permission = random.pick('SUBMISSION', 'CONFIRMATION', 'OBSERVATION');
  const value = { ...who, participantPermission: `PARTICIPANT_PERMISSION_${permission}` };
  const added: WireTopologyEvent = { event: { ParticipantAuthorizationAdded: { value } } };
  const others34: readonly WireTopologyEvent[] = [
    { event: { ParticipantAuthorizationChanged: { value } } },
    { event: { ParticipantAuthorizationRevoked: { value: who } } },
  ];
  const onboarding: WireTopologyEvent = { event: { ParticipantAuthorizationOnboarding: { value } } };
  const event = random.pick(added, ...others34, ...(profile === '3.4' ? [] : [onboarding]));
  const header = generateHeader(scene, random.pick(synchronizer, ...otherSynchronizers));
  return { update: { TopologyTransaction: { value: { ...header, events: [event] } } } };
}
