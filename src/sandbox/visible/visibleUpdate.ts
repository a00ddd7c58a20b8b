import type { UpdateFormat } from '../formats/UpdateFormat.js';
import type { WireUpdate } from '../wire/WireUpdate.js';
import type { View } from './View.js';
import { visibleReassignment } from './visibleReassignment.js';
import { visibleTopology } from './visibleTopology.js';
import { visibleTransaction } from './visibleTransaction.js';

/** An update in its envelope as its reader gets it, `undefined` if nothing of it was asked for. */
export function visibleUpdate(update: WireUpdate, format: UpdateFormat, view: View): object | undefined {
  if ('Transaction' in update) {
    if (format.transactions === undefined) return undefined;
    const { events, served } = visibleTransaction(update.Transaction.value, format.transactions, view);
    return events.length === 0 ? undefined : enveloped('Transaction', served);
  }
  if ('Reassignment' in update) {
    if (format.reassignments === undefined) return undefined;
    return enveloped('Reassignment', visibleReassignment(update.Reassignment.value, format.reassignments, view));
  }
  if (format.topology === undefined) return undefined;
  const { value } = update.TopologyTransaction;
  return enveloped('TopologyTransaction', visibleTopology(value, format.topology, view.profile));
}

function enveloped(variant: string, value: object | undefined): object | undefined {
  return value && { update: { [variant]: { value } } };
}
