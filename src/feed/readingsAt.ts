import type { Offset } from '../codecs/Offset.js';
import type { Feed } from './Feed.js';
import type { Place } from './Place.js';
import type { Reading } from './Reading.js';
import { readRange } from './readRange.js';

/**
 * The ranges to read from a place on, in order: those that are being read already, and new ones in the gaps between them
 * and behind them, as long as there is room. The first begins at the cursor.
 */
export function readingsAt(feed: Feed, place: Place): readonly Reading[] {
  const { cursor, target, ahead } = place;
  const atATime = feed.parallelRanges ?? place.atATime;
  const width = atATime === 1 ? Infinity : widthOf(feed, place);
  const readings: Reading[] = [];
  const isBegun = ahead[0]?.beginExclusive === cursor;
  let room = Math.max(isBegun ? 0 : 1, atATime - ahead.length);
  let begin = cursor;
  const fill = (gapEnd: Offset): void => {
    for (; begin < gapEnd && room > 0; room -= 1) {
      // where no other can be asked for along with it, less than all that is missing would only be slower
      const end = room === 1 && begin === cursor ? gapEnd : Math.min(begin + width, gapEnd);
      readings.push(readRange(feed, begin, end, end === target));
      begin = end;
    }
  };
  for (const reading of ahead) {
    fill(reading.beginExclusive);
    readings.push(reading);
    begin = reading.endInclusive;
  }
  fill(target);
  return readings;
}

/**
 * How many offsets to ask for, so that a page is nearly full and seldom overflows: two standard deviations below its
 * limit, where each offset has the same chance to match.
 */
function widthOf({ maxPageSize, service }: Feed, { found, searched }: Place): number {
  if (searched === 0) return Infinity;
  const limit = Math.min(maxPageSize, service.learned.pageLimit);
  const density = Math.min(1, found / searched);
  if (density === 0) return Math.floor(searched * 4);
  const aim = limit - 2 * Math.sqrt(limit * (1 - density));
  // of pages nearly empty there would be more than time is saved
  return aim < limit / 4 ? Infinity : Math.max(1, Math.floor(aim / density));
}
