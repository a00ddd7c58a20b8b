import type { WireCreatedEvent, WireTraceContext } from './WireEvent.js';

/**
 * Contracts are reassigned between synchronizers.
 *
 * @category Sandbox
 */
export interface WireReassignment {
  /** The update id, unique on the network. */
  readonly updateId: string;
  /** The id of the command. In responses to its submitters. */
  readonly commandId: string;
  /** The workflow id, or `''`. */
  readonly workflowId: string;
  /** The offset on this ledger. */
  readonly offset: number;
  /** The events. */
  readonly events: readonly WireReassignmentEvent[];
  /** The trace context of the submission. */
  readonly traceContext: WireTraceContext | null;
  /** The time of sequencing. */
  readonly recordTime: string;
  /** The synchronizer that sequenced it. */
  readonly synchronizerId: string;
  /** The traffic cost. In responses to its submitters. */
  readonly paidTrafficCost: number | null;
}

/**
 * An event of a reassignment. On the wire only the unassignment has a `value` wrapper.
 *
 * @category Sandbox
 */
export type WireReassignmentEvent =
  | {
      /** A contract is unassigned. */
      readonly JsUnassignedEvent: {
        /** The event. */
        readonly value: WireUnassignedEvent;
      };
    }
  | {
      /** A contract is assigned. */
      readonly JsAssignmentEvent: WireAssignedEvent;
    };

/**
 * An event of a reassignment to append. Absent fields get default values.
 *
 * @category Sandbox
 */
export type WireReassignmentEventInput =
  | {
      /** A contract is unassigned. */
      readonly JsUnassignedEvent: {
        /** The event. */
        readonly value: Partial<WireUnassignedEvent>;
      };
    }
  | {
      /** A contract is assigned. */
      readonly JsAssignmentEvent: Partial<Omit<WireAssignedEvent, 'createdEvent'>> & {
        /** The contract. */
        readonly createdEvent?: Partial<WireCreatedEvent>;
      };
    };

/**
 * A contract is assigned to a synchronizer.
 *
 * @category Sandbox
 */
export interface WireAssignedEvent {
  /** The synchronizer that the contract left. */
  readonly source: string;
  /** The synchronizer that the contract is assigned to. */
  readonly target: string;
  /** The id of the reassignment, the same as in the unassignment. */
  readonly reassignmentId: string;
  /** The submitting party. */
  readonly submitter: string;
  /** The number of reassignments of the contract. */
  readonly reassignmentCounter: number;
  /** The contract. */
  readonly createdEvent: WireCreatedEvent;
}

/**
 * A contract is unassigned from a synchronizer.
 *
 * @category Sandbox
 */
export interface WireUnassignedEvent {
  /** The id of the reassignment, the same as in the assignment. */
  readonly reassignmentId: string;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The synchronizer that the contract leaves. */
  readonly source: string;
  /** The synchronizer that the contract will be assigned to. */
  readonly target: string;
  /** The submitting party. */
  readonly submitter: string;
  /** The number of reassignments of the contract. */
  readonly reassignmentCounter: number;
  /** The time until which only the submitter may assign the contract. */
  readonly assignmentExclusivity: string | null;
  /** The stakeholders. A response contains those that the request selects. */
  readonly witnessParties: readonly string[];
  /** The package name of the template. */
  readonly packageName: string;
  /** The offset of the update. */
  readonly offset: number;
  /** The id of the node in the reassignment. */
  readonly nodeId: number;
}
