import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';

/**
 * Options of `updatesFeed`.
 *
 * @category Processing
 */
export interface UpdatesFeedOptions extends Omit<UpdatesOptions, 'parallelRanges' | 'onUndecodable' | 'transport'> {
  /**
   * The reaction to a cursor that was saved for a request with other parties, filters or transaction shapes. `'fail'` ends the
   * processor with a `CursorError`: a log of updates would lack those before the cursor that only the new request selects, and
   * nothing would show it. `'continue'` reports a `SelectionChanged` diagnostic, and continues with the new request after the
   * cursor. Then only the ID of the participant shows that the ledger is still the same.
   *
   * @defaultValue 'fail'
   */
  readonly onSelectionChange?: 'fail' | 'continue' | undefined;
  /**
   * Whether the past of what a changed request adds is handled, too: the updates up to the cursor that only the new request
   * selects. They come first, in order, with `isBackfill`, and then the updates after the cursor. No update is handled twice,
   * also if the processor ends in between, or if a party goes and comes back. Requires `onSelectionChange: 'continue'`.
   *
   * The past begins after `beginExclusive`. If the ledger is pruned after that, `onGap` applies. To know what was handled, the
   * cursor has the former selections, and their updates are read again: the token needs the right to read as their parties.
   * A cursor that was saved without this option and with another request is a `CursorError`.
   *
   * @defaultValue false
   */
  readonly backfill?: boolean | undefined;
}

/**
 * The updates that `updatesFeed` reads, and where it begins without a cursor. A cursor is the offset up to which all is
 * committed, so the order is always ascending.
 *
 * @category Processing
 */
export type UpdatesFeedRequest = UpdatesRequest & {
  /** Only ascending. */
  readonly descendingOrder?: false | null | undefined;
};
