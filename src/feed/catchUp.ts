import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  map,
  merge,
  type Observable,
  type ObservableInput,
  Subject,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerFeed, Position, PrefetchedRange, RangeResult, Step } from './LedgerFeed.js';
import type { FeedElement } from './Page.js';
import { idOf } from '../history/positions.js';
import { isAtOffset } from '../history/locate.js';
import { historyOf } from './historyOf.js';
import { catchingUp, followOrEnd, readLedgerEndOnce } from './ledgerEnd.js';
import { isBeyondEnd, requestPage, retryRequest } from './pageRequest.js';
import { prefetch, rangesToRead } from './prefetch.js';
import { proveSteps } from './prove.js';

/**
 * Reads one page between the cursor and the target, and prefetches the ranges after it. A failed prefetch
 * is repeated only when its range is due, so that a participant in trouble gets one request at a time.
 */
export const catchUp = (
  feed: LedgerFeed,
  position: Position,
  requested: readonly PrefetchedRange[],
): Observable<Step> =>
  defer(() => {
    const [due, ...prefetched] = rangesToRead(feed, position, requested);
    const cancelled$ = new Subject<void>();
    const phase = { _tag: 'CatchUp', prefetched } as const;
    const due$ = due === undefined ? EMPTY : readDueRange(feed, { ...position, phase }, due, cancelled$);
    const prefetches = prefetched.map(({ prefetch$ }) => prefetch$.pipe(takeUntil(cancelled$)));
    return merge(due$, ...prefetches).pipe(
      // the next step subscribes to the prefetches that it still needs before this one unsubscribes and aborts the
      // others
      take(1),
    );
  });

/**
 * Reads the range that begins at the cursor. If the ledger ends before the end of the range, it cancels the later
 * prefetches.
 */
const readDueRange = (
  feed: LedgerFeed,
  position: Position,
  range: PrefetchedRange,
  cancelled$: Subject<void>,
): Observable<Step> => {
  let current = position;
  return range.result$.pipe(
    concatMap((result) => confirmOrReadAgain(feed, position, range, compareOverlap(feed, result))),
    map((result): Step => ({ page: result.page, position: positionAfterRange(feed, current, result) })),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isBeyondEnd(error)) throw error;
      current = { ...position, phase: catchingUp };
      cancelled$.next();
      return retarget(feed, current, error);
    }),
    retryRequest(feed),
    // here, because the prefetches continue only until the step is emitted
    proveSteps(feed, position),
  );
};

/** Compares what is right before a range with what the feed has read there. Nothing is used of a range of another ledger. */
function compareOverlap({ history }: LedgerFeed, result: RangeResult): RangeResult {
  const { overlap, proves } = result.page;
  const { proof } = history;
  if (overlap === undefined || proves !== undefined || proof === undefined) return result;
  const { beginExclusive, lastUpdate } = overlap;
  const isSame =
    proof.offset > beginExclusive
      ? lastUpdate?.offset === proof.offset && lastUpdate.updateId === proof.updateId
      : lastUpdate === undefined;
  return isSame ? result : { ...result, page: { ...result.page, updates: [], proves: 'no' } };
}

/**
 * Emits the result of a range. If there was an outage after its request, it may be of another ledger than what the feed reads
 * now: then reads the range again, unless its last update is there.
 */
const confirmOrReadAgain = (
  feed: LedgerFeed,
  { target }: Position,
  { beginExclusive, endInclusive }: PrefetchedRange,
  result: RangeResult,
): ObservableInput<RangeResult> => {
  if (result.page.outages === feed.history.outages) return [result];
  const readAgain = (): ObservableInput<RangeResult> =>
    prefetch(feed, { beginExclusive, endInclusive }, endInclusive === target).result$;
  // a later one without an ID may be of another ledger nevertheless
  const last = result.page.updates.findLast(({ _tag }) => _tag !== 'OffsetCheckpoint');
  const updateId = last && idOf(last);
  if (last === undefined || updateId === undefined) return readAgain();
  return isAtOffset(historyOf(feed), { offset: last.offset, updateId }).pipe(
    concatMap((found) => (found === 'there' ? [result] : readAgain())),
  );
};

/** The factor by which each page reduces the weight of the pages before it. */
const densityDecay = 0.75;

/** The maximum number of ranges to read at the same time, unless the caller sets it. */
const maxAutomaticRanges = 16;

/** The minimum number of ranges once the latency is known: while the feed emits one page, the next is in flight. */
const minAutomaticRanges = 2;

/**
 * How long a machine takes to handle a page of 200 updates, in milliseconds. Meanwhile, other pages can be in flight.
 */
const handlingMs = 2.5;

function positionAfterRange(feed: LedgerFeed, position: Position, { page, requests }: RangeResult): Position {
  const { pages, phase } = position;
  const { last: reached } = page;
  const fastestMs = Math.min(page.tookMs, pages.fastestMs);
  const worthwhile = Math.max(minAutomaticRanges, Math.ceil((requests * fastestMs) / handlingMs));
  return {
    ...position,
    cursor: reached,
    phase: reached < position.target ? phase : followOrEnd(feed, reached),
    pages: {
      elements: pages.elements * densityDecay + page.count,
      offsets: pages.offsets * densityDecay + (reached - position.cursor),
      fastestMs,
      // one more per page: many requests slow each other down, which would look like latency
      parallelRanges: Math.min(maxAutomaticRanges, pages.parallelRanges + 1, worthwhile),
    },
  };
}

/** Handles a ledger end before the target: the ledger has not reached the end of the request, or a replica lags. */
function retarget(feed: LedgerFeed, position: Position, error: unknown): ObservableInput<Step> {
  const following: Step = { position: { ...position, phase: { _tag: 'Follow' } } };
  if (!feed.client.learned.hasLedgerEnd) return [following];
  // not retried separately: each attempt counts as an attempt for the page
  return readLedgerEndOnce(feed, position).pipe(
    map((step) => {
      if (!feed.client.learned.hasLedgerEnd) return following;
      // the target is unchanged: retry later
      if (step.position.phase._tag === 'CatchUp' && step.position.target >= position.target) throw error;
      return step;
    }),
  );
}

/** How often to check whether the ledger has reached the end of a range in descending order, in milliseconds. */
const recheckMs = 1_000;

/**
 * Reads one page before the cursor, in descending order. The limit is at least two, because a ledger before 3.5 ignores
 * the requested order and sends ascending pages. A page of one element would not reveal that.
 */
export const readDownward = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  position: Position,
  floor: Offset,
): Observable<Step<A>> => {
  const range = { beginExclusive: floor, endInclusive: position.cursor - 1, descendingOrder: true };
  return requestPage(feed, range, { limit: Math.max(2, feed.maxPageSize) }).pipe(
    map((page): Step<A> => {
      const isOver = page.count === 0 || page.last - 1 <= floor;
      return { page, position: { ...position, cursor: page.last, phase: isOver ? { _tag: 'End' } : position.phase } };
    }),
    catchError((error: unknown) => {
      if (isBeyondEnd(error)) return timer(recheckMs).pipe(map((): Step<A> => ({ position })));
      throw error;
    }),
    retryRequest(feed),
  );
};
