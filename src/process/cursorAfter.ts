import type { Offset } from '../codecs/Offset.js';
import type { Update } from '../codecs/Update.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { isLater } from '../operators/internal/isLater.js';
import { timesOf } from '../operators/internal/timesOf.js';
import type { Cursor } from './Cursor.js';

/** The cursor behind some updates, or at an offset behind them. */
export function cursorAfter(cursor: Cursor, updates: readonly (Update | InvalidUpdate)[], offset?: Offset): Cursor {
  const recordTimes = new Map(Object.entries(cursor.recordTimes));
  let { lastUpdate } = cursor;
  for (const update of updates) {
    if (update._tag === 'InvalidUpdate') continue;
    if ('updateId' in update) lastUpdate = { offset: update.offset, updateId: update.updateId };
    for (const { synchronizerId, recordTime } of timesOf(update)) {
      const before = recordTimes.get(synchronizerId);
      if (before === undefined || isLater(recordTime, before)) recordTimes.set(synchronizerId, recordTime);
    }
  }
  const reached = offset ?? updates.at(-1)?.offset ?? cursor.offset;
  return {
    ...cursor,
    offset: reached,
    // of a ledger that was reset, nothing behind the place is true any more
    lastUpdate: lastUpdate !== undefined && lastUpdate.offset <= reached ? lastUpdate : undefined,
    recordTimes: Object.fromEntries(recordTimes),
  };
}
