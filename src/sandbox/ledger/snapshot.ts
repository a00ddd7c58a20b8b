import type { EventFormat } from '../requests/formats.js';
import type { SnapshotPosition } from '../requests/snapshotTokens.js';
import type { Activation, Reassignment } from './ContractHistory.js';
import { type ReadContext, visibleContract, visibleUnassigned } from './visible.js';

/** The active contracts and incomplete reassignments that a request selects. */
interface SnapshotRequest {
  readonly offset: number;
  readonly format: EventFormat;
  /** The entry after which the snapshot continues. */
  readonly after?: SnapshotPosition | undefined;
}

/** An entry of a snapshot. */
interface SnapshotEntry {
  readonly position: SnapshotPosition;
  readonly workflowId: string;
  readonly contractEntry: object;
}

/**
 * Reads a snapshot: the active contracts in the order of their activations, then the incomplete reassignments by
 * offset. Looks up each entry only when it is needed, so reading a part does not cost as much as reading everything.
 */
export function* readSnapshot(request: SnapshotRequest, context: ReadContext): Generator<SnapshotEntry, void> {
  const { after } = request;
  if (after?.offset === undefined) yield* readActive(request, (after?.index ?? -1) + 1, context);
  yield* readIncomplete(request, after?.offset === undefined ? 0 : after.index + 1, context);
}

function* readActive({ offset, format }: SnapshotRequest, first: number, context: ReadContext) {
  const { activations } = context.ledger.contracts;
  for (let index = first; index < activations.length; index++) {
    const activation = activations[index];
    if (activation === undefined || activation.offset > offset) return;
    if (activation.endedAt <= offset) continue;
    const createdEvent = visibleContract(activation.created, format, context);
    if (createdEvent !== undefined) yield activeEntry(activation, createdEvent, index);
  }
}

function activeEntry(activation: Activation, createdEvent: object, index: number): SnapshotEntry {
  const { synchronizerId, reassignmentCounter, workflowId } = activation;
  const contractEntry = { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter } };
  return { position: { index }, workflowId, contractEntry };
}

function* readIncomplete({ offset: at, format }: SnapshotRequest, first: number, context: ReadContext) {
  const { reassignments } = context.ledger.contracts;
  for (let index = first; index < reassignments.length; index++) {
    const reassignment = reassignments[index];
    if (reassignment === undefined || reassignment.offset > at) return;
    if (reassignment.endedAt <= at) continue;
    const contractEntry = incompleteEntry(reassignment, format, context);
    const { offset, workflowId } = reassignment;
    if (contractEntry !== undefined) yield { position: { index, offset }, workflowId, contractEntry };
  }
}

/** Returns the entry of an incomplete reassignment; none for an unassignment without a known activation. */
function incompleteEntry({ half }: Reassignment, format: EventFormat, context: ReadContext): object | undefined {
  if ('assigned' in half) {
    const createdEvent = visibleContract(half.assigned.createdEvent, format, context);
    return createdEvent && { JsIncompleteAssigned: { assignedEvent: { ...half.assigned, createdEvent } } };
  }
  const createdEvent = half.activation && visibleContract(half.activation.created, format, context);
  const unassignedEvent = visibleUnassigned(half.unassigned, format, context);
  return createdEvent && unassignedEvent && { JsIncompleteUnassigned: { createdEvent, unassignedEvent } };
}
