import type { TransactionFormat } from '../formats/TransactionFormat.js';
import { stakeholdersOf } from '../wire/stakeholdersOf.js';
import type { WireArchivedEvent } from '../wire/WireArchivedEvent.js';
import type { WireEvent } from '../wire/WireEvent.js';
import type { WireExercisedEvent } from '../wire/WireExercisedEvent.js';
import { matchEvent } from './matchEvent.js';
import type { View } from './View.js';
import { visibleCreated } from './visibleCreated.js';

/** An event as its reader gets it; each of the two shapes has its own kinds of event. */
export function visibleEvent(event: WireEvent, format: TransactionFormat, view: View): object | undefined {
  if ('CreatedEvent' in event) {
    const created = event.CreatedEvent;
    if (!format.ledgerEffects && !created.acsDelta) return undefined;
    const parties = format.ledgerEffects ? created.witnessParties : stakeholdersOf(created);
    return tagged('CreatedEvent', visibleCreated(created, parties, format.events, view));
  }
  if ('ArchivedEvent' in event) {
    return format.ledgerEffects ? undefined : tagged('ArchivedEvent', visibleEnd(event.ArchivedEvent, format, view));
  }
  return format.ledgerEffects ? tagged('ExercisedEvent', visibleEnd(event.ExercisedEvent, format, view)) : undefined;
}

function visibleEnd(event: WireArchivedEvent | WireExercisedEvent, format: TransactionFormat, { ledger }: View) {
  const subject = { ...event, parties: event.witnessParties, interfaces: event.implementedInterfaces };
  const match = matchEvent(subject, format.events, ledger.packages);
  return match && { ...event, witnessParties: match.witnessParties };
}

function tagged(kind: string, event: object | undefined): object | undefined {
  return event && { [kind]: event };
}
