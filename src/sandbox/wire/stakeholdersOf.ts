import type { WireCreatedEvent } from './WireCreatedEvent.js';

/** Those who may see a contract in the active set. */
export function stakeholdersOf({ signatories, observers }: WireCreatedEvent): readonly string[] {
  return [...new Set([...signatories, ...observers])];
}
