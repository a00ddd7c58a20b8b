import type { Offset } from '../codecs/Offset.js';
import type { Update } from '../codecs/Update.js';
import { OrderError } from '../errors/OrderError.js';
import type { InvalidUpdate } from './InvalidUpdate.js';
import type { Range } from './Range.js';

/** The elements of a range in their order, or what is wrong with them. */
export interface Ordered {
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** The offset of the last element, also of one beyond the range; the range's start where there is none. */
  readonly last: Offset;
  /** The offset of the last element that is no checkpoint; the range's start where there is none. */
  readonly lastUpdate: Offset;
  readonly failure?: OrderError;
}

/**
 * Checks the order of a whole page before any of it is emitted: behind an offset that came too early, those that should
 * have come before it would be lost to whoever resumes from it. What lies outside the range is left out, and so is an
 * update that came twice.
 *
 * @param before - what came before these elements, where they are not the first of the range
 */
export function inOrder(
  elements: readonly (Update | InvalidUpdate)[],
  range: Range,
  before?: Pick<Ordered, 'last' | 'lastUpdate'>,
): Ordered {
  const { beginExclusive, endInclusive = Infinity, descendingOrder = false } = range;
  const start = descendingOrder ? endInclusive + 1 : beginExclusive;
  const distance = (from: Offset, to: Offset): number => (descendingOrder ? from - to : to - from);
  const updates: (Update | InvalidUpdate)[] = [];
  let { last, lastUpdate } = before ?? { last: start, lastUpdate: start };
  for (const element of elements) {
    const { offset } = element;
    const isCheckpoint = element._tag === 'OffsetCheckpoint';
    const isBeforeRange = distance(start, offset) < 0;
    const isRepeated = !isCheckpoint && offset === lastUpdate;
    if (isBeforeRange || isRepeated) continue;
    // a checkpoint may stand where the last element stood
    if (distance(last, offset) < (isCheckpoint ? 0 : 1)) {
      return { updates: [], last: start, lastUpdate: start, failure: new OrderError(offset, last) };
    }
    last = offset;
    if (!isCheckpoint) lastUpdate = offset;
    if (offset > beginExclusive ? offset <= endInclusive : isCheckpoint) updates.push(element);
  }
  return { updates, last, lastUpdate };
}
