import type { WireAssignedEvent } from './WireAssignedEvent.js';
import type { WireUnassignedEvent } from './WireUnassignedEvent.js';

/** An event of a reassignment; only one of the two has the `value` wrapper on the wire. */
export type WireReassignmentEvent =
  | {
      /** The contract that left. */
      readonly JsUnassignedEvent: {
        /** The event. */
        readonly value: WireUnassignedEvent;
      };
    }
  | {
      /** The contract that arrived. */
      readonly JsAssignmentEvent: WireAssignedEvent;
    };
