import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { WireUpdate } from './WireUpdate.js';

/** The contracts that an update tells the contents of. */
export function createdIn(update: WireUpdate): readonly WireCreatedEvent[] {
  if ('Transaction' in update) {
    return update.Transaction.value.events.flatMap((event) => ('CreatedEvent' in event ? [event.CreatedEvent] : []));
  }
  if (!('Reassignment' in update)) return [];
  return update.Reassignment.value.events.flatMap((event) =>
    'JsAssignmentEvent' in event ? [event.JsAssignmentEvent.createdEvent] : [],
  );
}
