import type { LedgerEntry } from '../ledger/Ledger.js';
import type { Participant } from '../participant/Participant.js';
import { generatedParties } from '../participant/parties.js';
import type { GenerateOptions, UpdateVariant } from '../Sandbox.js';
import { stakeholdersOf } from '../wire/events.js';
import { hex } from '../wire/values.js';
import type { WireReassignmentEvent } from '../wire/WireReassignment.js';
import type { WireTopologyEvent } from '../wire/WireUpdate.js';
import { type InFlight, Random, type Scene, type TrafficState } from './TrafficState.js';
import { generateContract, generateHeader, generateTransaction } from './transactions.js';

/** Most traffic is transactions. */
const mixture: readonly UpdateVariant[] = [
  ...Array.from({ length: 16 }, () => 'Transaction' as const),
  'Reassignment',
  'Reassignment',
  'Reassignment',
  'TopologyTransaction',
];

const participants = [`participant1::1220${'11'.repeat(32)}`, `participant2::1220${'22'.repeat(32)}`];

const generators = {
  Transaction: generateTransaction,
  Reassignment: generateReassignment,
  TopologyTransaction: generateTopology,
};

/** Mixed traffic, one update after the other: each builds on what the ledger says when it is asked for. */
export function* generate(
  count: number,
  { seed = 1, variants = mixture }: GenerateOptions,
  participant: Participant,
  state: TrafficState,
): Generator<LedgerEntry, void> {
  const { ledger, settings } = participant;
  const random = new Random(seed ^ Math.imul(ledger.end, 0x9e3779b1));
  const chosen = mixture.filter((variant) => variants.includes(variant));
  const [first = 'Transaction', ...others] = chosen.filter(
    (variant) => variant !== 'Reassignment' || settings.synchronizers.length > 1,
  );
  for (let made = 0; made < count; made++) {
    const gap = random.chance(0.2) ? 1 + random.below(4) : 0;
    const scene = { seed, random, participant, state, offset: ledger.end + 1 + gap };
    yield generators[random.pick(first, ...others)](scene);
  }
}

/** A contract leaves a synchronizer, or one that left arrives at the other end. */
function generateReassignment(scene: Scene): LedgerEntry {
  const { random, participant, state } = scene;
  const [waiting] = state.inFlight;
  if (waiting !== undefined && random.chance(0.5)) return assign(scene, waiting);
  const contract = state.pick(random, participant.ledger);
  // without a contract to move, one arrives that this participant has not seen before
  if (contract === undefined) return assign(scene, waiting ?? stranger(scene));
  const { created, synchronizerId: source, reassignmentCounter } = contract;
  const [first = '', ...others] = participant.settings.synchronizers.filter((id) => id !== source);
  const header = generateHeader(scene, source);
  const reassignmentId = `00${hex('reassignment', header.updateId)}`;
  const route = { source, target: random.pick(first, ...others), reassignmentId };
  const move = { ...route, reassignmentCounter: reassignmentCounter + 1 };
  state.depart({ ...move, created, since: scene.offset });
  const { contractId, templateId, packageName } = created;
  const place = { contractId, templateId, packageName, offset: scene.offset, nodeId: 0, assignmentExclusivity: null };
  const [submitter = ''] = created.signatories;
  const value = { ...move, ...place, submitter, witnessParties: stakeholdersOf(created) };
  return reassignment(header, submitter, { JsUnassignedEvent: { value } });
}

function assign(scene: Scene, waiting: InFlight): LedgerEntry {
  const { created, source, target, reassignmentId, reassignmentCounter } = waiting;
  const [submitter = ''] = created.signatories;
  const createdEvent = { ...created, offset: scene.offset, nodeId: 0 };
  scene.state.arrive(waiting);
  scene.state.own({ created: createdEvent, synchronizerId: target, reassignmentCounter });
  const event = { source, target, reassignmentId, submitter, reassignmentCounter, createdEvent };
  return reassignment(generateHeader(scene, target), submitter, { JsAssignmentEvent: event });
}

function reassignment(
  header: ReturnType<typeof generateHeader>,
  submitter: string,
  event: WireReassignmentEvent,
): LedgerEntry {
  const value = {
    ...header,
    commandId: `cmd-${header.offset}`,
    workflowId: '',
    events: [event],
    paidTrafficCost: null,
  };
  return { update: { Reassignment: { value } }, submitters: [submitter] };
}

function stranger(scene: Scene): InFlight {
  const [source = '', target = source] = scene.participant.settings.synchronizers;
  const { ledger } = scene.participant;
  const created = generateContract(scene, 0, ledger.recordTimes.next(source), true);
  return { created, source, target, reassignmentId: `00${hex(created.contractId)}`, reassignmentCounter: 1, since: 0 };
}

/** A change of what a participant may do for a party, of any kind that the release has. */
function generateTopology(scene: Scene): LedgerEntry {
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
