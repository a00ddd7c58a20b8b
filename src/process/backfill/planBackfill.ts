import type { Offset } from '../../codecs/scalars.js';
import type { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { LedgerResetError } from '../../errors/feed.js';
import { addedFormat, isSameFormat } from './addedFormat.js';
import type { SeenSelection, UpdatesPosition } from './UpdatesPosition.js';
import type { LastUpdate, LedgerPosition } from '../../codecs/LedgerPosition.js';

/** A selection that was read up to an offset. */
type EndedSelection = SeenSelection & { readonly until: Offset };

/** The past of a selection that a handler was not given yet. */
export interface Backfill {
  /** What to read. It may have updates that the handler was given by another selection. */
  readonly added: UpdateFormat;
  /** How far the selection has been read. */
  readonly own: EndedSelection;
  /** What the handler was given by other selections. */
  readonly others: readonly EndedSelection[];
}

/** What to read before a feed continues after an offset, and what the handler was given once that is done. */
interface BackfillPlan {
  readonly backfill?: Backfill;
  readonly seen: readonly SeenSelection[];
  /** The same, and the last updates that show that the ledger is the same, until a later one of this selection does. */
  readonly withProof: readonly SeenSelection[];
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
  const isComplete = isSame && last.until === undefined;
  const others = (isSame ? seen.slice(0, -1) : seen).map((each) => ({ ...each, until: each.until ?? offset }));
  const { updateFormat, after, lastUpdate } = isSame ? last : { ...now, lastUpdate: undefined };
  const proof = latestProof(others);
  // a selection that has nothing else is not needed any more
  const isNeeded = (each: SeenSelection): boolean =>
    addedFormat(each.updateFormat, updateFormat) !== undefined || each.after < after;
  const done = {
    seen: [...others.filter(isNeeded), { updateFormat, after }],
    withProof: [...others.filter((each) => each === proof || isNeeded(each)), { updateFormat, after, lastUpdate }],
  };
  const until = (isSame ? last.until : undefined) ?? after;
  const read = others.filter((each) => each.until >= offset && each.after <= after);
  const added = read.reduce<UpdateFormat | undefined>(
    (rest, each) => rest && addedFormat(rest, each.updateFormat),
    updateFormat,
  );
  if (isComplete || added === undefined || until >= offset) return done;
  if (others.some(({ isMoved }) => isMoved === true))
    throw new LedgerResetError(offset, undefined, 'updates that were handled are at other offsets now');
  return { ...done, backfill: { added, own: { ...now, ...(isSame && last), until }, others } };
}

/** The selection whose last update is the latest: where it still is, everything before it is, and nothing else. */
const latestProof = (seen: readonly EndedSelection[]): EndedSelection | undefined =>
  seen.reduce<EndedSelection | undefined>(
    (latest, each) => (each.lastUpdate && each.lastUpdate.offset >= (latest?.lastUpdate?.offset ?? 0) ? each : latest),
    undefined,
  );

/**
 * Returns the position from which a feed continues after a position of another selection; `undefined` if the past of what was
 * added is wanted, and the other selection is not known.
 *
 * @param updateFormat - the selection to continue with, if its past is wanted
 */
export function continueAfter(position: UpdatesPosition, updateFormat?: UpdateFormat): UpdatesPosition | undefined {
  const { rewoundFrom, seen: former } = position;
  if (updateFormat === undefined)
    return { ...withoutUpdates(position), ...(rewoundFrom && { rewoundFrom: withoutUpdates(rewoundFrom) }) };
  const last = former?.at(-1);
  if (former === undefined || last === undefined) return undefined;
  // its past is not complete, and the position is of the selection before it
  if (last.until !== undefined) return withoutUpdates(position);
  const { lastUpdate } = position;
  const isCovered = addedFormat(last.updateFormat, updateFormat) === undefined;
  const begun = isCovered && lastUpdate ? backTo(lastUpdate, position) : withoutUpdates(position);
  const ended: SeenSelection = { ...last, until: begun.offset, lastUpdate: lastUpdate ?? last.lastUpdate };
  return { ...begun, seen: [...former.slice(0, -1), ended] };
}

/** Returns the position after the last update: what is after it was not read by another selection. */
const backTo = (lastUpdate: LastUpdate, position: UpdatesPosition): UpdatesPosition => ({
  ...position,
  offset: lastUpdate.offset,
  recordTimes: Object.fromEntries(
    Object.entries(position.recordTimes).filter(([, { updateId }]) => typeof updateId === 'string'),
  ),
});

/** Returns a position without its updates, which the requests of another selection may not see. */
const withoutUpdates = <P extends LedgerPosition>(position: P): P => ({
  ...position,
  lastUpdate: undefined,
  recordTimes: Object.fromEntries(
    Object.entries(position.recordTimes).map(([id, { recordTime }]) => [id, { recordTime }]),
  ),
});
