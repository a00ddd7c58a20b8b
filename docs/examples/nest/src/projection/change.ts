import type { CreatedEvent, Event, ReassignmentEvent } from 'canton-rx';
import type { Work } from 'canton-rx/process';

/** A change of the active contracts: a contract was added to a synchronizer, or removed from it. */
export interface Change {
  readonly contractId: string;
  readonly synchronizerId: string;
  /** Present for a contract that was added. */
  readonly created?: { readonly templateId: string; readonly payload: unknown };
}

/** The changes of an update, in its order. */
export function changesOf(update: Work): readonly Change[] {
  switch (update._tag) {
    case 'Transaction':
      return update.events.flatMap((event) => ofEvent(event, update.synchronizerId));
    case 'Reassignment':
      return update.events.flatMap(ofReassignment);
    // an unknown variant of a later ledger is in the history, but changes no contract
    case 'TopologyTransaction':
    case 'UnknownUpdate':
      return [];
  }
}

function ofEvent(event: Event, synchronizerId: string): readonly Change[] {
  if (event._tag === 'CreatedEvent') return [came(event, synchronizerId)];
  return event._tag === 'ArchivedEvent' ? [{ contractId: event.contractId, synchronizerId }] : [];
}

function ofReassignment(event: ReassignmentEvent): readonly Change[] {
  if (event._tag === 'AssignedEvent') return [came(event.createdEvent, event.target)];
  return event._tag === 'UnassignedEvent' ? [{ contractId: event.contractId, synchronizerId: event.source }] : [];
}

const came = ({ contractId, templateId, createArgument }: CreatedEvent, synchronizerId: string): Change => ({
  contractId,
  synchronizerId,
  created: { templateId, payload: createArgument ?? null },
});
