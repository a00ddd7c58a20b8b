import type { LedgerEntry } from '../ledger/LedgerEntry.js';
import type { WireUpdateInput } from '../wire/WireUpdateInput.js';
import { completeUpdate } from './completeUpdate.js';
import type { Fallbacks } from './Fallbacks.js';

/** Updates made by hand, each filled in once the one before it is on the ledger. */
export function* completeUpdates(
  inputs: readonly WireUpdateInput[],
  fallbacks: Fallbacks,
): Generator<LedgerEntry, void> {
  for (const input of inputs) yield { update: completeUpdate(input, fallbacks) };
}
