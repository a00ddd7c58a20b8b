import { refused } from '../errors/refused.js';
import type { Ledger } from '../ledger/Ledger.js';
import { checkPruned } from './checkPruned.js';
import type { UpdatesRequest } from './UpdatesRequest.js';

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
