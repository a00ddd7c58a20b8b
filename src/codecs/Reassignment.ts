import type * as t from 'io-ts';
import { CreatedEvent, unknownEvent, type UnknownEvent } from './Event.js';
import { repeated, texts } from './internal/collection.js';
import { optional, tag, text } from './internal/field.js';
import { enveloped, message, renamed } from './internal/message.js';
import { oneOf } from './internal/variant.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Int64, Offset, Timestamp } from './scalars.js';

/** A contract arrived on the synchronizer `target`. */
export interface AssignedEvent {
  /** The kind of event; `JsAssignmentEvent` on the wire. */
  readonly _tag: 'AssignedEvent';
  /** The synchronizer that the contract comes from. */
  readonly source: string;
  /** The synchronizer that the contract is on from now on. */
  readonly target: string;
  /** The same as that of the unassignment before it. */
  readonly reassignmentId: string;
  /** Who asked for it; empty where the reader may not know. */
  readonly submitter?: string;
  /** How often the contract has been reassigned. */
  readonly reassignmentCounter: Int64;
  /** The contract. */
  readonly createdEvent: CreatedEvent;
}

/** Codec of `AssignedEvent`. 3.3 calls the reassignment id `unassignId`. */
export const AssignedEvent: t.Type<AssignedEvent, unknown> = renamed(
  'unassignId',
  'reassignmentId',
  message<AssignedEvent>('AssignedEvent', {
    _tag: tag('AssignedEvent'),
    source: text,
    target: text,
    reassignmentId: text,
    submitter: optional(text),
    reassignmentCounter: Int64,
    createdEvent: CreatedEvent,
  }),
);

/** A contract left the synchronizer `source`; it is in flight until the assignment with the same reassignment id. */
export interface UnassignedEvent {
  /** The kind of event; `JsUnassignedEvent` on the wire. */
  readonly _tag: 'UnassignedEvent';
  /** The same as that of the assignment to come. */
  readonly reassignmentId: string;
  /** The contract. */
  readonly contractId: string;
  /** `package-id:Module:Entity` of the contract's template. */
  readonly templateId?: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** The synchronizer that the contract leaves. */
  readonly source: string;
  /** The synchronizer that the contract goes to. */
  readonly target: string;
  /** Who asked for it; empty where the reader may not know. */
  readonly submitter?: string;
  /** How often the contract has been reassigned. */
  readonly reassignmentCounter: Int64;
  /** Until then only the submitter can assign. */
  readonly assignmentExclusivity?: Timestamp;
  /** Those of the requesting parties who witness it. */
  readonly witnessParties: readonly string[];
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's place in its update. */
  readonly nodeId: Int64;
}

/** Codec of `UnassignedEvent`. 3.3 calls the reassignment id `unassignId`. */
export const UnassignedEvent: t.Type<UnassignedEvent, unknown> = renamed(
  'unassignId',
  'reassignmentId',
  message<UnassignedEvent>('UnassignedEvent', {
    _tag: tag('UnassignedEvent'),
    reassignmentId: text,
    contractId: text,
    templateId: optional(text),
    packageName: text,
    source: text,
    target: text,
    submitter: optional(text),
    reassignmentCounter: Int64,
    assignmentExclusivity: optional(Timestamp),
    witnessParties: texts,
    offset: Offset,
    nodeId: Int64,
  }),
);

/** What happened to one contract in a reassignment. */
export type ReassignmentEvent = AssignedEvent | UnassignedEvent | UnknownEvent;

/** Codec of `ReassignmentEvent`; on the wire an unassignment is wrapped in a `value`, an assignment is not. */
export const ReassignmentEvent: t.Type<ReassignmentEvent, unknown> = oneOf<
  AssignedEvent | UnassignedEvent,
  UnknownEvent
>('ReassignmentEvent', { AssignedEvent, UnassignedEvent: enveloped('value', UnassignedEvent) }, unknownEvent, {
  AssignedEvent: 'JsAssignmentEvent',
  UnassignedEvent: 'JsUnassignedEvent',
});

/** Contracts left a synchronizer, or arrived on one: two updates, each with its own offset. */
export interface Reassignment {
  /** The variant. */
  readonly _tag: 'Reassignment';
  /** The same on every participant that sees it. */
  readonly updateId: string;
  /** Chosen by the submitter; empty for everybody else. */
  readonly commandId?: string;
  /** Chosen by the submitter. */
  readonly workflowId?: string;
  /** Where it stands on this participant's ledger. */
  readonly offset: Offset;
  /** All are of one kind: unassignments or assignments. */
  readonly events: readonly ReassignmentEvent[];
  /** The trace in which it was submitted. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded it. */
  readonly recordTime: Timestamp;
  /** The source of an unassignment, the target of an assignment. Since 3.4. */
  readonly synchronizerId?: string;
  /** Traffic that it cost, in bytes; for the submitting participant alone. Since 3.4.12. */
  readonly paidTrafficCost?: Int64;
}

/** Codec of `Reassignment`, the JsReassignment of the ledger's own documents. */
export const Reassignment: t.Type<Reassignment, unknown> = message<Reassignment>('Reassignment', {
  _tag: tag('Reassignment'),
  updateId: text,
  commandId: optional(text),
  workflowId: optional(text),
  offset: Offset,
  events: repeated(ReassignmentEvent),
  traceContext: optional(TraceContext),
  recordTime: Timestamp,
  synchronizerId: optional(text),
  paidTrafficCost: optional(Int64),
});
