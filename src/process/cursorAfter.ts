import type { Offset } from '../codecs/Offset.js';
import type { Update } from '../codecs/Update.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { isLater } from '../operators/internal/isLater.js';
import { timesOf } from '../operators/internal/timesOf.js';
import type { Cursor } from './Cursor.js';

/**
 * The cursor behind some updates, or at an offset behind them. One that goes back is of a ledger that was reset: nothing that
 * was known of it is true any more.
 */
export function cursorAfter(cursor: Cursor, updates: readonly (Update | InvalidUpdate)[], offset?: Offset): Cursor {
  const reached = offset ?? updates.at(-1)?.offset ?? cursor.offset;
  const isBack = reached < cursor.offset;
  const recordTimes = new Map(isBack ? [] : Object.entries(cursor.recordTimes));
  let lastUpdate = isBack ? undefined : cursor.lastUpdate;
  for (const update of updates) {
    if (update._tag === 'InvalidUpdate') continue;
    if ('updateId' in update) lastUpdate = { offset: update.offset, updateId: update.updateId };
    for (const { synchronizerId, recordTime } of timesOf(update)) {
      const before = recordTimes.get(synchronizerId);
      if (before === undefined || isLater(recordTime, before)) recordTimes.set(synchronizerId, recordTime);
    }
  }
  return {
    ...cursor,
    offset: reached,
    lastUpdate: lastUpdate !== undefined && lastUpdate.offset <= reached ? lastUpdate : undefined,
    recordTimes: Object.fromEntries(recordTimes),
  };
}
