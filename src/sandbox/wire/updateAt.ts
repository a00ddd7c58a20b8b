import type { WireEvent, WireReassignmentEvent, WireUpdate } from './WireUpdate.js';

/** Returns an update as a participant has it that gives it another offset. */
export function updateAt(update: WireUpdate, offset: number): WireUpdate {
  if ('Transaction' in update) {
    const { value } = update.Transaction;
    return {
      Transaction: { value: { ...value, offset, events: value.events.map((event) => eventAt(event, offset)) } },
    };
  }
  if ('Reassignment' in update) {
    const { value } = update.Reassignment;
    const events = value.events.map((event) => halfAt(event, offset));
    return { Reassignment: { value: { ...value, offset, events } } };
  }
  return { TopologyTransaction: { value: { ...update.TopologyTransaction.value, offset } } };
}

/** Returns an update as a participant has it that did not submit it: only the submitting one knows the command. */
export function withoutCommand(update: WireUpdate): WireUpdate {
  const hidden = { commandId: '', paidTrafficCost: null };
  if ('Transaction' in update) return { Transaction: { value: { ...update.Transaction.value, ...hidden } } };
  if ('Reassignment' in update) return { Reassignment: { value: { ...update.Reassignment.value, ...hidden } } };
  return update;
}

function eventAt(event: WireEvent, offset: number): WireEvent {
  if ('CreatedEvent' in event) return { CreatedEvent: { ...event.CreatedEvent, offset } };
  if ('ArchivedEvent' in event) return { ArchivedEvent: { ...event.ArchivedEvent, offset } };
  return { ExercisedEvent: { ...event.ExercisedEvent, offset } };
}

function halfAt(event: WireReassignmentEvent, offset: number): WireReassignmentEvent {
  if ('JsUnassignedEvent' in event)
    return { JsUnassignedEvent: { value: { ...event.JsUnassignedEvent.value, offset } } };
  const { createdEvent, ...assigned } = event.JsAssignmentEvent;
  return { JsAssignmentEvent: { ...assigned, createdEvent: { ...createdEvent, offset } } };
}
