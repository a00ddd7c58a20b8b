import type { WireArchivedEvent } from './WireArchivedEvent.js';
import type { WireExercisedEvent } from './WireExercisedEvent.js';

/** The archive that a consuming exercise is in the other shape. */
export function archivedEvent(exercised: WireExercisedEvent): WireArchivedEvent {
  const { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces } = exercised;
  return { offset, nodeId, contractId, templateId, witnessParties, packageName, implementedInterfaces };
}
