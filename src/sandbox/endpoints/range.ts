import { requestError } from '../errors.js';
import type { Ledger } from '../ledger/Ledger.js';
import { type ReadContext, visibleUpdate } from '../ledger/visible.js';
import type { UpdatesRequest } from '../requests/updatesRequest.js';
import { updateValue } from '../wire/events.js';

/** Reads the visible updates of a request up to an offset, at most `count`. */
export function readRange(
  request: UpdatesRequest,
  endInclusive: number,
  count: number,
  context: ReadContext,
): readonly object[] {
  const { ledger } = context;
  const [first, end] = [ledger.indexAfter(request.beginExclusive), ledger.indexAfter(endInclusive)];
  const [start, step] = request.descending ? [end - 1, -1] : [first, 1];
  const elements: object[] = [];
  for (let index = start; index >= first && index < end && elements.length < count; index += step) {
    const update = ledger.updates[index];
    const element = update && visibleUpdate(update, request.format, context);
    if (element !== undefined) elements.push(element);
  }
  return elements;
}

/** Rejects a range of offsets that the ledger cannot serve. */
export function checkRange({ beginExclusive, endInclusive, descending }: UpdatesRequest, ledger: Ledger): void {
  if (beginExclusive < 0)
    throw requestError('NEGATIVE_OFFSET', `Offset ${beginExclusive} in begin_exclusive is negative`);
  if (endInclusive !== undefined && endInclusive <= 0) {
    throw requestError('NON_POSITIVE_OFFSET', `Offset ${endInclusive} in end_inclusive is not positive`);
  }
  if (descending && endInclusive === undefined) {
    throw requestError('DESCENDING_ORDER_MISSING_END', 'Descending order needs an end offset');
  }
  checkEnd('Begin', beginExclusive, ledger);
  if (endInclusive !== undefined) checkEnd('End', endInclusive, ledger);
  if (endInclusive !== undefined && beginExclusive > endInclusive) {
    throw requestError('OFFSET_OUT_OF_RANGE', `End offset ${endInclusive} is before begin offset ${beginExclusive}`);
  }
  checkPruned(beginExclusive, endInclusive, ledger);
}

function checkEnd(bound: string, offset: number, { end }: Ledger): void {
  if (offset > end)
    throw requestError('OFFSET_AFTER_LEDGER_END', `${bound} offset (${offset}) is after ledger end (${end})`);
}

/**
 * Reads the visible updates of a request up to an offset, one by one. Looks up each update only when it is needed,
 * because the ledger may be pruned or restored in the meantime.
 */
export function* streamRange(request: UpdatesRequest, endInclusive: number, context: ReadContext): Generator<object> {
  const { ledger } = context;
  const { descending, format } = request;
  let [above, upTo] = [request.beginExclusive, endInclusive];
  for (;;) {
    checkPruned(above, upTo, ledger);
    const [first, end] = [ledger.indexAfter(above), ledger.indexAfter(upTo)];
    const update = first < end ? ledger.updates[descending ? end - 1 : first] : undefined;
    if (update === undefined) return;
    const { offset } = updateValue(update);
    if (descending) upTo = offset - 1;
    else above = offset;
    const element = visibleUpdate(update, format, context);
    if (element !== undefined) yield element;
  }
}

/** Rejects a range that begins before the pruned offset. */
function checkPruned(beginExclusive: number, endInclusive: number | undefined, { pruned, end }: Ledger): void {
  if (beginExclusive >= pruned) return;
  const range = `Updates request from ${beginExclusive + 1} to ${endInclusive ?? end}`;
  throw requestError('PARTICIPANT_PRUNED_DATA_ACCESSED', `${range} precedes pruned offset ${pruned}`, {
    context: { earliest_offset: String(pruned) },
  });
}
