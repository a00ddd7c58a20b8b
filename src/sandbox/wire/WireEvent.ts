import type { WireArchivedEvent } from './WireArchivedEvent.js';
import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { WireExercisedEvent } from './WireExercisedEvent.js';

/** An event of a transaction. A consuming exercise is kept beside its archive, under the same node id. */
export type WireEvent =
  | {
      /** The contract made. */
      readonly CreatedEvent: WireCreatedEvent;
    }
  | {
      /** The contract ended. */
      readonly ArchivedEvent: WireArchivedEvent;
    }
  | {
      /** The choice taken. */
      readonly ExercisedEvent: WireExercisedEvent;
    };
