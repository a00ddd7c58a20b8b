import { sha256 } from '../wire/values.js';
import type { WireCreatedEvent, WireReassignmentEventInput, WireUnassignedEvent } from '../wire/WireUpdate.js';
import type { Participant } from '../participant/Participant.js';
import type { Ledger } from './Ledger.js';

/** The fields that both halves of a reassignment have. */
type Route = Pick<WireUnassignedEvent, 'source' | 'target' | 'reassignmentId' | 'reassignmentCounter'>;

/**
 * Completes the route of an appended reassignment: from its other half if that arrived earlier, else from the contract.
 */
export function completeRoute(
  input: WireReassignmentEventInput,
  { ledger: { contracts }, settings: { synchronizers } }: Participant,
): Route {
  const given: Partial<Route> = 'JsAssignmentEvent' in input ? input.JsAssignmentEvent : input.JsUnassignedEvent.value;
  const { contractId = '' } = contractFields(input);
  const otherHalf = 'JsAssignmentEvent' in input ? 'unassigned' : 'assigned';
  const { source, target, reassignmentId, reassignmentCounter } = {
    ...routeOfOtherHalf(contracts.stateOf(contractId)?.incomplete ?? [], otherHalf, given.reassignmentCounter),
    ...given,
  };
  const from = source ?? contracts.get(contractId)?.synchronizerId ?? synchronizers[0] ?? '';
  const counter = reassignmentCounter ?? (contracts.stateOf(contractId)?.counter ?? 0) + 1;
  return {
    source: from,
    target: target ?? synchronizers.find((synchronizer) => synchronizer !== from) ?? from,
    reassignmentId: reassignmentId ?? `00${sha256('reassignment', contractId, counter)}`,
    reassignmentCounter: counter,
  };
}

/** The fields of the contract that are given in an event. */
export function contractFields(input: WireReassignmentEventInput): Partial<WireCreatedEvent> {
  return 'JsAssignmentEvent' in input ? (input.JsAssignmentEvent.createdEvent ?? {}) : input.JsUnassignedEvent.value;
}

type Incomplete = NonNullable<ReturnType<Ledger['contracts']['stateOf']>>['incomplete'];

function routeOfOtherHalf(
  incomplete: Incomplete,
  kind: 'assigned' | 'unassigned',
  counter: number | undefined,
): Partial<Route> {
  const found = incomplete.find(
    ({ half, reassignmentCounter }) => kind in half && (counter ?? reassignmentCounter) === reassignmentCounter,
  );
  if (found === undefined) return {};
  const { source, target, reassignmentId, reassignmentCounter } =
    'assigned' in found.half ? found.half.assigned : found.half.unassigned;
  return { source, target, reassignmentId, reassignmentCounter };
}
