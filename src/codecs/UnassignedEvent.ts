import type * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { renamed } from './internal/renamed.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { texts } from './internal/texts.js';
import { Offset } from './Offset.js';
import { Timestamp } from './Timestamp.js';

/** A contract left the synchronizer `source`; it is in flight until the assignment with the same reassignment id. */
export interface UnassignedEvent {
  /** The kind of event, as the wire names it. */
  readonly _tag: 'JsUnassignedEvent';
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
    _tag: tag('JsUnassignedEvent'),
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
