import type { Update } from '../../codecs/Update.js';
import { shortId } from '../text/shortId.js';

/** Whom an update concerns, by their short names, each once. */
export function partiesOf(update: Update): readonly string[] {
  if (update._tag !== 'Transaction' && update._tag !== 'Reassignment') return [];
  return [...new Set(update.events.flatMap(partiesIn).map(shortId))];
}

type Event = Extract<Update, { _tag: 'Transaction' | 'Reassignment' }>['events'][number];

function partiesIn(event: Event): readonly string[] {
  switch (event._tag) {
    case 'CreatedEvent':
      return [...event.signatories, ...event.observers];
    case 'ExercisedEvent':
      return event.actingParties;
    case 'ArchivedEvent':
    case 'JsUnassignedEvent':
      return event.witnessParties;
    case 'JsAssignmentEvent':
      return [...event.createdEvent.signatories, ...event.createdEvent.observers];
    case 'UnknownEvent':
      return [];
  }
}
