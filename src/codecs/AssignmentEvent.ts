import type * as t from 'io-ts';
import { CreatedEvent } from './CreatedEvent.js';
import { Int64 } from './Int64.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { renamed } from './internal/renamed.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';

/** A contract arrived on the synchronizer `target`. */
export interface AssignmentEvent {
  /** The kind of event, as the wire names it. */
  readonly _tag: 'JsAssignmentEvent';
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

/** Codec of `AssignmentEvent`. 3.3 calls the reassignment id `unassignId`. */
export const AssignmentEvent: t.Type<AssignmentEvent, unknown> = renamed(
  'unassignId',
  'reassignmentId',
  message<AssignmentEvent>('AssignmentEvent', {
    _tag: tag('JsAssignmentEvent'),
    source: text,
    target: text,
    reassignmentId: text,
    submitter: optional(text),
    reassignmentCounter: Int64,
    createdEvent: CreatedEvent,
  }),
);
