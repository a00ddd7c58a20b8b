import type * as t from 'io-ts';
import { CreatedEvent, unknownEvent, type UnknownEvent } from './Event.js';
import { adapt, renameKey } from './internal/Codec.js';
import { optional, repeated, tag, text, texts } from './internal/field.js';
import { envelope, message } from './internal/message.js';
import { oneOf } from './internal/variant.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Int64, Offset, Timestamp } from './scalars.js';

/**
 * A contract was assigned to the synchronizer `target`.
 *
 * @category Events
 */
export interface AssignedEvent {
  /** The kind of event; `JsAssignmentEvent` on the wire. */
  readonly _tag: 'AssignedEvent';
  /** The synchronizer that the contract comes from. */
  readonly source: string;
  /** The synchronizer that the contract is now on. */
  readonly target: string;
  /** The id of the reassignment; the preceding unassignment has the same. */
  readonly reassignmentId: string;
  /** The submitter; empty if the reader may not know it. */
  readonly submitter?: string;
  /** The number of reassignments of the contract. */
  readonly reassignmentCounter: Int64;
  /** The contract. */
  readonly createdEvent: CreatedEvent;
}

/** 3.3 calls the reassignment id `unassignId`. */
const renameId = renameKey('unassignId', 'reassignmentId');

/**
 * Codec of `AssignedEvent`.
 *
 * @category Events
 */
export const AssignedEvent: t.Type<AssignedEvent, unknown> = adapt(
  message<AssignedEvent>('AssignedEvent', {
    _tag: tag('AssignedEvent'),
    source: text,
    target: text,
    reassignmentId: text,
    submitter: optional(text),
    reassignmentCounter: Int64,
    createdEvent: CreatedEvent,
  }),
  renameId,
);

/**
 * A contract was unassigned from the synchronizer `source`. It is in flight until an assignment with the same
 * reassignment id.
 *
 * @category Events
 */
export interface UnassignedEvent {
  /** The kind of event; `JsUnassignedEvent` on the wire. */
  readonly _tag: 'UnassignedEvent';
  /** The id of the reassignment; the following assignment has the same. */
  readonly reassignmentId: string;
  /** The id of the contract. */
  readonly contractId: string;
  /** The contract's template: `package-id:Module:Entity`. */
  readonly templateId?: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** The synchronizer that the contract leaves. */
  readonly source: string;
  /** The synchronizer that the contract goes to. */
  readonly target: string;
  /** The submitter; empty if the reader may not know it. */
  readonly submitter?: string;
  /** The number of reassignments of the contract. */
  readonly reassignmentCounter: Int64;
  /** The time until which only the submitter can assign the contract. */
  readonly assignmentExclusivity?: Timestamp;
  /** The requesting parties that witness the unassignment. */
  readonly witnessParties: readonly string[];
  /** The offset of the update that contains the event. */
  readonly offset: Offset;
  /** The event's position in its update. */
  readonly nodeId: Int64;
}

/**
 * Codec of `UnassignedEvent`.
 *
 * @category Events
 */
export const UnassignedEvent: t.Type<UnassignedEvent, unknown> = adapt(
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
  renameId,
);

/**
 * An event of a contract in a reassignment.
 *
 * @category Events
 */
export type ReassignmentEvent = AssignedEvent | UnassignedEvent | UnknownEvent;

/**
 * Codec of `ReassignmentEvent`. On the wire, an unassignment is wrapped in a `value`; an assignment is not.
 *
 * @category Events
 */
export const ReassignmentEvent: t.Type<ReassignmentEvent, unknown> = oneOf<
  AssignedEvent | UnassignedEvent,
  UnknownEvent
>('ReassignmentEvent', { AssignedEvent, UnassignedEvent: envelope('value', UnassignedEvent) }, unknownEvent, {
  AssignedEvent: 'JsAssignmentEvent',
  UnassignedEvent: 'JsUnassignedEvent',
});

/**
 * Contracts were unassigned from a synchronizer or assigned to one. The two steps are separate updates with separate
 * offsets.
 *
 * @category Updates
 */
export interface Reassignment {
  /** The variant. */
  readonly _tag: 'Reassignment';
  /** The id of the update: the same on every participant that sees it. */
  readonly updateId: string;
  /** The command id that the submitter chose; empty for all other readers. */
  readonly commandId?: string;
  /** The workflow id that the submitter chose. */
  readonly workflowId?: string;
  /** The update's position on this participant's ledger. */
  readonly offset: Offset;
  /** The events, all of one kind: unassignments or assignments. */
  readonly events: readonly ReassignmentEvent[];
  /** The trace context of the submission. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded the update. */
  readonly recordTime: Timestamp;
  /** The source of the unassignments, or the target of the assignments. Since 3.4. */
  readonly synchronizerId?: string;
  /** The traffic cost of the update, in bytes; only on the submitting participant. Since 3.4.12. */
  readonly paidTrafficCost?: Int64;
}

/**
 * Codec of `Reassignment`, `JsReassignment` in the ledger's documentation.
 *
 * @category Updates
 */
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
