import type * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { flag } from './internal/flag.js';
import { json } from './internal/json.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { texts } from './internal/texts.js';
import { Offset } from './Offset.js';

/** A choice was exercised. Sent by the LEDGER_EFFECTS shape alone; a consuming one is the archival of its contract. */
export interface ExercisedEvent {
  /** The kind of event. */
  readonly _tag: 'ExercisedEvent';
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's place in its transaction: ascending in execution order. */
  readonly nodeId: Int64;
  /** The contract. */
  readonly contractId: string;
  /** `package-id:Module:Entity` of the contract's template. */
  readonly templateId: string;
  /** The interface of the choice; absent where the template defines it. */
  readonly interfaceId?: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** The choice. */
  readonly choice: string;
  /** The choice's argument as Daml JSON. */
  readonly choiceArgument?: unknown;
  /** Those who exercised. */
  readonly actingParties: readonly string[];
  /** Whether the choice archives the contract. */
  readonly consuming: boolean;
  /** Those of the requesting parties who witness the exercise. */
  readonly witnessParties: readonly string[];
  /** What follows from the exercise are the events with `nodeId < n <= lastDescendantNodeId`. */
  readonly lastDescendantNodeId: Int64;
  /** The result as Daml JSON; absent where it is `null`. */
  readonly exerciseResult?: unknown;
  /** The interfaces of the request's filter that the template implements. */
  readonly implementedInterfaces: readonly string[];
  /** Whether the event changes the active contracts of the requesting parties. Since 3.4. */
  readonly acsDelta?: boolean;
}

/** Codec of `ExercisedEvent`. */
export const ExercisedEvent: t.Type<ExercisedEvent, unknown> = message<ExercisedEvent>('ExercisedEvent', {
  _tag: tag('ExercisedEvent'),
  offset: Offset,
  nodeId: Int64,
  contractId: text,
  templateId: text,
  interfaceId: optional(text),
  packageName: text,
  choice: text,
  choiceArgument: optional(json),
  actingParties: texts,
  consuming: flag,
  witnessParties: texts,
  lastDescendantNodeId: Int64,
  exerciseResult: optional(json),
  implementedInterfaces: texts,
  acsDelta: optional(flag),
});
