import {
  AsyncSubject,
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  share,
  takeUntil,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerFeed, Position, PrefetchedRange, RangeResult } from './LedgerFeed.js';
import type { Page } from './Page.js';
import { proofNear, readRange } from './pageRequest.js';

/**
 * Returns the ranges to read after the cursor, in order: the prefetched ones, and new ones between and after them as
 * long as there is room. The first begins at the cursor.
 */
export function rangesToRead(
  feed: LedgerFeed,
  position: Position,
  prefetched: readonly PrefetchedRange[],
): readonly PrefetchedRange[] {
  const { cursor, target, pages } = position;
  const maxRanges = feed.parallelRanges ?? pages.parallelRanges;
  const width = maxRanges === 1 ? Infinity : rangeWidth(feed, position);
  const ranges: PrefetchedRange[] = [];
  const isDueRequested = prefetched[0]?.beginExclusive === cursor;
  let room = Math.max(isDueRequested ? 0 : 1, maxRanges - prefetched.length);
  let begin = cursor;
  // the first page begins with the last update
  const widthAt = (start: Offset): number => {
    const before = start === cursor ? Number(proofNear(feed) !== undefined) : overlapAt(feed, position);
    return Math.max(1, width - before);
  };
  const fill = (gapEnd: Offset): void => {
    for (; begin < gapEnd && room > 0; room -= 1) {
      // a single range spans the entire gap: less would only be slower
      const end = room === 1 && begin === cursor ? gapEnd : Math.min(begin + widthAt(begin), gapEnd);
      const overlap = begin === cursor ? 0 : overlapAt(feed, position);
      ranges.push(prefetch(feed, { beginExclusive: begin, endInclusive: end }, end === target, overlap));
      begin = end;
    }
  };
  for (const range of prefetched) {
    fill(range.beginExclusive);
    ranges.push(range);
    begin = range.endInclusive;
  }
  fill(target);
  return ranges;
}

/**
 * The number of offsets for a page that is nearly full and rarely overflows: two standard deviations below the limit,
 * if each offset matches the request with the same probability.
 */
function rangeWidth({ maxPageSize, client }: LedgerFeed, { pages: { elements, offsets } }: Position): number {
  if (offsets === 0) return Infinity;
  const limit = Math.min(maxPageSize, client.learned.pages.next);
  const density = Math.min(1, elements / offsets);
  if (density === 0) return Math.floor(offsets * 4);
  const aim = limit - 2 * Math.sqrt(limit * (1 - density));
  // many nearly empty pages cost more than they save
  return aim < limit / 4 ? Infinity : Math.max(1, Math.floor(aim / density));
}

/** The least limit of pages that are worth it to begin a few updates before their range. */
const minOverlapLimit = 40;

/**
 * The number of offsets before a range to read with it. Most likely, the last update before the range is among them: it proves that
 * the same participant sent the range.
 */
function overlapAt({ maxPageSize, client }: LedgerFeed, { pages: { elements, offsets } }: Position): number {
  const limit = Math.min(maxPageSize, client.learned.pages.next);
  return elements === 0 || limit < minOverlapLimit
    ? 0
    : Math.min(Math.floor(limit / 2), Math.ceil((2 * offsets) / elements));
}

/** The minimum time that a page waits for the proof that its range has no more updates, in milliseconds. */
const minProofMs = 500;

/**
 * Reads a page of a range, when it is due or earlier. The request has no idle timeout, which could cut the page short.
 *
 * Only an empty response proves that a range has no more updates, because a participant may send less than the limit.
 * If other ranges follow, the proof is requested together with the page, so that they need not wait for it.
 */
export function prefetch(
  feed: LedgerFeed,
  { beginExclusive, endInclusive }: Pick<PrefetchedRange, 'beginExclusive' | 'endInclusive'>,
  isLast: boolean,
  overlap = 0,
): PrefetchedRange {
  const result$ = defer(() => {
    const { client } = feed;
    const end = Math.min(endInclusive, beginExclusive + client.learned.maxRange);
    return readRange(feed, { beginExclusive, endInclusive: end }, { limit: feed.maxPageSize, overlap }).pipe(
      concatMap((page) => {
        client.learned.rangeAnswered();
        const result = { page, requests: 1 };
        const isOver = isLast || page.last === end || page.isFull;
        if (isOver || page.failure !== undefined || page.proves === 'no') return [result];
        const rest = { beginExclusive: page.last, endInclusive: end };
        return readRange(feed, rest, { limit: feed.maxPageSize - page.count }).pipe(
          map((more): RangeResult => ({ page: concatPages(page, more), requests: 2 })),
          catchError(() => {
            client.learned.rangeReached(page.last - beginExclusive);
            return EMPTY;
          }),
          // the page does not wait longer for the proof: the rest of the range is requested again when it is due
          takeUntil(timer(Math.max(minProofMs, 2 * page.tookMs))),
          defaultIfEmpty(result),
        );
      }),
    );
  }).pipe(shareResult());
  const prefetch$ = result$.pipe(
    ignoreElements(),
    catchError(() => EMPTY),
    shareResult(),
  );
  return { beginExclusive, endInclusive, result$, prefetch$ };
}

const concatPages = (page: Page, rest: Page): Page => ({
  ...rest,
  outages: page.outages,
  ...(page.proves !== undefined && { proves: page.proves }),
  ...(page.overlap !== undefined && { overlap: page.overlap }),
  updates: [...page.updates, ...rest.updates],
  count: page.count + rest.count,
});

/**
 * Later subscribers get the same result. After an error, a new subscriber repeats the request; without subscribers, it
 * aborts.
 */
const shareResult = <A>(): MonoTypeOperatorFunction<A> =>
  share({ connector: () => new AsyncSubject(), resetOnComplete: false });
