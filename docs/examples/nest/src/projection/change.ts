import type { CreatedEvent, Event, ReassignmentEvent, Work } from 'canton-rx';

/** What an update changes about the contracts that are active: one came to a synchronizer, or is gone from it. */
export interface Change {
  readonly contractId: string;
  readonly synchronizerId: string;
  /** Of one that came. */
  readonly created?: { readonly templateId: string; readonly payload: unknown };
}

/** The changes of an update, in its order. */
export function changesOf(update: Work): readonly Change[] {
  switch (update._tag) {
    case 'Transaction':
      return update.events.flatMap((event) => ofEvent(event, update.synchronizerId));
    case 'Reassignment':
      return update.events.flatMap(ofReassignment);
    // what comes with a later release of the ledger is in the history, if not among the contracts
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
