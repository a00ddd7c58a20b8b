import type { WireAssignedEvent } from './WireAssignedEvent.js';
import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { WireUnassignedEvent } from './WireUnassignedEvent.js';

/** An event of a reassignment to append; what is left out is filled in. */
export type WireReassignmentEventInput =
  | {
      /** The contract that leaves. */
      readonly JsUnassignedEvent: {
        /** The event. */
        readonly value: Partial<WireUnassignedEvent>;
      };
    }
  | {
      /** The contract that arrives. */
      readonly JsAssignmentEvent: Partial<Omit<WireAssignedEvent, 'createdEvent'>> & {
        /** The contract. */
        readonly createdEvent?: Partial<WireCreatedEvent>;
      };
    };
