import type { EventSelection } from '../requests/selections.js';
import type { Activation, Reassignment } from './ContractHistory.js';
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
export interface SnapshotEntry {
  readonly position: SnapshotPosition;
  readonly workflowId: string;
  readonly contractEntry: object;
}

/**
 * Reads a snapshot: the active contracts in the order of their activations, then the incomplete reassignments by
 * offset. Looks up each entry only when it is needed, so reading a part does not cost as much as reading everything.
 */
export function* readSnapshot(request: SnapshotRequest, context: ReadContext): Generator<SnapshotEntry, void> {
  const { offset, after, incomplete, selection } = request;
  const { activations, reassignments } = context.ledger.contracts;
  const view = new EventView(selection, context);
  if (after?.offset === undefined)
    yield* entriesAt(offset, activations, (after?.index ?? -1) + 1, (activation, index) => {
      const { created, synchronizerId, reassignmentCounter } = activation;
      const createdEvent = view.contract(created);
      const JsActiveContract = { createdEvent, synchronizerId, reassignmentCounter };
      return createdEvent && { position: { index }, contractEntry: { JsActiveContract } };
    });
  if (!incomplete) return;
  const first = after?.offset === undefined ? 0 : after.index + 1;
  yield* entriesAt(offset, reassignments, first, (reassignment, index) => {
    const contractEntry = incompleteEntry(reassignment, view);
    return contractEntry && { position: { index, offset: reassignment.offset }, contractEntry };
  });
}

/** Reads what began up to an offset and had not ended by then. */
function* entriesAt<A extends Activation | Reassignment>(
  offset: number,
  begun: readonly A[],
  first: number,
  toEntry: (item: A, index: number) => Omit<SnapshotEntry, 'workflowId'> | undefined,
): Generator<SnapshotEntry, void> {
  for (let index = first; index < begun.length; index++) {
    const item = begun[index];
    if (item === undefined || item.offset > offset) return;
    const entry = item.endedAt > offset ? toEntry(item, index) : undefined;
    if (entry !== undefined) yield { workflowId: item.workflowId, ...entry };
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
