import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';

/** An active contract and where it is. */
export interface Contract {
  readonly created: WireCreatedEvent;
  readonly synchronizerId: string;
  readonly reassignmentCounter: number;
}
