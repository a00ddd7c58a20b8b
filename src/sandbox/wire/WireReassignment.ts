import type { WireCreatedEvent, WireTraceContext } from './WireEvent.js';

/** Contracts move between synchronizers. */
export interface WireReassignment {
  /** Unique over the network. */
  readonly updateId: string;
  /** The command behind it; served to those who submitted it. */
  readonly commandId: string;
  /** The workflow, `''` without one. */
  readonly workflowId: string;
  /** Where it is on this ledger. */
  readonly offset: number;
  /** What moved. */
  readonly events: readonly WireReassignmentEvent[];
  /** The trace of the submission. */
  readonly traceContext: WireTraceContext | null;
  /** When it was sequenced. */
  readonly recordTime: string;
  /** Where it was sequenced. */
  readonly synchronizerId: string;
  /** What it cost; served to those who submitted it. */
  readonly paidTrafficCost: number | null;
}

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

/** A contract leaves a synchronizer. */
export interface WireUnassignedEvent {
  /** Ties it to its assignment. */
  readonly reassignmentId: string;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The synchronizer that it leaves. */
  readonly source: string;
  /** The synchronizer that it goes to. */
  readonly target: string;
  /** Who asked for it. */
  readonly submitter: string;
  /** How often the contract has moved. */
  readonly reassignmentCounter: number;
  /** Until when only the submitter may assign. */
  readonly assignmentExclusivity: string | null;
  /** The stakeholders; served as far as the reader may see them. */
  readonly witnessParties: readonly string[];
  /** The package name of the template. */
  readonly packageName: string;
  /** The offset of the update. */
  readonly offset: number;
  /** The place in the reassignment. */
  readonly nodeId: number;
}
