import type { UpdateFormat } from '../../codecs/UpdateFormat.js';
import type { LastUpdate, LedgerPosition } from '../../codecs/LedgerPosition.js';
import { addedFormat } from './addedFormat.js';
import type { SeenSelection, UpdatesPosition } from './UpdatesPosition.js';

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
