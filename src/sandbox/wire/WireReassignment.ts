import type { WireCreatedEvent, WireTraceContext } from './WireEvent.js';

/**
 * Contracts were unassigned from a synchronizer or assigned to one.
 *
 * @category Sandbox
 */
export interface WireReassignment {
  /** The update id, unique on the network. */
  readonly updateId: string;
  /** The command id. Only responses to its submitters contain it. */
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
  /** The synchronizer that sequenced the update. */
  readonly synchronizerId: string;
  /** The traffic cost, in bytes. Only responses to its submitters contain it. */
  readonly paidTrafficCost: number | null;
}

/**
 * An event of a reassignment. On the wire, only the unassignment has a `value` wrapper.
 *
 * @category Sandbox
 */
export type WireReassignmentEvent =
  | {
      /** A contract was unassigned. */
      readonly JsUnassignedEvent: {
        /** The event. */
        readonly value: WireUnassignedEvent;
      };
    }
  | {
      /** A contract was assigned. */
      readonly JsAssignmentEvent: WireAssignedEvent;
    };

/**
 * An event of a reassignment to append. Absent fields get default values.
 *
 * @category Sandbox
 */
export type WireReassignmentEventInput =
  | {
      /** A contract was unassigned. */
      readonly JsUnassignedEvent: {
        /** The event. */
        readonly value: Partial<WireUnassignedEvent>;
      };
    }
  | {
      /** A contract was assigned. */
      readonly JsAssignmentEvent: Partial<Omit<WireAssignedEvent, 'createdEvent'>> & {
        /** The contract. */
        readonly createdEvent?: Partial<WireCreatedEvent>;
      };
    };

/**
 * A contract was assigned to a synchronizer.
 *
 * @category Sandbox
 */
export interface WireAssignedEvent {
  /** The synchronizer that the contract left. */
  readonly source: string;
  /** The synchronizer that the contract is assigned to. */
  readonly target: string;
  /** The id of the reassignment; the unassignment has the same. */
  readonly reassignmentId: string;
  /** The submitting party. */
  readonly submitter: string;
  /** How often the contract has been reassigned. */
  readonly reassignmentCounter: number;
  /** The contract. */
  readonly createdEvent: WireCreatedEvent;
}

/**
 * A contract was unassigned from a synchronizer.
 *
 * @category Sandbox
 */
export interface WireUnassignedEvent {
  /** The id of the reassignment; the assignment has the same. */
  readonly reassignmentId: string;
  /** The id of the contract. */
  readonly contractId: string;
  /** The template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The synchronizer that the contract leaves. */
  readonly source: string;
  /** The synchronizer that the contract will be assigned to. */
  readonly target: string;
  /** The submitting party. */
  readonly submitter: string;
  /** How often the contract has been reassigned. */
  readonly reassignmentCounter: number;
  /** The time until which only the submitter may assign the contract. */
  readonly assignmentExclusivity: string | null;
  /** The stakeholders. A response contains only those that the request selects. */
  readonly witnessParties: readonly string[];
  /** The package name of the template. */
  readonly packageName: string;
  /** The offset of the update. */
  readonly offset: number;
  /** The id of the node in the reassignment. */
  readonly nodeId: number;
}
