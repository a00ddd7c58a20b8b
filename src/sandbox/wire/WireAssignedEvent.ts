import type { WireCreatedEvent } from './WireCreatedEvent.js';

/** A contract arrives on a synchronizer. */
export interface WireAssignedEvent {
  /** The synchronizer that it left. */
  readonly source: string;
  /** The synchronizer that it is on now. */
  readonly target: string;
  /** Ties it to its unassignment. */
  readonly reassignmentId: string;
  /** Who asked for it. */
  readonly submitter: string;
  /** How often the contract has moved. */
  readonly reassignmentCounter: number;
  /** The contract. */
  readonly createdEvent: WireCreatedEvent;
}
