import type * as t from 'io-ts';
import { ArchivedEvent } from './ArchivedEvent.js';
import { CreatedEvent } from './CreatedEvent.js';
import { ExercisedEvent } from './ExercisedEvent.js';
import { oneOf } from './internal/oneOf.js';
import { unknownEvent, type UnknownEvent } from './UnknownEvent.js';

/** What happened to one contract in a transaction. */
export type Event = CreatedEvent | ArchivedEvent | ExercisedEvent | UnknownEvent;

/** Codec of `Event`: `{"CreatedEvent": {...}}` and the like. */
export const Event: t.Type<Event, unknown> = oneOf<CreatedEvent | ArchivedEvent | ExercisedEvent, UnknownEvent>(
  'Event',
  { CreatedEvent, ArchivedEvent, ExercisedEvent },
  unknownEvent,
);
