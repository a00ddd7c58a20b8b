import type { WireUpdate } from '../wire/WireUpdate.js';
import type { WireUpdateInput } from '../wire/WireUpdateInput.js';
import { completeReassignment } from './completeReassignment.js';
import { completeTopology } from './completeTopology.js';
import { completeTransaction } from './completeTransaction.js';
import type { Fallbacks } from './Fallbacks.js';

/** Fills in what an update made by hand leaves out. */
export function completeUpdate(input: WireUpdateInput, fallbacks: Fallbacks): WireUpdate {
  if ('Transaction' in input) {
    return { Transaction: { value: completeTransaction(input.Transaction.value, fallbacks) } };
  }
  if ('Reassignment' in input) {
    return { Reassignment: { value: completeReassignment(input.Reassignment.value, fallbacks) } };
  }
  return { TopologyTransaction: { value: completeTopology(input.TopologyTransaction.value, fallbacks) } };
}
