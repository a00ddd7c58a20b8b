import type { View } from '../visible/View.js';
import { visibleUpdate } from '../visible/visibleUpdate.js';
import type { UpdatesRequest } from './UpdatesRequest.js';

/** The visible updates of a request up to an end, as many as asked for at most. Begins by binary search. */
export function readRange(request: UpdatesRequest, endInclusive: number, count: number, view: View): readonly object[] {
  const { ledger } = view;
  const [first, beyond] = [ledger.placeAfter(request.beginExclusive), ledger.placeAfter(endInclusive)];
  const [start, step] = request.descending ? [beyond - 1, -1] : [first, 1];
  const elements: object[] = [];
  for (let place = start; place >= first && place < beyond && elements.length < count; place += step) {
    const update = ledger.updates[place];
    const element = update && visibleUpdate(update, request.format, view);
    if (element !== undefined) elements.push(element);
  }
  return elements;
}
