import type { WireReassignmentEvent } from '../wire/WireReassignmentEvent.js';
import type { WireUpdate } from '../wire/WireUpdate.js';
import type { Contracts } from './Contracts.js';

/** What an update does to the active contracts. */
export function applyToContracts(update: WireUpdate, contracts: Contracts): void {
  if ('Reassignment' in update) for (const event of update.Reassignment.value.events) move(event, contracts);
  if (!('Transaction' in update)) return;
  const { events, synchronizerId } = update.Transaction.value;
  for (const event of events) {
    if ('ArchivedEvent' in event) contracts.remove(event.ArchivedEvent.contractId);
    if ('CreatedEvent' in event && event.CreatedEvent.acsDelta) {
      contracts.add({ created: event.CreatedEvent, synchronizerId, reassignmentCounter: 0 });
    }
  }
}

function move(event: WireReassignmentEvent, contracts: Contracts): void {
  if ('JsUnassignedEvent' in event) {
    contracts.remove(event.JsUnassignedEvent.value.contractId);
  } else {
    const { createdEvent: created, target: synchronizerId, reassignmentCounter } = event.JsAssignmentEvent;
    contracts.add({ created, synchronizerId, reassignmentCounter });
  }
}
