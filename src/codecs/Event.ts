import type * as t from 'io-ts';
import { list, repeated, texts } from './internal/collection.js';
import { flag, json, optional, tag, text } from './internal/field.js';
import { message } from './internal/message.js';
import { oneOf, type UnknownVariant, unknownWithOffset } from './internal/variant.js';
import { Int64, Offset, Timestamp } from './scalars.js';

/**
 * A contract was archived. Only in the ACS_DELTA shape; LEDGER_EFFECTS has consuming exercises instead.
 *
 * @category Events
 */
export interface ArchivedEvent {
  /** The kind of event. */
  readonly _tag: 'ArchivedEvent';
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's position in its transaction: ascending in execution order. */
  readonly nodeId: Int64;
  /** The contract. */
  readonly contractId: string;
  /** `package-id:Module:Entity` of the contract's template. */
  readonly templateId: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** The requesting parties that witness the archival. */
  readonly witnessParties: readonly string[];
  /** The interfaces of the request's filter that the template implements. */
  readonly implementedInterfaces: readonly string[];
}

/**
 * Codec of `ArchivedEvent`.
 *
 * @category Events
 */
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

/**
 * A message of a gRPC status, packed with its type.
 *
 * @category Events
 */
export interface ProtoAny {
  /** The type, such as `type.googleapis.com/google.rpc.ErrorInfo`. */
  readonly typeUrl?: string;
  /** The encoded message, base64. */
  readonly value?: string;
  /** The decoded message as JSON; a string if the participant does not know the type. */
  readonly valueDecoded?: unknown;
  /** Fields that the participant does not know. */
  readonly unknownFields?: unknown;
}

/**
 * Whether an interface view could be computed.
 *
 * @category Events
 */
export interface ViewStatus {
  /** A gRPC status code; 0 is success. */
  readonly code: Int64;
  /** A human-readable reason for the failure. */
  readonly message?: string;
  /** More about the failure; empty for success. */
  readonly details?: readonly ProtoAny[];
}

/**
 * The view of a contract by one of the interfaces that its template implements.
 *
 * @category Events
 */
export interface InterfaceView {
  /** `package-id:Module:Entity` of the interface. */
  readonly interfaceId: string;
  /** With a code other than 0 the view failed, and `viewValue` is absent. */
  readonly viewStatus: ViewStatus;
  /** The view as Daml JSON. */
  readonly viewValue?: unknown;
  /** The package that computed the view. Since 3.5. */
  readonly implementationPackageId?: string;
}

const ProtoAny = message<ProtoAny>('ProtoAny', {
  typeUrl: optional(text),
  value: optional(text),
  valueDecoded: optional(json),
  unknownFields: optional(json),
});

const ViewStatus = message<ViewStatus>('ViewStatus', {
  code: Int64,
  message: optional(text),
  details: optional(list(ProtoAny)),
});

/**
 * Codec of `InterfaceView`.
 *
 * @category Events
 */
export const InterfaceView: t.Type<InterfaceView, unknown> = message<InterfaceView>('InterfaceView', {
  interfaceId: text,
  viewStatus: ViewStatus,
  viewValue: optional(json),
  implementationPackageId: optional(text),
});

/**
 * A contract was created, or became visible by an assignment.
 *
 * @category Events
 */
export interface CreatedEvent {
  /** The kind of event. */
  readonly _tag: 'CreatedEvent';
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's position in its transaction: ascending in execution order. */
  readonly nodeId: Int64;
  /** The contract. */
  readonly contractId: string;
  /** `package-id:Module:Entity` of the contract's template. */
  readonly templateId: string;
  /** The name of the template's package, the same through its upgrades. */
  readonly packageName: string;
  /** The ledger time of the creation. */
  readonly createdAt: Timestamp;
  /** The contract key as Daml JSON; absent for a template without a key. */
  readonly contractKey?: unknown;
  /** Base64; empty for a template without a key. Since 3.5. */
  readonly contractKeyHash?: string;
  /** The contract's fields as Daml JSON; absent if the request asks only for interface views. */
  readonly createArgument?: unknown;
  /** Base64, for explicit disclosure; empty unless the request sets `includeCreatedEventBlob`. */
  readonly createdEventBlob?: string;
  /** The views by the interfaces of the request's filters. */
  readonly interfaceViews: readonly InterfaceView[];
  /** The requesting parties that witness the creation. */
  readonly witnessParties: readonly string[];
  /** The contract's signatories. */
  readonly signatories: readonly string[];
  /** The contract's observers. */
  readonly observers: readonly string[];
  /** The package whose types `createArgument` is rendered with. Since 3.4. */
  readonly representativePackageId?: string;
  /** Whether the event changes the active contracts of the requesting parties. Since 3.4. */
  readonly acsDelta?: boolean;
}

/**
 * Codec of `CreatedEvent`.
 *
 * @category Events
 */
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

/**
 * A choice was exercised. Only in the LEDGER_EFFECTS shape; a consuming exercise is the archival of its contract.
 *
 * @category Events
 */
export interface ExercisedEvent {
  /** The kind of event. */
  readonly _tag: 'ExercisedEvent';
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The event's position in its transaction: ascending in execution order. */
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
  /** The parties that exercised the choice. */
  readonly actingParties: readonly string[];
  /** Whether the choice archives the contract. */
  readonly consuming: boolean;
  /** The requesting parties that witness the exercise. */
  readonly witnessParties: readonly string[];
  /** The consequences of the exercise are the events with `nodeId < n <= lastDescendantNodeId`. */
  readonly lastDescendantNodeId: Int64;
  /** The result as Daml JSON; absent if it is `null`. */
  readonly exerciseResult?: unknown;
  /** The interfaces of the request's filter that the template implements. */
  readonly implementedInterfaces: readonly string[];
  /** Whether the event changes the active contracts of the requesting parties. Since 3.4. */
  readonly acsDelta?: boolean;
}

/**
 * Codec of `ExercisedEvent`.
 *
 * @category Events
 */
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

/**
 * An event of a kind that this version does not know, undecoded.
 *
 * @category Events
 */
export interface UnknownEvent {
  /** The kind of event. */
  readonly _tag: 'UnknownEvent';
  /** The name of the kind on the wire. */
  readonly variant: string;
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** The content, undecoded. */
  readonly value: unknown;
}

/** @internal */
export const unknownEvent: UnknownVariant<UnknownEvent> = unknownWithOffset('UnknownEvent');

/**
 * An event of one contract in a transaction.
 *
 * @category Events
 */
export type Event = CreatedEvent | ArchivedEvent | ExercisedEvent | UnknownEvent;

/**
 * Codec of `Event`: `{"CreatedEvent": {...}}` and so on.
 *
 * @category Events
 */
export const Event: t.Type<Event, unknown> = oneOf<CreatedEvent | ArchivedEvent | ExercisedEvent, UnknownEvent>(
  'Event',
  { CreatedEvent, ArchivedEvent, ExercisedEvent },
  unknownEvent,
);
