import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { WireEvent } from './WireEvent.js';
import { archivedEvent } from './archivedEvent.js';
import type { Choice } from './Choice.js';
import { exercisedEvent } from './exercisedEvent.js';
import { stakeholdersOf } from './stakeholdersOf.js';

/** A contract ends: its archive and the exercise, one for each shape. */
export function consume(created: WireCreatedEvent, choice: Choice): readonly WireEvent[] {
  const exercised = exercisedEvent(created, choice, true);
  const both = { ExercisedEvent: exercised };
  if (!created.acsDelta) return [both];
  return [{ ArchivedEvent: { ...archivedEvent(exercised), witnessParties: stakeholdersOf(created) } }, both];
}
