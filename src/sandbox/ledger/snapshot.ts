import type { EventSelection } from '../requests/selections.js';
import type { Activation, Reassignment } from './ContractHistory.js';
import type { Ledger } from './Ledger.js';
import { EventView, type ReadContext } from './visible.js';

/**
 * The position of an entry in a snapshot: among the active contracts or, with an offset, among the incomplete
 * reassignments.
 */
export interface SnapshotPosition {
  readonly index: number;
  readonly offset?: number | undefined;
}

/** The active contracts and incomplete reassignments that a request selects. */
export interface SnapshotRequest {
  readonly offset: number;
  readonly selection: EventSelection;
  /** Whether to include incomplete reassignments. */
  readonly incomplete: boolean;
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
  const { after, incomplete, selection } = request;
  const view = new EventView(selection, context);
  if (after?.offset === undefined) yield* readActive(request.offset, (after?.index ?? -1) + 1, context.ledger, view);
  if (incomplete)
    yield* readIncomplete(request.offset, after?.offset === undefined ? 0 : after.index + 1, context.ledger, view);
}

function* readActive(offset: number, first: number, { contracts: { activations } }: Ledger, view: EventView) {
  for (let index = first; index < activations.length; index++) {
    const activation = activations[index];
    if (activation === undefined || activation.offset > offset) return;
    if (activation.endedAt <= offset) continue;
    const createdEvent = view.contract(activation.created);
    if (createdEvent !== undefined) yield activeEntry(activation, createdEvent, index);
  }
}

function activeEntry(activation: Activation, createdEvent: object, index: number): SnapshotEntry {
  const { synchronizerId, reassignmentCounter, workflowId } = activation;
  const contractEntry = { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter } };
  return { position: { index }, workflowId, contractEntry };
}

function* readIncomplete(at: number, first: number, { contracts: { reassignments } }: Ledger, view: EventView) {
  for (let index = first; index < reassignments.length; index++) {
    const reassignment = reassignments[index];
    if (reassignment === undefined || reassignment.offset > at) return;
    if (reassignment.endedAt <= at) continue;
    const contractEntry = incompleteEntry(reassignment, view);
    const { offset, workflowId } = reassignment;
    if (contractEntry !== undefined) yield { position: { index, offset }, workflowId, contractEntry };
  }
}

/** Returns the entry of an incomplete reassignment; none for an unassignment without a known activation. */
function incompleteEntry({ half }: Reassignment, view: EventView): object | undefined {
  if ('assigned' in half) {
    const assignedEvent = view.assigned(half.assigned);
    return assignedEvent && { JsIncompleteAssigned: { assignedEvent } };
  }
  const createdEvent = half.activation && view.contract(half.activation.created);
  const unassignedEvent = view.unassigned(half.unassigned);
  return createdEvent && unassignedEvent && { JsIncompleteUnassigned: { createdEvent, unassignedEvent } };
}
