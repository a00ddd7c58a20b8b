import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';

/** A generated contract between its unassignment and its assignment. */
export interface InFlight {
  readonly created: WireCreatedEvent;
  readonly source: string;
  readonly target: string;
  readonly reassignmentId: string;
  readonly reassignmentCounter: number;
  /** The offset of the unassignment. */
  readonly since: number;
}
