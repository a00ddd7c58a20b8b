import type { Contract } from '../ledger/ContractHistory.js';
import type { AppendedUpdate } from '../ledger/append.js';
import type { Participant } from '../participant/Participant.js';
import { generatedParties } from '../participant/parties.js';
import { Random } from '../Random.js';
import { formatMicros, sha256 } from '../wire/values.js';
import type { WireReassignmentEventInput, WireTopologyEvent } from '../wire/WireUpdate.js';
import type { GenerateOptions, UpdateVariant } from './GenerateOptions.js';
import type { Move } from './TrafficState.js';
import {
  generateContract,
  generateHeader,
  generateTransaction,
  type TrafficContext,
  transactionEntry,
} from './transactions.js';

/**
 * Generates mixed traffic. Each update is based on the state of the ledger after the previous one. The record times are
 * in the last minutes or hours, and the last update is recorded now.
 */
export function* generate(
  count: number,
  { seed = 1, variants = mixture }: GenerateOptions,
  participant: Participant,
): Generator<AppendedUpdate, void> {
  const { ledger, settings, traffic: state } = participant;
  const random = new Random(seed ^ Math.imul(ledger.end, 0x9e3779b1));
  const chosen = mixture.filter((variant) => variants.includes(variant));
  const kinds = chosen.filter((variant) => variant !== 'Reassignment' || settings.synchronizers.length > 1);
  const [first = 'Transaction', ...others] = kinds;
  if (!kinds.includes('Transaction')) state.forgetCreations();
  const latest = Math.max(...settings.synchronizers.map((id) => ledger.recordTimes.latest(id)));
  for (const micros of timesUntilNow(count, latest, ledger.now() * 1000, random)) {
    const gap = random.chance(0.2) ? 1 + random.below(4) : 0;
    const context = { seed, random, participant, state, offset: ledger.end + 1 + gap, micros };
    const late = kinds.includes('Reassignment') && random.chance(0.04) ? generateLate(context) : undefined;
    yield late ?? generators[random.pick(first, ...others)](context, kinds);
  }
}

/**
 * Returns ascending times in microseconds, about a second apart, the last of which is now. They are closer together if
 * they would otherwise begin too early.
 */
function timesUntilNow(count: number, after: number, clock: number, random: Random): readonly number[] {
  const second = clock - (clock % 1_000_000);
  // starts at a full second, so that the same seed has the same fractions of seconds
  const now = second > after ? second : clock;
  let sinceFirst = 0;
  const times = Array.from({ length: count }, () => (sinceFirst += 1 + random.below(2_000_000)));
  const room = Math.max(0, now - after);
  const scale = Math.min(1, room / sinceFirst);
  return times.map((time) => Math.floor(now - (sinceFirst - time) * scale));
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

/** Generates an authorization event, of any kind that the release has. */
function generateTopology(context: TrafficContext): AppendedUpdate {
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
  const event = random.pick(added, ...changes, ...(profile < '3.5' ? [] : [onboarding]));
  const header = generateHeader(context, random.pick(synchronizer, ...otherSynchronizers));
  return { update: { TopologyTransaction: { value: { ...header, events: [event] } } } };
}

const participants = [`participant1::1220${'11'.repeat(32)}`, `participant2::1220${'22'.repeat(32)}`];

/**
 * Generates one half of a reassignment. Synchronizers are not in step: usually, a contract is unassigned before it is
 * assigned. But if the source lags, the target has the contract first, and may even archive it or move it further.
 *
 * @param kinds - the kinds of update that may be generated
 */
function generateReassignment(context: TrafficContext, kinds: readonly UpdateVariant[]): AppendedUpdate {
  const { random, participant, state } = context;
  const [inFlight] = state.inFlight;
  if (inFlight !== undefined && random.chance(0.45)) return assign(context, inFlight);
  const contract = random.chance(0.95) ? state.pickContract(random, participant.ledger) : undefined;
  // if there is no contract to reassign, assign one that this participant has not seen before
  if (contract === undefined)
    return assign(context, inFlight ?? moveOfNewContract(context), kinds.includes('Transaction'));
  const move = moveOf(contract, context);
  return random.chance(0.4) ? assign(context, move) : unassign(context, move);
}

/**
 * Generates the next event of a lagging synchronizer, if there is one: an unassignment, or the creation of its
 * contract.
 */
function generateLate(context: TrafficContext): AppendedUpdate | undefined {
  const { random, state } = context;
  const sources = [...new Set(state.late.map(({ source }) => source))];
  const source = sources[random.below(sources.length)];
  const move = state.late.find((late) => late.source === source);
  return move && nextLate(context, move);
}

const nextLate = (context: TrafficContext, move: Move): AppendedUpdate =>
  move.isNew === true ? createLate(context, move) : unassign(context, move);

function moveOf({ created, synchronizerId: source, reassignmentCounter }: Contract, context: TrafficContext): Move {
  const { random, participant, offset, seed } = context;
  const [first = '', ...others] = participant.settings.synchronizers.filter((id) => id !== source);
  return {
    created,
    source,
    target: random.pick(first, ...others),
    reassignmentId: `00${sha256('reassignment', seed, offset, ...participant.ledger.salt)}`,
    reassignmentCounter: reassignmentCounter + 1,
  };
}

/** Creates the move of a contract that was created on a lagging synchronizer. */
function moveOfNewContract(context: TrafficContext): Move {
  const { random, participant, micros } = context;
  const [first = '', ...others] = participant.settings.synchronizers;
  const created = generateContract(context, 0, formatMicros(micros - 5_000_000), true);
  const move = moveOf({ created, synchronizerId: random.pick(first, ...others), reassignmentCounter: 0 }, context);
  return { ...move, isNew: true };
}

/**
 * Generates the assignment of a contract that is in flight, or before its unassignment.
 *
 * @param isSourceSeen - whether the source will receive its half
 */
function assign(context: TrafficContext, move: Move, isSourceSeen = true): AppendedUpdate {
  const { state, offset } = context;
  const { created, source, target, reassignmentId, reassignmentCounter } = move;
  // the late unassignments of the target come before its next assignment
  const earlier = state.late.find((late) => late.source === target);
  if (earlier !== undefined) return nextLate(context, earlier);
  const createdEvent = { ...created, offset, nodeId: 0 };
  if (state.inFlight.includes(move)) state.complete(move);
  else if (isSourceSeen) state.overtake(move);
  state.addContract(created.contractId);
  const event = { source, target, reassignmentId, reassignmentCounter, createdEvent };
  return reassignmentEntry(context, target, move, { JsAssignmentEvent: event });
}

/** Generates the unassignment of an active contract, or of a contract that is already assigned. */
function unassign(context: TrafficContext, move: Move): AppendedUpdate {
  const { state } = context;
  const { created, source, target, reassignmentId, reassignmentCounter } = move;
  if (state.late.includes(move)) state.complete(move);
  else state.unassign(move);
  const { contractId } = created;
  const value = { contractId, source, target, reassignmentId, reassignmentCounter };
  return reassignmentEntry(context, source, move, { JsUnassignedEvent: { value } });
}

const submitterOf = ({ created: { signatories } }: Move): string => signatories[0] ?? '';

function reassignmentEntry(
  context: TrafficContext,
  synchronizerId: string,
  move: Move,
  event: WireReassignmentEventInput,
): AppendedUpdate {
  const value = {
    ...generateHeader(context, synchronizerId),
    commandId: `cmd-${context.offset}`,
    events: [event],
  };
  return { update: { Reassignment: { value } }, submitters: [submitterOf(move)] };
}

/** Generates the creation of a contract that has already been assigned to another synchronizer. */
function createLate(context: TrafficContext, move: Move): AppendedUpdate {
  const { state, offset } = context;
  const { created, source } = move;
  state.create(move);
  const events = [{ CreatedEvent: { ...created, offset, nodeId: 0 } }];
  const header = generateHeader(context, source);
  return transactionEntry(context, { ...header, effectiveAt: created.createdAt }, events, submitterOf(move));
}
