import type * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { InterfaceView } from './InterfaceView.js';
import { flag } from './internal/flag.js';
import { json } from './internal/json.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { repeated } from './internal/repeated.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { texts } from './internal/texts.js';
import { Offset } from './Offset.js';
import { Timestamp } from './Timestamp.js';

/** A contract was created, or became visible by an assignment. */
export interface CreatedEvent {
  /** The kind of event. */
  readonly _tag: 'CreatedEvent';
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's place in its transaction: ascending in execution order. */
  readonly nodeId: Int64;
  /** The contract. */
  readonly contractId: string;
  /** `package-id:Module:Entity` of the contract's template. */
  readonly templateId: string;
  /** The name of the template's package, the same through its upgrades. */
  readonly packageName: string;
  /** The ledger time of the creation. */
  readonly createdAt: Timestamp;
  /** The contract key as Daml JSON; absent for a template without. */
  readonly contractKey?: unknown;
  /** Base64; empty for a template without a key. Since 3.5. */
  readonly contractKeyHash?: string;
  /** The contract's fields as Daml JSON; absent when only interface views were asked for. */
  readonly createArgument?: unknown;
  /** Base64, for explicit disclosure; empty unless `includeCreatedEventBlob` was asked for. */
  readonly createdEventBlob?: string;
  /** The views that the request's interface filters asked for. */
  readonly interfaceViews: readonly InterfaceView[];
  /** Those of the requesting parties who witness the creation. */
  readonly witnessParties: readonly string[];
  /** The contract's signatories. */
  readonly signatories: readonly string[];
  /** The contract's observers. */
  readonly observers: readonly string[];
  /** The package by which `createArgument` is rendered. Since 3.4. */
  readonly representativePackageId?: string;
  /** Whether the event changes the active contracts of the requesting parties. Since 3.4. */
  readonly acsDelta?: boolean;
}

/** Codec of `CreatedEvent`. */
export const CreatedEvent: t.Type<CreatedEvent, unknown> = message<CreatedEvent>('CreatedEvent', {
  _tag: tag('CreatedEvent'),
  offset: Offset,
  nodeId: Int64,
  contractId: text,
  templateId: text,
  packageName: text,
  createdAt: Timestamp,
  contractKey: optional(json),
  contractKeyHash: optional(text),
  createArgument: optional(json),
  createdEventBlob: optional(text),
  interfaceViews: repeated(InterfaceView),
  witnessParties: texts,
  signatories: texts,
  observers: texts,
  representativePackageId: optional(text),
  acsDelta: optional(flag),
});
