import type { ArchivedEvent, CreatedEvent, ExercisedEvent, InterfaceView } from '../../codecs/Event.js';
import type { TraceContext } from '../../codecs/OffsetCheckpoint.js';
import type { AssignedEvent, Reassignment, UnassignedEvent } from '../../codecs/Reassignment.js';
import type { TopologyEvent, TopologyTransaction } from '../../codecs/TopologyTransaction.js';
import type { Transaction } from '../../codecs/Transaction.js';

/**
 * An object with a single key.
 *
 * @inline
 */
type Variant<K extends string, A> = Readonly<Record<K, A>>;

/**
 * An object with a single key, whose content is in a `value`.
 *
 * @inline
 */
type Wrapped<K extends string, A> = Variant<K, { readonly value: A }>;

/**
 * The fields of a message as the ledger stores them: all are present, and those in `N` may be `null`.
 *
 * @inline
 */
type Stored<A, N extends keyof A = never> = Required<Omit<A, N | '_tag'>> & {
  readonly [K in N]-?: Exclude<A[K], undefined> | null;
};

/**
 * An update in wire format: an object with a single key, without the `update` envelope.
 *
 * @category Sandbox
 */
export type WireUpdate =
  | Wrapped<'Transaction', WireTransaction>
  | Wrapped<'Reassignment', WireReassignment>
  | Wrapped<'TopologyTransaction', WireTopologyTransaction>;

/**
 * An update to append. Absent fields get default values. The offset must be greater than the ledger end.
 *
 * @category Sandbox
 */
export type WireUpdateInput =
  | Wrapped<'Transaction', WithEvents<WireTransaction, WireEventInput>>
  | Wrapped<'Reassignment', WithEvents<WireReassignment, WireReassignmentEventInput>>
  | Wrapped<'TopologyTransaction', Partial<WireTopologyTransaction>>;

/**
 * The fields of an update to append, by default without events.
 *
 * @inline
 */
export type WithEvents<A extends { readonly events: unknown }, E> = Partial<Omit<A, 'events'>> & {
  readonly events?: readonly E[];
};

/**
 * A transaction as the ledger stores it: with all fields, and with the events of both shapes. Responses omit what the
 * request does not select.
 *
 * @category Sandbox
 */
export interface WireTransaction extends Stored<
  Omit<Transaction, 'events' | 'traceContext'>,
  'externalTransactionHash' | 'paidTrafficCost' | 'transactionHash'
> {
  /** The events, in ascending order of their node ids. */
  readonly events: readonly WireEvent[];
  /** The trace context of the submission. */
  readonly traceContext: WireTraceContext | null;
}

/**
 * An event of a transaction. A consuming exercise is stored next to its archive, with the same node id.
 *
 * @category Sandbox
 */
export type WireEvent =
  | Variant<'CreatedEvent', WireCreatedEvent>
  | Variant<'ArchivedEvent', WireArchivedEvent>
  | Variant<'ExercisedEvent', WireExercisedEvent>;

/**
 * An event to append. Absent fields get default values, taken from the contract if the sandbox knows it. The sandbox
 * adds the consuming exercise of an archive, and the archive of a consuming exercise.
 *
 * @category Sandbox
 */
export type WireEventInput =
  | Variant<'CreatedEvent', Partial<WireCreatedEvent>>
  | Variant<'ArchivedEvent', Partial<WireArchivedEvent>>
  | Variant<'ExercisedEvent', Partial<WireExercisedEvent>>;

/**
 * A contract was created. The ledger stores all fields; responses omit the fields that the request does not select.
 *
 * @category Sandbox
 */
export interface WireCreatedEvent extends Stored<Omit<CreatedEvent, 'interfaceViews'>> {
  /** The interface views. A response contains only those that the request selects. */
  readonly interfaceViews: readonly WireInterfaceView[];
}

/**
 * A contract was archived. An event of the ACS-delta shape.
 *
 * @category Sandbox
 */
export type WireArchivedEvent = Stored<ArchivedEvent>;

/**
 * A choice was exercised. An event of the ledger-effects shape.
 *
 * @category Sandbox
 */
export type WireExercisedEvent = Stored<ExercisedEvent, 'interfaceId'>;

/**
 * The view of a contract through an interface.
 *
 * @category Sandbox
 */
export type WireInterfaceView = Stored<InterfaceView, 'implementationPackageId'>;

/**
 * The W3C trace context of an update.
 *
 * @category Sandbox
 */
export type WireTraceContext = Stored<TraceContext, 'traceparent' | 'tracestate'>;

/**
 * Contracts were unassigned from a synchronizer or assigned to one.
 *
 * @category Sandbox
 */
export interface WireReassignment extends Stored<Omit<Reassignment, 'events' | 'traceContext'>, 'paidTrafficCost'> {
  /** The events. */
  readonly events: readonly WireReassignmentEvent[];
  /** The trace context of the submission. */
  readonly traceContext: WireTraceContext | null;
}

/**
 * An event of a reassignment. On the wire, only the unassignment has a `value` wrapper.
 *
 * @category Sandbox
 */
export type WireReassignmentEvent =
  Wrapped<'JsUnassignedEvent', WireUnassignedEvent> | Variant<'JsAssignmentEvent', WireAssignedEvent>;

/**
 * An event of a reassignment to append. Absent fields get default values.
 *
 * @category Sandbox
 */
export type WireReassignmentEventInput =
  | Wrapped<'JsUnassignedEvent', Partial<WireUnassignedEvent>>
  | Variant<
      'JsAssignmentEvent',
      Partial<Omit<WireAssignedEvent, 'createdEvent'>> & { readonly createdEvent?: Partial<WireCreatedEvent> }
    >;

/**
 * A contract was assigned to a synchronizer.
 *
 * @category Sandbox
 */
export interface WireAssignedEvent extends Stored<Omit<AssignedEvent, 'createdEvent'>> {
  /** The contract. */
  readonly createdEvent: WireCreatedEvent;
}

/**
 * A contract was unassigned from a synchronizer.
 *
 * @category Sandbox
 */
export type WireUnassignedEvent = Stored<UnassignedEvent, 'assignmentExclusivity'>;

/**
 * A transaction that changes the topology.
 *
 * @category Sandbox
 */
export interface WireTopologyTransaction extends Stored<Omit<TopologyTransaction, 'events' | 'traceContext'>> {
  /** The events. */
  readonly events: readonly WireTopologyEvent[];
  /** The trace context of the change. */
  readonly traceContext: WireTraceContext | null;
}

/**
 * A change to the authorization of a participant for a party. An onboarding waits for the party's contracts; it occurs
 * since 3.5.
 *
 * @category Sandbox
 */
export interface WireTopologyEvent {
  /** The event, as one of its kinds. */
  readonly event:
    | Wrapped<'ParticipantAuthorizationAdded', WireAuthorization>
    | Wrapped<'ParticipantAuthorizationChanged', WireAuthorization>
    | Wrapped<'ParticipantAuthorizationOnboarding', WireAuthorization>
    | Wrapped<'ParticipantAuthorizationRevoked', WireRevocation>;
}

/**
 * The permission of a participant for a party.
 *
 * @category Sandbox
 */
export type WireAuthorization = Stored<Extract<TopologyEvent, { readonly _tag: 'ParticipantAuthorizationAdded' }>>;

/**
 * The end of the permission of a participant for a party.
 *
 * @category Sandbox
 */
export type WireRevocation = Stored<Extract<TopologyEvent, { readonly _tag: 'ParticipantAuthorizationRevoked' }>>;

/** A template or interface, by package id, with its package name. */
export interface TemplateRef {
  /** `<package-id>:<Module>:<Entity>` */
  readonly id: string;
  readonly packageName: string;
}

/** Creates the archived event that the ACS-delta shape contains instead of a consuming exercise. */
export function archivedEvent(exercised: WireExercisedEvent): WireArchivedEvent {
  const { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces } = exercised;
  return { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces };
}

/** The fields of a created event from which the others are derived. */
type CreatedFields = Partial<WireCreatedEvent> &
  Pick<WireCreatedEvent, 'offset' | 'nodeId' | 'contractId' | 'createArgument' | 'createdAt' | 'signatories'> & {
    readonly template: TemplateRef;
  };

/** Creates a created event. */
export function createdEvent({ template, ...fields }: CreatedFields): WireCreatedEvent {
  const { contractId, signatories, observers = [] } = fields;
  return {
    templateId: template.id,
    contractKey: null,
    contractKeyHash: '',
    createdEventBlob: Buffer.from(contractId, 'hex').toString('base64'),
    interfaceViews: [],
    witnessParties: observers.length === 0 ? signatories : [...new Set([...signatories, ...observers])],
    observers,
    packageName: template.packageName,
    representativePackageId: template.id.slice(0, template.id.indexOf(':')),
    acsDelta: true,
    ...fields,
  };
}

/** The stakeholders of a contract: its signatories and observers. */
export function stakeholdersOf({
  signatories,
  observers,
}: Pick<WireCreatedEvent, 'signatories' | 'observers'>): readonly string[] {
  return [...new Set([...signatories, ...observers])];
}

/** Creates the exercised event of a choice on a contract: by default, its signatories archive it. */
export function exercisedEvent(
  created: WireCreatedEvent,
  fields: Partial<WireExercisedEvent> & Pick<WireExercisedEvent, 'offset' | 'nodeId'>,
): WireExercisedEvent {
  const { contractId, templateId, packageName, interfaceViews, acsDelta } = created;
  const { actingParties = created.signatories, consuming = true } = fields;
  return {
    choice: 'Archive',
    choiceArgument: {},
    exerciseResult: {},
    actingParties,
    contractId,
    templateId,
    interfaceId: null,
    consuming,
    witnessParties: [...new Set([...stakeholdersOf(created), ...actingParties])],
    lastDescendantNodeId: fields.nodeId,
    packageName,
    implementedInterfaces: interfaceViews.map(({ interfaceId }) => interfaceId),
    // a contract that the transaction of its creation archives never becomes active
    acsDelta: consuming && acsDelta,
    ...fields,
  };
}

/** The data about the contract's template in an event. */
export interface SeenTemplate extends Pick<WireCreatedEvent, 'templateId' | 'packageName'> {
  /** The views of a contract that is created or assigned. */
  readonly interfaceViews?: WireCreatedEvent['interfaceViews'];
}

/** The templates of the contracts of an update. */
export function templatesIn(update: WireUpdate): readonly SeenTemplate[] {
  if ('Transaction' in update) {
    return update.Transaction.value.events.map((event) => {
      if ('CreatedEvent' in event) return event.CreatedEvent;
      return 'ArchivedEvent' in event ? event.ArchivedEvent : event.ExercisedEvent;
    });
  }
  if (!('Reassignment' in update)) return [];
  return update.Reassignment.value.events.map((event) =>
    'JsAssignmentEvent' in event ? event.JsAssignmentEvent.createdEvent : event.JsUnassignedEvent.value,
  );
}

/** Returns the content of an update of any kind. */
export function updateValue(update: WireUpdate): WireTransaction | WireReassignment | WireTopologyTransaction {
  if ('Transaction' in update) return update.Transaction.value;
  if ('Reassignment' in update) return update.Reassignment.value;
  return update.TopologyTransaction.value;
}
