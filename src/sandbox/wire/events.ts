import type {
  WireArchivedEvent,
  WireCreatedEvent,
  WireExercisedEvent,
  WireReassignment,
  WireTopologyTransaction,
  WireTransaction,
  WireUpdate,
} from './WireUpdate.js';

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
