import type { Offset } from '../../codecs/scalars.js';
import type { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { LedgerResetError } from '../../errors/feed.js';
import { addedFormat, isSameFormat } from './addedFormat.js';
import type { SeenSelection } from './UpdatesPosition.js';

/** The past of a selection that a handler was not given yet. */
export interface Backfill {
  /** What to read. It may have updates that the handler was given by another selection. */
  readonly added: UpdateFormat;
  /** How far the selection has been read. */
  readonly own: SeenSelection & { readonly until: Offset };
  /** What the handler was given by other selections. */
  readonly others: readonly (SeenSelection & { readonly until: Offset })[];
}

/** What to read before a feed continues after an offset, and what the handler was given once that is done. */
interface BackfillPlan {
  readonly backfill?: Backfill;
  readonly seen: readonly SeenSelection[];
}

/**
 * Returns which part of the past of a selection must be read.
 *
 * @param seen - what the handler was given up to the offset
 * @param now - the selection to continue with after the offset, and where its past begins
 */
export function planBackfill(
  seen: readonly SeenSelection[],
  now: Pick<SeenSelection, 'updateFormat' | 'after'>,
  offset: Offset,
): BackfillPlan {
  const last = seen.at(-1);
  const isSame = last !== undefined && isSameFormat(last.updateFormat, now.updateFormat);
  if (isSame && last.until === undefined) return { seen };
  const others = (isSame ? seen.slice(0, -1) : seen).map((each) => ({ ...each, until: each.until ?? offset }));
  const own = isSame ? { ...last, until: last.until ?? offset } : { ...now, until: now.after };
  const complete = others.filter(({ after, until }) => until >= offset && after <= own.after);
  const added = complete.reduce<UpdateFormat | undefined>(
    (rest, { updateFormat }) => rest && addedFormat(rest, updateFormat),
    now.updateFormat,
  );
  const { updateFormat, after } = own;
  // a selection that has nothing else is not needed any more
  const kept = others.filter(
    (each) => addedFormat(each.updateFormat, updateFormat) !== undefined || each.after < after,
  );
  const done = { seen: [...kept, { updateFormat, after }] };
  if (added === undefined || own.until >= offset) return done;
  if (others.some(({ isMoved }) => isMoved === true))
    throw new LedgerResetError(offset, undefined, 'updates that were handled are at other offsets now');
  return { ...done, backfill: { added, own, others } };
}
