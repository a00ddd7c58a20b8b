import { refused } from '../errors.js';
import type { Ledger } from '../ledger/Ledger.js';
import { type View, visibleUpdate } from '../ledger/visible.js';
import type { UpdatesRequest } from '../requests/updatesRequest.js';
import { valueOf } from '../wire/events.js';

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

/** Refuses a range of offsets that this ledger cannot serve. */
export function checkRange({ beginExclusive, endInclusive, descending }: UpdatesRequest, ledger: Ledger): void {
  if (beginExclusive < 0) throw refused('NEGATIVE_OFFSET', `Offset ${beginExclusive} in begin_exclusive is negative`);
  if (endInclusive !== undefined && endInclusive <= 0) {
    throw refused('NON_POSITIVE_OFFSET', `Offset ${endInclusive} in end_inclusive is not positive`);
  }
  if (descending && endInclusive === undefined) {
    throw refused('DESCENDING_ORDER_MISSING_END', 'Descending order needs an end offset');
  }
  checkEnd('Begin', beginExclusive, ledger);
  if (endInclusive !== undefined) checkEnd('End', endInclusive, ledger);
  if (endInclusive !== undefined && beginExclusive > endInclusive) {
    throw refused('OFFSET_OUT_OF_RANGE', `End offset ${endInclusive} is before begin offset ${beginExclusive}`);
  }
  checkPruned(beginExclusive, endInclusive, ledger);
}

function checkEnd(bound: string, offset: number, { end }: Ledger): void {
  if (offset > end)
    throw refused('OFFSET_AFTER_LEDGER_END', `${bound} offset (${offset}) is after ledger end (${end})`);
}

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

/** Refuses to read from before what is pruned. */
function checkPruned(beginExclusive: number, endInclusive: number | undefined, { pruned, end }: Ledger): void {
  if (beginExclusive >= pruned) return;
  const range = `Updates request from ${beginExclusive + 1} to ${endInclusive ?? end}`;
  throw refused('PARTICIPANT_PRUNED_DATA_ACCESSED', `${range} precedes pruned offset ${pruned}`, {
    context: { earliest_offset: String(pruned) },
  });
}
