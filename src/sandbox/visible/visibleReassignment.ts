import type { EventFormat } from '../formats/EventFormat.js';
import { stakeholdersOf } from '../wire/stakeholdersOf.js';
import type { WireReassignment } from '../wire/WireReassignment.js';
import type { WireReassignmentEvent } from '../wire/WireReassignmentEvent.js';
import { asSeenBy } from './asSeenBy.js';
import { matchEvent } from './matchEvent.js';
import type { View } from './View.js';
import { visibleCreated } from './visibleCreated.js';

/** A reassignment as its reader gets it, `undefined` if nothing is left of it. */
export function visibleReassignment(update: WireReassignment, format: EventFormat, view: View): object | undefined {
  const events = update.events.flatMap((event) => visibleMove(event, format, view) ?? []);
  return events.length === 0 ? undefined : { ...asSeenBy(update, format, view.ledger), events };
}

function visibleMove(event: WireReassignmentEvent, format: EventFormat, view: View): object | undefined {
  if ('JsAssignmentEvent' in event) {
    const { createdEvent } = event.JsAssignmentEvent;
    const created = visibleCreated(createdEvent, stakeholdersOf(createdEvent), format, view);
    return created && { JsAssignmentEvent: { ...event.JsAssignmentEvent, createdEvent: created } };
  }
  const { value } = event.JsUnassignedEvent;
  const { packages } = view.ledger;
  const subject = { ...value, parties: value.witnessParties, interfaces: packages.interfacesOf(value.templateId) };
  const match = matchEvent(subject, format, packages);
  return match && { JsUnassignedEvent: { value: { ...value, witnessParties: match.witnessParties } } };
}
