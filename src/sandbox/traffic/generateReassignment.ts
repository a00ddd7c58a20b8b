import type { LedgerEntry } from '../ledger/LedgerEntry.js';
import { hex } from '../wire/hex.js';
import { stakeholdersOf } from '../wire/stakeholdersOf.js';
import type { WireReassignmentEvent } from '../wire/WireReassignmentEvent.js';
import { generateContract } from './generateContract.js';
import { generateHeader } from './generateHeader.js';
import type { InFlight } from './InFlight.js';
import type { Scene } from './Scene.js';

/** A contract leaves a synchronizer, or one that left arrives at the other end. */
export function generateReassignment(scene: Scene): LedgerEntry {
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

function stranger(scene: Scene): InFlight {
  const [source = '', target = source] = scene.participant.settings.synchronizers;
  const { ledger } = scene.participant;
  const created = generateContract(scene, 0, ledger.recordTimes.next(source), true);
  return { created, source, target, reassignmentId: `00${hex(created.contractId)}`, reassignmentCounter: 1, since: 0 };
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
