import type { EventSelection } from '../requests/selections.js';
import type { WireCreatedEvent } from '../wire/WireUpdate.js';
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
  /** How many entries the participant reads together, which matters if it mispairs them. Default: all. */
  readonly batchSize?: number;
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
export function readSnapshot(request: SnapshotRequest, context: ReadContext): Iterable<SnapshotEntry> {
  const entries = readEntries(request, context);
  return context.settings.mispairsInFlight ? mispair(entries, request) : entries;
}

function* readEntries(request: SnapshotRequest, context: ReadContext): Generator<SnapshotEntry, void> {
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

/** A contract in flight, as an entry of a snapshot. */
interface InFlight {
  readonly JsIncompleteUnassigned: { readonly createdEvent: WireCreatedEvent; readonly unassignedEvent: object };
}

const isInFlight = (contractEntry: object): contractEntry is InFlight => 'JsIncompleteUnassigned' in contractEntry;

/**
 * Reads entries in a batch and puts the created events, in the order of activation, next to the unassigned events, in the
 * order of unassignment, as 3.5.10 does.
 */
function* mispair(
  entries: Iterable<SnapshotEntry>,
  { batchSize = Infinity }: SnapshotRequest,
): Generator<SnapshotEntry, void> {
  const incomplete: SnapshotEntry[] = [];
  let count = 0;
  for (const entry of entries) {
    count += 1;
    if (entry.position.offset === undefined) yield entry;
    else incomplete.push(entry);
    if (count >= batchSize) break;
  }
  const created = incomplete
    .flatMap(({ contractEntry: entry }) => (isInFlight(entry) ? [entry.JsIncompleteUnassigned.createdEvent] : []))
    .sort((one, other) => one.offset - other.offset || one.nodeId - other.nodeId);
  for (const entry of incomplete) {
    const { contractEntry } = entry;
    if (isInFlight(contractEntry)) {
      const { unassignedEvent } = contractEntry.JsIncompleteUnassigned;
      yield { ...entry, contractEntry: { JsIncompleteUnassigned: { createdEvent: created.shift(), unassignedEvent } } };
    } else yield entry;
  }
}
