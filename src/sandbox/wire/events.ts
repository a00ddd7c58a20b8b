import type {
  Choice,
  CreatedFields,
  WireArchivedEvent,
  WireCreatedEvent,
  WireEvent,
  WireExercisedEvent,
} from './WireEvent.js';
import type { WireReassignment } from './WireReassignment.js';
import type { WireTopologyTransaction, WireTransaction, WireUpdate } from './WireUpdate.js';

/** Creates the archived event that the ACS-delta shape contains instead of a consuming exercise. */
export function archivedEvent(exercised: WireExercisedEvent): WireArchivedEvent {
  const { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces } = exercised;
  return { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces };
}

/** Creates a created event. */
export function createdEvent(fields: CreatedFields): WireCreatedEvent {
  const { template, signatories, observers = [] } = fields;
  return {
    offset: fields.offset,
    nodeId: fields.nodeId,
    contractId: fields.contractId,
    templateId: template.id,
    contractKey: null,
    contractKeyHash: '',
    createArgument: fields.createArgument,
    createdEventBlob: Buffer.from(fields.contractId, 'hex').toString('base64'),
    interfaceViews: fields.interfaceViews ?? [],
    witnessParties: observers.length === 0 ? signatories : [...new Set([...signatories, ...observers])],
    signatories,
    observers,
    createdAt: fields.createdAt,
    packageName: template.packageName,
    representativePackageId: template.id.slice(0, template.id.indexOf(':')),
    acsDelta: fields.acsDelta ?? true,
  };
}

/** The stakeholders of a contract: its signatories and observers. */
export function stakeholdersOf({ signatories, observers }: WireCreatedEvent): readonly string[] {
  return [...new Set([...signatories, ...observers])];
}

/** Creates the exercised event of a choice on a contract. */
export function exercisedEvent(created: WireCreatedEvent, choice: Choice, consuming: boolean): WireExercisedEvent {
  const { contractId, templateId, packageName, interfaceViews, acsDelta } = created;
  return {
    ...choice,
    contractId,
    templateId,
    interfaceId: null,
    consuming,
    witnessParties: [...new Set([...stakeholdersOf(created), ...choice.actingParties])],
    lastDescendantNodeId: choice.lastDescendantNodeId ?? choice.nodeId,
    packageName,
    implementedInterfaces: interfaceViews.map(({ interfaceId }) => interfaceId),
    // a contract that the transaction of its creation archives never becomes active
    acsDelta: consuming && acsDelta,
  };
}

/** Creates the events of a consuming choice: the archived and the exercised event, one for each transaction shape. */
export function consume(created: WireCreatedEvent, choice: Choice): readonly WireEvent[] {
  const exercised = exercisedEvent(created, choice, true);
  const both = { ExercisedEvent: exercised };
  if (!created.acsDelta) return [both];
  return [{ ArchivedEvent: { ...archivedEvent(exercised), witnessParties: stakeholdersOf(created) } }, both];
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
