import type * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { message } from './internal/message.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { texts } from './internal/texts.js';
import { Offset } from './Offset.js';

/** A contract was archived. Sent by the ACS_DELTA shape; LEDGER_EFFECTS has consuming exercises instead. */
export interface ArchivedEvent {
  /** The kind of event. */
  readonly _tag: 'ArchivedEvent';
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's place in its transaction: ascending in execution order. */
  readonly nodeId: Int64;
  /** The contract. */
  readonly contractId: string;
  /** `package-id:Module:Entity` of the contract's template. */
  readonly templateId: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** Those of the requesting parties who witness the archival. */
  readonly witnessParties: readonly string[];
  /** The interfaces of the request's filter that the template implements. */
  readonly implementedInterfaces: readonly string[];
}

/** Codec of `ArchivedEvent`. */
export const ArchivedEvent: t.Type<ArchivedEvent, unknown> = message<ArchivedEvent>('ArchivedEvent', {
  _tag: tag('ArchivedEvent'),
  offset: Offset,
  nodeId: Int64,
  contractId: text,
  templateId: text,
  packageName: text,
  witnessParties: texts,
  implementedInterfaces: texts,
});
