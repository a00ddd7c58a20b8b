import type { WireCreatedEvent } from './WireCreatedEvent.js';
import type { WireExercisedEvent } from './WireExercisedEvent.js';
import type { Choice } from './Choice.js';
import { stakeholdersOf } from './stakeholdersOf.js';

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
