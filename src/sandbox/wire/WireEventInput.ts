import type { WireArchivedEvent } from './WireArchivedEvent.js';
import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { WireExercisedEvent } from './WireExercisedEvent.js';

/** An event to append; what is left out is filled in, from the contract where one is known. */
export type WireEventInput =
  | {
      /** The contract made. */
      readonly CreatedEvent: Partial<WireCreatedEvent>;
    }
  | {
      /** The contract ended; the consuming exercise is added. */
      readonly ArchivedEvent: Partial<WireArchivedEvent>;
    }
  | {
      /** The choice taken; if it is consuming, the archive is added. */
      readonly ExercisedEvent: Partial<WireExercisedEvent>;
    };
