import type { WireReassignment } from './WireReassignment.js';
import type { WireTopologyTransaction } from './WireTopologyTransaction.js';
import type { WireTransaction } from './WireTransaction.js';
import type { WireUpdate } from './WireUpdate.js';

/** What is inside an update, whatever its kind. */
export function valueOf(update: WireUpdate): WireTransaction | WireReassignment | WireTopologyTransaction {
  if ('Transaction' in update) return update.Transaction.value;
  if ('Reassignment' in update) return update.Reassignment.value;
  return update.TopologyTransaction.value;
}
