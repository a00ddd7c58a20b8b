import type { Contract } from '../ledger/Contracts.js';
import type { LedgerEntry } from '../ledger/Ledger.js';
import type { UpdateVariant } from '../SandboxContents.js';
import { stakeholdersOf } from '../wire/events.js';
import { formatMicros, sha256 } from '../wire/values.js';
import type { WireReassignmentEvent } from '../wire/WireReassignment.js';
import type { Move, TrafficContext } from './TrafficState.js';
import { generateContract, generateHeader, transactionEntry } from './transactions.js';

/**
 * Generates one half of a reassignment. Synchronizers are not in step: usually, a contract is unassigned before it is
 * assigned. But if the source lags, the target has the contract first, and may even archive it or move it further.
 *
 * @param kinds - the kinds of update that may be generated
 */
export function generateReassignment(context: TrafficContext, kinds: readonly UpdateVariant[]): LedgerEntry {
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
export function generateLate(context: TrafficContext): LedgerEntry | undefined {
  const { random, state } = context;
  const sources = [...new Set(state.late.map(({ source }) => source))];
  const source = sources[random.below(sources.length)];
  const move = state.late.find((late) => late.source === source);
  return move && nextLate(context, move);
}

const nextLate = (context: TrafficContext, move: Move): LedgerEntry =>
  move.isNew === true ? createLate(context, move) : unassign(context, move);

function moveOf({ created, synchronizerId: source, reassignmentCounter }: Contract, context: TrafficContext): Move {
  const { random, participant, offset, seed } = context;
  const [first = '', ...others] = participant.settings.synchronizers.filter((id) => id !== source);
  return {
    created,
    source,
    target: random.pick(first, ...others),
    reassignmentId: `00${sha256('reassignment', seed, offset)}`,
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
function assign(context: TrafficContext, move: Move, isSourceSeen = true): LedgerEntry {
  const { state, offset } = context;
  const { created, source, target, reassignmentId, reassignmentCounter } = move;
  // the late unassignments of the target come before its next assignment
  const earlier = state.late.find((late) => late.source === target);
  if (earlier !== undefined) return nextLate(context, earlier);
  const createdEvent = { ...created, offset, nodeId: 0 };
  if (state.inFlight.includes(move)) state.complete(move);
  else if (isSourceSeen) state.overtake(move);
  state.addContract({ created: createdEvent, synchronizerId: target, reassignmentCounter });
  const event = { source, target, reassignmentId, submitter: submitterOf(move), reassignmentCounter, createdEvent };
  return reassignmentEntry(context, target, move, { JsAssignmentEvent: event });
}

/** Generates the unassignment of an active contract, or of a contract that is already assigned. */
function unassign(context: TrafficContext, move: Move): LedgerEntry {
  const { state, offset } = context;
  const { created, source, target, reassignmentId, reassignmentCounter } = move;
  if (state.late.includes(move)) state.complete(move);
  else state.unassign(move);
  const { contractId, templateId, packageName } = created;
  const value = {
    reassignmentId,
    contractId,
    templateId,
    source,
    target,
    submitter: submitterOf(move),
    reassignmentCounter,
    assignmentExclusivity: null,
    witnessParties: stakeholdersOf(created),
    packageName,
    offset,
    nodeId: 0,
  };
  return reassignmentEntry(context, source, move, { JsUnassignedEvent: { value } });
}

const submitterOf = ({ created: { signatories } }: Move): string => signatories[0] ?? '';

function reassignmentEntry(
  context: TrafficContext,
  synchronizerId: string,
  move: Move,
  event: WireReassignmentEvent,
): LedgerEntry {
  const value = {
    ...generateHeader(context, synchronizerId),
    commandId: `cmd-${context.offset}`,
    workflowId: '',
    events: [event],
    paidTrafficCost: null,
  };
  return { update: { Reassignment: { value } }, submitters: [submitterOf(move)] };
}

/** Generates the creation of a contract that has already been assigned to another synchronizer. */
function createLate(context: TrafficContext, move: Move): LedgerEntry {
  const { state, offset } = context;
  const { created, source } = move;
  state.create(move);
  const events = [{ CreatedEvent: { ...created, offset, nodeId: 0 } }];
  const header = generateHeader(context, source);
  return transactionEntry(context, { ...header, effectiveAt: created.createdAt }, events, submitterOf(move));
}
