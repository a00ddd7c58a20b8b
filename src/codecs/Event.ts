import type * as t from 'io-ts';
import { repeated, texts } from './internal/collection.js';
import { flag, json, optional, tag, text } from './internal/field.js';
import { message } from './internal/message.js';
import { oneOf, type Unknown, unknownAt } from './internal/variant.js';
import { Int64, Offset, Timestamp } from './scalars.js';

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

/** Whether an interface view could be computed. */
export interface ViewStatus {
  /** A gRPC status code; 0 is success. */
  readonly code: Int64;
  /** What went wrong, for people. */
  readonly message?: string;
}

/** A contract as one of the interfaces that its template implements shows it. */
export interface InterfaceView {
  /** `package-id:Module:Entity` of the interface. */
  readonly interfaceId: string;
  /** A code other than 0 says that the view failed: `viewValue` is absent then. */
  readonly viewStatus: ViewStatus;
  /** The view as Daml JSON. */
  readonly viewValue?: unknown;
  /** The package that computed the view. Since 3.5. */
  readonly implementationPackageId?: string;
}

const ViewStatus = message<ViewStatus>('ViewStatus', { code: Int64, message: optional(text) });

/** Codec of `InterfaceView`. */
export const InterfaceView: t.Type<InterfaceView, unknown> = message<InterfaceView>('InterfaceView', {
  interfaceId: text,
  viewStatus: ViewStatus,
  viewValue: optional(json),
  implementationPackageId: optional(text),
});

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

/** An event of a kind that this version does not know: passed on as it came. */
export interface UnknownEvent {
  /** The kind of event. */
  readonly _tag: 'UnknownEvent';
  /** The wire's name of the kind. */
  readonly variant: string;
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** What stands under that name, undecoded. */
  readonly value: unknown;
}

/** @internal */
export const unknownEvent: Unknown<UnknownEvent> = unknownAt('UnknownEvent');

/** What happened to one contract in a transaction. */
export type Event = CreatedEvent | ArchivedEvent | ExercisedEvent | UnknownEvent;

/** Codec of `Event`: `{"CreatedEvent": {...}}` and the like. */
export const Event: t.Type<Event, unknown> = oneOf<CreatedEvent | ArchivedEvent | ExercisedEvent, UnknownEvent>(
  'Event',
  { CreatedEvent, ArchivedEvent, ExercisedEvent },
  unknownEvent,
);
