import type * as t from 'io-ts';
import { AssignmentEvent } from './AssignmentEvent.js';
import { enveloped } from './internal/enveloped.js';
import { oneOf } from './internal/oneOf.js';
import { UnassignedEvent } from './UnassignedEvent.js';
import { unknownEvent, type UnknownEvent } from './UnknownEvent.js';

/** What happened to one contract in a reassignment. */
export type ReassignmentEvent = AssignmentEvent | UnassignedEvent | UnknownEvent;

/** Codec of `ReassignmentEvent`; on the wire an unassignment is wrapped in a `value`, an assignment is not. */
export const ReassignmentEvent: t.Type<ReassignmentEvent, unknown> = oneOf<
  AssignmentEvent | UnassignedEvent,
  UnknownEvent
>(
  'ReassignmentEvent',
  { JsAssignmentEvent: AssignmentEvent, JsUnassignedEvent: enveloped('value', UnassignedEvent) },
  unknownEvent,
);
