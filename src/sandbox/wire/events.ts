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

/** The archive that a consuming exercise is in the other shape. */
export function archivedEvent(exercised: WireExercisedEvent): WireArchivedEvent {
  const { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces } = exercised;
  return { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces };
}

/** A created event from what its contract is made of. */
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

/** Those who may see a contract in the active set. */
export function stakeholdersOf({ signatories, observers }: WireCreatedEvent): readonly string[] {
  return [...new Set([...signatories, ...observers])];
}

/** The event of a choice on a contract. */
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
    // a contract that ends in the transaction of its creation never enters the active set
    acsDelta: consuming && acsDelta,
  };
}

/** A contract ends: its archive and the exercise, one for each shape. */
export function consume(created: WireCreatedEvent, choice: Choice): readonly WireEvent[] {
  const exercised = exercisedEvent(created, choice, true);
  const both = { ExercisedEvent: exercised };
  if (!created.acsDelta) return [both];
  return [{ ArchivedEvent: { ...archivedEvent(exercised), witnessParties: stakeholdersOf(created) } }, both];
}

/** The contracts that an update tells the contents of. */
export function createdIn(update: WireUpdate): readonly WireCreatedEvent[] {
  if ('Transaction' in update) {
    return update.Transaction.value.events.flatMap((event) => ('CreatedEvent' in event ? [event.CreatedEvent] : []));
  }
  if (!('Reassignment' in update)) return [];
  return update.Reassignment.value.events.flatMap((event) =>
    'JsAssignmentEvent' in event ? [event.JsAssignmentEvent.createdEvent] : [],
  );
}

/** What is inside an update, whatever its kind. */
export function valueOf(update: WireUpdate): WireTransaction | WireReassignment | WireTopologyTransaction {
  if ('Transaction' in update) return update.Transaction.value;
  if ('Reassignment' in update) return update.Reassignment.value;
  return update.TopologyTransaction.value;
}
