import type * as t from 'io-ts';
import { Codec, invalid, isRecord, readerOf } from './internal/Codec.js';
import { flag, json, list, optional, repeated, tag, text, texts } from './internal/field.js';
import { message } from './internal/message.js';
import { oneOf, type UnknownVariant, unknownWithOffset } from './internal/variant.js';
import { Int64, Offset, Timestamp } from './scalars.js';

/**
 * A contract was archived. Only the ACS_DELTA shape contains it; LEDGER_EFFECTS contains a consuming exercise instead.
 *
 * @category Events
 */
export interface ArchivedEvent {
  /** The kind of event. */
  readonly _tag: 'ArchivedEvent';
  /** The offset of the update that contains the event. */
  readonly offset: Offset;
  /** The event's position in its transaction; ascends in execution order. */
  readonly nodeId: Int64;
  /** The id of the contract. */
  readonly contractId: string;
  /** The contract's template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** The requesting parties that witness the archival. */
  readonly witnessParties: readonly string[];
  /** The interfaces in the request's filter that the template implements. */
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
 * A detail of a gRPC status: a protobuf message with its type.
 *
 * @inline
 */
interface ProtoAny {
  /** The type, such as `type.googleapis.com/google.rpc.ErrorInfo`. */
  readonly typeUrl?: string;
  /** The encoded message, in base64. */
  readonly value?: string;
  /** The decoded message as JSON, or a string if the participant does not know the type. */
  readonly valueDecoded?: unknown;
  /** Fields that the participant does not know. */
  readonly unknownFields?: unknown;
}

/**
 * The status of an interface view: whether the participant could compute it.
 *
 * @category Events
 */
export interface ViewStatus {
  /** A gRPC status code; 0 means success. */
  readonly code: Int64;
  /** A human-readable reason for the failure. */
  readonly message?: string;
  /** Details of the failure; empty on success. */
  readonly details?: readonly ProtoAny[];
}

/**
 * The view of a contract through an interface that its template implements.
 *
 * @category Events
 */
export interface InterfaceView {
  /** The interface: `package-id:Module:Entity`. */
  readonly interfaceId: string;
  /** The status. If its code is not 0, the view failed and `viewValue` is absent. */
  readonly viewStatus: ViewStatus;
  /** The view as Daml JSON. */
  readonly viewValue?: unknown;
  /** The id of the package that computed the view. Since 3.5. */
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
 * A contract was created, or became visible through an assignment.
 *
 * @category Events
 */
export interface CreatedEvent {
  /** The kind of event. */
  readonly _tag: 'CreatedEvent';
  /** The offset of the update that contains the event. */
  readonly offset: Offset;
  /** The event's position in its transaction; ascends in execution order. */
  readonly nodeId: Int64;
  /** The id of the contract. */
  readonly contractId: string;
  /** The contract's template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The name of the template's package; upgrades keep it. */
  readonly packageName: string;
  /** The ledger time of the creation. */
  readonly createdAt: Timestamp;
  /**
   * The contract key as Daml JSON; absent if the template has no key. `null` is the key `None` of a key that is optional,
   * which the ledger sends with a `contractKeyHash`.
   */
  readonly contractKey?: unknown;
  /** The hash of the contract key, in base64; empty if the template has no key. Since 3.5. */
  readonly contractKeyHash?: string;
  /** The contract's fields as Daml JSON; absent if the request selects only interface views. */
  readonly createArgument?: unknown;
  /** The blob for explicit disclosure, in base64; empty unless the request sets `includeCreatedEventBlob`. */
  readonly createdEventBlob?: string;
  /** The views for the interfaces in the request's filters. */
  readonly interfaceViews: readonly InterfaceView[];
  /** The requesting parties that witness the creation. */
  readonly witnessParties: readonly string[];
  /** The contract's signatories. */
  readonly signatories: readonly string[];
  /** The contract's observers. */
  readonly observers: readonly string[];
  /** The id of the package whose types determine the form of `createArgument`. Since 3.4. */
  readonly representativePackageId?: string;
  /** Whether the event changes the active contracts of the requesting parties. Since 3.4. */
  readonly acsDelta?: boolean;
}

/**
 * Codec of `CreatedEvent`.
 *
 * @category Events
 */
export const CreatedEvent: t.Type<CreatedEvent, unknown> = keepKeyNone(
  message<CreatedEvent>('CreatedEvent', {
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
  }),
);

/** Keeps a `contractKey` that is `null` if there is a hash of the key. */
function keepKeyNone(codec: t.Type<CreatedEvent, unknown>): t.Type<CreatedEvent, unknown> {
  const read = readerOf(codec);
  const withKey = <A extends object>(event: A): A => ({ ...event, contractKey: null });
  return new Codec<CreatedEvent>(
    codec.name,
    codec.is,
    (u, sink) => {
      const event = read(u, sink);
      const hasKey = event !== invalid && event.contractKeyHash && isRecord(u) && u['contractKey'] === null;
      return hasKey ? withKey(event) : event;
    },
    (event) => {
      const encoded = codec.encode(event);
      return event.contractKey === null && isRecord(encoded) ? withKey(encoded) : encoded;
    },
  );
}

/**
 * A choice was exercised. Only the LEDGER_EFFECTS shape contains it. A consuming exercise archives its contract.
 *
 * @category Events
 */
export interface ExercisedEvent {
  /** The kind of event. */
  readonly _tag: 'ExercisedEvent';
  /** The offset of the update that contains the event. */
  readonly offset: Offset;
  /** The event's position in its transaction; ascends in execution order. */
  readonly nodeId: Int64;
  /** The id of the contract. */
  readonly contractId: string;
  /** The contract's template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The interface that defines the choice; absent if the template defines it. */
  readonly interfaceId?: string;
  /** The name of the template's package. */
  readonly packageName: string;
  /** The name of the choice. */
  readonly choice: string;
  /** The argument as Daml JSON. */
  readonly choiceArgument?: unknown;
  /** The parties that exercised the choice. */
  readonly actingParties: readonly string[];
  /** Whether the choice archives the contract. */
  readonly consuming: boolean;
  /** The requesting parties that witness the exercise. */
  readonly witnessParties: readonly string[];
  /**
   * The consequences of the exercise are the events whose node id `n` satisfies `nodeId < n <= lastDescendantNodeId`.
   */
  readonly lastDescendantNodeId: Int64;
  /** The result as Daml JSON; absent if it is `null`. */
  readonly exerciseResult?: unknown;
  /** The interfaces in the request's filter that the template implements. */
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
  /** The wire name of the kind. */
  readonly variant: string;
  /** The offset of the update that contains the event. */
  readonly offset: Offset;
  /** The content, undecoded. */
  readonly value: unknown;
}

/** @internal */
export const unknownEvent: UnknownVariant<UnknownEvent> = unknownWithOffset('UnknownEvent');

/**
 * An event of a contract in a transaction.
 *
 * @category Events
 */
export type TransactionEvent = CreatedEvent | ArchivedEvent | ExercisedEvent | UnknownEvent;

/**
 * Codec of `TransactionEvent`: `{"CreatedEvent": {...}}` and so on.
 *
 * @category Events
 */
export const TransactionEvent: t.Type<TransactionEvent, unknown> = oneOf<
  CreatedEvent | ArchivedEvent | ExercisedEvent,
  UnknownEvent
>('TransactionEvent', { CreatedEvent, ArchivedEvent, ExercisedEvent }, unknownEvent);
