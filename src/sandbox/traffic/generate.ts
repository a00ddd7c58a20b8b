import type { LedgerEntry } from '../ledger/Ledger.js';
import type { Participant } from '../participant/Participant.js';
import { generatedParties } from '../participant/parties.js';
import type { GenerateOptions, UpdateVariant } from '../Sandbox.js';
import { stakeholdersOf } from '../wire/events.js';
import { sha256 } from '../wire/values.js';
import type { WireReassignmentEvent } from '../wire/WireReassignment.js';
import type { WireTopologyEvent } from '../wire/WireUpdate.js';
import { type InFlight, Random, type TrafficContext, type TrafficState } from './TrafficState.js';
import { generateContract, generateHeader, generateTransaction } from './transactions.js';

/** Generates mixed traffic. Each update is made from the state of the ledger after the one before it. */
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
  for (let index = 0; index < count; index++) {
    const gap = random.chance(0.2) ? 1 + random.below(4) : 0;
    const context = { seed, random, participant, state, offset: ledger.end + 1 + gap };
    yield generators[random.pick(first, ...others)](context);
  }
}

/** The frequency of each kind of update. */
const mixture: readonly UpdateVariant[] = [
  ...Array.from({ length: 16 }, () => 'Transaction' as const),
  'Reassignment',
  'Reassignment',
  'Reassignment',
  'TopologyTransaction',
];

const generators = {
  Transaction: generateTransaction,
  Reassignment: generateReassignment,
  TopologyTransaction: generateTopology,
};

/** Generates an unassignment, or the assignment of a contract in flight. */
function generateReassignment(context: TrafficContext): LedgerEntry {
  const { random, participant, state } = context;
  const [inFlight] = state.inFlight;
  if (inFlight !== undefined && random.chance(0.5)) return assign(context, inFlight);
  const contract = state.pickContract(random, participant.ledger);
  // without a contract to reassign, assign one that this participant has not seen before
  if (contract === undefined) return assign(context, inFlight ?? unseenContract(context));
  const { created, synchronizerId: source, reassignmentCounter } = contract;
  const [first = '', ...others] = participant.settings.synchronizers.filter((id) => id !== source);
  const header = generateHeader(context, source);
  const reassignmentId = `00${sha256('reassignment', header.updateId)}`;
  const route = { source, target: random.pick(first, ...others), reassignmentId };
  const move = { ...route, reassignmentCounter: reassignmentCounter + 1 };
  state.unassign({ ...move, created, unassignedAt: context.offset });
  const { contractId, templateId, packageName } = created;
  const subject = {
    contractId,
    templateId,
    packageName,
    offset: context.offset,
    nodeId: 0,
    assignmentExclusivity: null,
  };
  const [submitter = ''] = created.signatories;
  const value = { ...move, ...subject, submitter, witnessParties: stakeholdersOf(created) };
  return reassignmentEntry(header, submitter, { JsUnassignedEvent: { value } });
}

function assign(context: TrafficContext, inFlight: InFlight): LedgerEntry {
  const { created, source, target, reassignmentId, reassignmentCounter } = inFlight;
  const [submitter = ''] = created.signatories;
  const createdEvent = { ...created, offset: context.offset, nodeId: 0 };
  context.state.assign(inFlight);
  context.state.addContract({ created: createdEvent, synchronizerId: target, reassignmentCounter });
  const event = { source, target, reassignmentId, submitter, reassignmentCounter, createdEvent };
  return reassignmentEntry(generateHeader(context, target), submitter, { JsAssignmentEvent: event });
}

function reassignmentEntry(
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

function unseenContract(context: TrafficContext): InFlight {
  const [source = '', target = source] = context.participant.settings.synchronizers;
  const { ledger } = context.participant;
  const created = generateContract(context, 0, ledger.recordTimes.next(source), true);
  return {
    created,
    source,
    target,
    reassignmentId: `00${sha256(created.contractId)}`,
    reassignmentCounter: 1,
    unassignedAt: 0,
  };
}

/** Generates an authorization event, of any kind that the release has. */
function generateTopology(context: TrafficContext): LedgerEntry {
  const { random, participant } = context;
  const { synchronizers, profile } = participant.settings;
  const [synchronizer = '', ...otherSynchronizers] = synchronizers;
  const [party = '', ...otherParties] = generatedParties;
  const [home = '', ...others] = participants;
  const hosting = { partyId: random.pick(party, ...otherParties), participantId: random.pick(home, ...others) };
  const permission = random.pick('SUBMISSION', 'CONFIRMATION', 'OBSERVATION');
  const value = { ...hosting, participantPermission: `PARTICIPANT_PERMISSION_${permission}` };
  const added: WireTopologyEvent = { event: { ParticipantAuthorizationAdded: { value } } };
  const changes: readonly WireTopologyEvent[] = [
    { event: { ParticipantAuthorizationChanged: { value } } },
    { event: { ParticipantAuthorizationRevoked: { value: hosting } } },
  ];
  const onboarding: WireTopologyEvent = { event: { ParticipantAuthorizationOnboarding: { value } } };
  const event = random.pick(added, ...changes, ...(profile === '3.4' ? [] : [onboarding]));
  const header = generateHeader(context, random.pick(synchronizer, ...otherSynchronizers));
  return { update: { TopologyTransaction: { value: { ...header, events: [event] } } } };
}

const participants = [`participant1::1220${'11'.repeat(32)}`, `participant2::1220${'22'.repeat(32)}`];
