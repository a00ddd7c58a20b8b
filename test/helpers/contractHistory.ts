import fc from 'fast-check';
import {
  type Activation,
  active,
  archived,
  assigned,
  created,
  incompleteAssigned,
  incompleteUnassigned,
  type Move,
  reassignmentOf,
  transactionOf,
  unassigned,
} from './contractEvents.js';

/** What happened to a contract, as somebody knows it who sees all synchronizers at once. */
export interface HistoryEvent {
  readonly kind: 'create' | 'unassign' | 'assign' | 'archive' | 'phantom';
  readonly contractId: string;
  /** The synchronizer that recorded it. */
  readonly synchronizerId: string;
  /** How often something happened to the contract before. */
  readonly step: number;
  /** The last reassignment of the contract; for a creation only its counter, 0, counts. */
  readonly move: Move;
}

/** An update of a participant's ledger. */
export interface HistoryUpdate {
  readonly offset: number;
  /** On the wire: `{"update": {"Transaction": {"value": ...}}}` or a `Reassignment`. */
  readonly element: object;
  /** The truth behind it. */
  readonly events: readonly HistoryEvent[];
}

/** How long a history is. */
export interface HistoryOptions {
  /** The maximum number of events, 24 by default. */
  readonly maxEvents?: number;
}

export const synchronizers = ['sync-a::1220ab', 'sync-b::1220ab', 'sync-c::1220ab'] as const;

/**
 * Histories of contracts that are created, moved between two or three synchronizers, and archived. A participant sees what
 * one synchronizer recorded in its order; between synchronizers any interleaving is possible. Transactions and reassignments
 * have one event or several. Some archives are of contracts that nobody has seen.
 */
export const contractHistories = ({ maxEvents = 24 }: HistoryOptions = {}): fc.Arbitrary<readonly HistoryUpdate[]> =>
  fc
    .record({
      synchronizerCount: fc.constantFrom(2, 3, 3),
      actions: fc.array(
        fc.record({ kind: fc.nat(19), contract: fc.nat(7), synchronizer: fc.nat(2), isBatched: fc.boolean() }),
        { maxLength: maxEvents, size: 'max' },
      ),
      order: fc.array(fc.nat(11), { maxLength: maxEvents, size: 'max' }),
      gaps: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: maxEvents }),
    })
    .map(({ synchronizerCount, actions, order, gaps }) => {
      const known = synchronizers.slice(0, synchronizerCount);
      return updatesOf(interleave(recorded(actions, known), order), gaps);
    });

/** An offset of a history, or 0, by a random number. */
export const offsetIn = (history: readonly HistoryUpdate[], random: number): number =>
  [0, ...history.map(({ offset }) => offset)][random % (history.length + 1)] ?? 0;

/** The elements of the snapshot that the participant serves at an offset, in its order: active contracts first. */
export function entriesAt(history: readonly HistoryUpdate[], offset: number): object[] {
  const seen = seenUntil(history, offset);
  const isSeen = ({ contractId, step }: HistoryEvent, change: number, kind: HistoryEvent['kind']): boolean =>
    seen.some(({ event }) => event.contractId === contractId && event.step === step + change && event.kind === kind);
  const activeEntries = seen
    .filter(
      ({ event }, index) =>
        isActivation(event) && !seen.slice(index + 1).some(({ event: later }) => deactivates(later, event)),
    )
    .map(({ event, ...at }) =>
      active({ contractId: event.contractId, ...at }, event.synchronizerId, event.move.reassignmentCounter),
    );
  const incompleteEntries = seen.flatMap(({ event, ...at }, index) => {
    const { contractId, move } = event;
    if (event.kind === 'assign' && !isSeen(event, -1, 'unassign'))
      return incompleteAssigned({ contractId, ...at }, move);
    if (event.kind !== 'unassign' || isSeen(event, 1, 'assign')) return [];
    const activation = seen.slice(0, index).findLast(({ event: earlier }) => deactivates(event, earlier));
    if (activation === undefined) throw new Error('the model never unassigns what it has not activated');
    return incompleteUnassigned({ contractId, offset: activation.offset, nodeId: activation.nodeId }, at.offset, move);
  });
  return [...activeEntries, ...incompleteEntries];
}

/** The creation of a contract; `undefined` if there is none. */
export function creationOf(history: readonly HistoryUpdate[], contractId: string): Activation | undefined {
  const creation = seenUntil(history, Infinity).find(
    ({ event }) => event.kind === 'create' && event.contractId === contractId,
  );
  return creation && { contractId, offset: creation.offset, nodeId: creation.nodeId };
}

/** Where a contract is, and how often it was moved. */
export interface ContractState {
  readonly location: { readonly synchronizerId: string } | { readonly inFlight: Pick<Move, 'source' | 'target'> };
  readonly reassignmentCounter: number;
}

/**
 * What the participant knows of the contracts at an offset: the last thing that happened to each, of those that it has seen.
 * It replays the truth, which has the order of events on all synchronizers, and compares no counters.
 */
export function contractsAt(history: readonly HistoryUpdate[], offset: number): Map<string, ContractState> {
  const last = new Map<string, HistoryEvent>();
  for (const { event } of seenUntil(history, offset)) {
    if (event.kind !== 'phantom' && event.step >= (last.get(event.contractId)?.step ?? 0)) {
      last.set(event.contractId, event);
    }
  }
  return new Map([...last].flatMap(([id, event]) => (event.kind === 'archive' ? [] : [[id, stateAfter(event)]])));
}

function stateAfter({ kind, synchronizerId, move }: HistoryEvent): ContractState {
  const { source, target, reassignmentCounter } = move;
  const location = kind === 'unassign' ? { inFlight: { source, target } } : { synchronizerId };
  return { location, reassignmentCounter };
}

/** The events that a participant has seen, with their places on its ledger. */
const seenUntil = (
  history: readonly HistoryUpdate[],
  end: number,
): { readonly event: HistoryEvent; readonly offset: number; readonly nodeId: number }[] =>
  history
    .filter(({ offset }) => offset <= end)
    .flatMap(({ offset, events }) => events.map((event, nodeId) => ({ event, offset, nodeId })));

const isActivation = ({ kind }: HistoryEvent): boolean => kind === 'create' || kind === 'assign';

/** Whether the first event ends what the second began on the same synchronizer. */
const deactivates = (event: HistoryEvent, activation: HistoryEvent): boolean =>
  isActivation(activation) &&
  (event.kind === 'archive' || event.kind === 'unassign') &&
  event.contractId === activation.contractId &&
  event.synchronizerId === activation.synchronizerId;

/** What happens next, as random numbers. */
interface Action {
  readonly kind: number;
  readonly contract: number;
  readonly synchronizer: number;
  readonly isBatched: boolean;
}

/** What a synchronizer records at once: events that may stand in one update. */
type Batch = HistoryEvent[];

/** What each synchronizer records. */
function recorded(actions: readonly Action[], known: readonly string[]): Batch[][] {
  const contracts: HistoryEvent[] = [];
  const batches = new Map<string, Batch[]>(known.map((id) => [id, []]));
  for (const [index, action] of actions.entries()) {
    const others = contracts.filter(({ kind }) => kind !== 'archive');
    const last = others[action.contract % Math.max(others.length, 1)];
    const event = next(action, last, `${'abcd'.charAt(index % 4)}${index}`, known);
    if (event.contractId === last?.contractId) contracts[contracts.indexOf(last)] = event;
    else if (event.kind === 'create') contracts.push(event);
    const queue = batches.get(event.synchronizerId) ?? [];
    const batch = queue.at(-1);
    if (batch && action.isBatched && batch.every((other) => fit(other, event))) batch.push(event);
    else queue.push([event]);
  }
  return [...batches.values()];
}

/** What an action does to the contract that it chose: usually the next step of a move. */
function next(
  { kind, synchronizer }: Action,
  last: HistoryEvent | undefined,
  id: string,
  known: readonly string[],
): HistoryEvent {
  const at = (index: number): string => known[index % known.length] ?? '';
  if (kind === 19) return event('phantom', id, at(synchronizer), 0, nowhere);
  if (last === undefined || kind < 4) return event('create', id, at(synchronizer), 0, nowhere);
  const { contractId, step, move } = last;
  if (last.kind === 'unassign') return event('assign', contractId, move.target, step + 1, move);
  if (kind > 15) return event('archive', contractId, last.synchronizerId, step + 1, move);
  const source = last.synchronizerId;
  const target = at(known.indexOf(source) + 1 + (synchronizer % (known.length - 1)));
  const reassignmentCounter = move.reassignmentCounter + 1;
  return event('unassign', contractId, source, step + 1, { source, target, reassignmentCounter });
}

const nowhere: Move = { source: '', target: '', reassignmentCounter: 0 };

const event = (
  kind: HistoryEvent['kind'],
  contractId: string,
  synchronizerId: string,
  step: number,
  move: Move,
): HistoryEvent => ({ kind, contractId, synchronizerId, step, move });

/** Whether two events may stand in one update: a reassignment has one source and target, a transaction no transient contract. */
function fit(one: HistoryEvent, other: HistoryEvent): boolean {
  if (one.contractId === other.contractId) return false;
  const isMove = other.kind === 'assign' || other.kind === 'unassign';
  if (!isMove) return one.kind !== 'assign' && one.kind !== 'unassign';
  return one.kind === other.kind && one.move.source === other.move.source && one.move.target === other.move.target;
}

/** What the participant sees: the order of each synchronizer, and any order between them. */
function interleave(queues: readonly Batch[][], order: readonly number[]): Batch[] {
  const rest = queues.map((queue) => [...queue]);
  const count = rest.reduce((sum, { length }) => sum + length, 0);
  return Array.from({ length: count }, (_, index) => {
    const ready = rest.filter(({ length }) => length > 0);
    return ready[(order[index] ?? 0) % ready.length]?.shift() ?? [];
  });
}

function updatesOf(batches: readonly Batch[], gaps: readonly number[]): HistoryUpdate[] {
  let offset = 0;
  return batches.map((events, index) => {
    offset += gaps[index] ?? 1;
    return { offset, element: elementOf(offset, events), events };
  });
}

function elementOf(offset: number, events: readonly HistoryEvent[]): object {
  const [first] = events;
  const isMove = first?.kind === 'assign' || first?.kind === 'unassign';
  const wire = events.map(({ kind, contractId, move }, nodeId) => {
    if (kind === 'create') return created({ contractId, offset, nodeId });
    if (kind === 'assign') return assigned({ contractId, offset, nodeId }, move);
    if (kind === 'unassign') return unassigned(contractId, offset, move, nodeId);
    return archived(contractId, offset, nodeId);
  });
  return (isMove ? reassignmentOf : transactionOf)(offset, first?.synchronizerId ?? '', wire);
}
