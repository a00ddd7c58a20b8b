import type * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { repeated } from './internal/repeated.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { Offset } from './Offset.js';
import { ReassignmentEvent } from './ReassignmentEvent.js';
import { Timestamp } from './Timestamp.js';
import { TraceContext } from './TraceContext.js';

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
