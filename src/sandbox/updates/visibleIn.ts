import type { View } from '../visible/View.js';
import { visibleUpdate } from '../visible/visibleUpdate.js';
import { valueOf } from '../wire/valueOf.js';
import { checkPruned } from './checkPruned.js';
import type { UpdatesRequest } from './UpdatesRequest.js';

/**
 * The visible updates of a request up to an end, each looked up when it is asked for: the ledger may be pruned or
 * restored meanwhile.
 */
export function* visibleIn(request: UpdatesRequest, endInclusive: number, view: View): Generator<object> {
  const { ledger } = view;
  const { descending, format } = request;
  let [above, upTo] = [request.beginExclusive, endInclusive];
  for (;;) {
    checkPruned(above, upTo, ledger);
    const [first, beyond] = [ledger.placeAfter(above), ledger.placeAfter(upTo)];
    const update = first < beyond ? ledger.updates[descending ? beyond - 1 : first] : undefined;
    if (update === undefined) return;
    const { offset } = valueOf(update);
    if (descending) upTo = offset - 1;
    else above = offset;
    const element = visibleUpdate(update, format, view);
    if (element !== undefined) yield element;
  }
}
