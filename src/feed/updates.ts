import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  expand,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type OperatorFunction,
  queueScheduler,
  skip,
  subscribeOn,
  take,
  tap,
  throwIfEmpty,
} from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { readDownward } from './catchUp.js';
import type { AnyFeed, FeedBatch, Gap, LedgerFeed, Phase, Position, Step } from './LedgerFeed.js';
import type { FeedElement, Page, UndecodedUpdate } from './Page.js';
import { isGapError } from './UpdatesOptions.js';
import { isCaughtUp, readLedgerEnd, reportLagChange } from './ledgerEnd.js';
import { follow, minPollIntervalMs } from './poll.js';
import { readParticipantId } from '../history/participant.js';
import { type Origin, withOrigin } from '../history/positions.js';
import { learnParticipant, proveSteps } from './prove.js';

/** Emits the elements of a feed. It emits a page before the next request begins, so that pages do not pile up. */
export const updates = <A extends FeedElement>(feed: LedgerFeed<A>): Observable<A | UndecodedUpdate> =>
  batches(feed).pipe(concatMap(({ items, origin }) => withOrigin(items, origin)));

/**
 * Emits what the requests of a feed read, one after another. A batch is emitted before the next request begins, so that
 * apart from prefetched ranges the feed requests only what it needs.
 *
 * @param ready$ - emits when the next request may begin; by default immediately. Waiting aborts prefetched ranges, so use
 * it only for feeds that read one range at a time.
 */
export const batches = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  ready$: Observable<unknown> = always$,
): Observable<FeedBatch<A>> =>
  defer((): Turn<A>[] => [startTurn(feed)]).pipe(
    // queued, because synchronous responses would nest the turns
    expand((turn) => nextTurn(feed, turn, ready$).pipe(subscribeOn(queueScheduler))),
    skip(1),
    map(({ batch }) => batch),
    reportLifecycle(feed),
  );

/** What a request has read, and where the feed continues. */
interface Turn<A extends FeedElement> {
  readonly position: Position;
  readonly batch: FeedBatch<A>;
  /** Set if `hasCaughtUp` has changed with it. */
  readonly lagChange?: 'CaughtUp' | 'FellBehind' | undefined;
}

const startTurn = (feed: AnyFeed): Turn<never> => {
  const position = startPosition(feed.request);
  return { position, batch: toBatch(feed, { position }, originIn(feed)) };
};

/** The position before the first request of a range. */
function startPosition({ beginExclusive, endInclusive, descendingOrder }: UpdatesRange): Position {
  const target = endInclusive ?? beginExclusive;
  const isDownward = descendingOrder === true;
  const first: Phase = isDownward ? { _tag: 'ReadDownward', floor: beginExclusive } : { _tag: 'ReadLedgerEnd' };
  return {
    phase: beginExclusive >= (endInclusive ?? Infinity) ? { _tag: 'End' } : first,
    cursor: isDownward ? target + 1 : beginExclusive,
    target,
    ledgerEndReadAt: 0,
    hasCaughtUp: false,
    pages: { elements: 0, offsets: 0, parallelRanges: 1, fastestMs: Infinity },
    polls: { limit: 1, intervalMs: minPollIntervalMs, checkpointStreak: 0, sentAt: 0, idle: 0 },
  };
}

const always$ = defer(() => [true]);

const nextTurn = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  { position, batch, lagChange }: Turn<A>,
  ready$: Observable<unknown>,
): Observable<Turn<A>> =>
  // expand calls this even if its subscriber has just unsubscribed; then ready$ does not emit
  ready$.pipe(
    tap(() => {
      // not before the feed has emitted the batch
      if (lagChange !== undefined) reportLagChange(feed, position, lagChange);
    }),
    concatMap(() => {
      const { page } = batch;
      if (page?.failure !== undefined) throw page.failure;
      return requestStep(feed, position).pipe(
        proveSteps(feed, position),
        handleGap(feed, position, (step) => toTurn(feed, position, step)),
      );
    }),
  );

/** Records what a step reads. Leaves out the updates that the feed has read before, at other offsets. */
function toTurn<A extends FeedElement>(feed: AnyFeed, before: Position, step: Step<A>): Turn<A> {
  const { history } = feed;
  const { page, position, moved } = step;
  const origin = originIn(feed);
  const { floors } = history;
  const known = (floors && page?.updates.filter((update) => floors.wasRead(update))) ?? [];
  if (moved === undefined) history.read(position.cursor, page?.updates);
  const repeated = known.length === 0 ? undefined : new Set<FeedElement>(known);
  // pages of several participants in turn have only what was read before
  const isNews = page?.updates.some((update) => update._tag !== 'OffsetCheckpoint' && repeated?.has(update) !== true);
  if (isNews === true) history.advanced();
  const hasCaughtUp = isCaughtUp(feed, before, step);
  const after = {
    ...step,
    position: { ...position, hasCaughtUp },
    ...(page && repeated && { page: { ...page, repeated } }),
  };
  const hasChanged = hasCaughtUp !== before.hasCaughtUp;
  return {
    position: after.position,
    batch: toBatch(feed, after, origin),
    ...(hasChanged && { lagChange: hasCaughtUp ? 'CaughtUp' : 'FellBehind' }),
  };
}

const toBatch = <A extends FeedElement>(
  { history }: AnyFeed,
  { position, page, moved }: Step<A>,
  origin: Origin,
): FeedBatch<A> => ({
  items: newIn(page),
  position: history.position,
  isCaughtUp: position.hasCaughtUp,
  isLast: position.phase._tag === 'End',
  cursor: position.cursor,
  origin,
  page,
  moved,
});

/** The updates of a page that were not read before. */
function newIn<A extends FeedElement>(page: Page<A> | undefined): readonly (A | UndecodedUpdate)[] {
  if (page?.repeated === undefined) return page?.updates ?? [];
  const { updates, repeated } = page;
  return updates.filter((update) => !repeated.has(update));
}

/** Where a feed is in the history of its ledger. */
const originIn = ({ history: { position: before, isAddressed } }: AnyFeed): Origin => ({ before, isAddressed });

/** Emits the next step of a feed: one request and its retries. A socket emits many steps. */
function requestStep<A extends FeedElement>(feed: LedgerFeed<A>, position: Position): Observable<Step<A>> {
  const { phase } = position;
  switch (phase._tag) {
    case 'ReadLedgerEnd':
      return concat(position.cursor === 0 ? learnParticipant(feed) : EMPTY, readLedgerEnd(feed, position));
    case 'CatchUp':
      return feed.source.catchUp(feed, position, phase.prefetched);
    case 'ReadDownward':
      return readDownward(feed, position, phase.floor);
    case 'Follow':
      return follow(feed, position);
    case 'Pushed':
    case 'End':
      return EMPTY;
  }
}

/** Calls `onGap` to choose where to resume after a gap. */
const handleGap =
  <A extends FeedElement>(
    feed: AnyFeed,
    start: Position,
    read: (step: Step<A>) => Turn<A>,
  ): OperatorFunction<Step<A>, Turn<A>> =>
  (source) =>
    defer(() => {
      let current = start;
      return source.pipe(
        map(read),
        tap(({ position }) => {
          current = position;
        }),
        catchError((error: unknown) => {
          if (!isGapError(error)) throw error;
          return resumeAfterGap(feed, current, error);
        }),
      );
    });

/**
 * Resumes after a gap, at the offset that `onGap` chooses. Without an offset, the feed ends with the error of the gap.
 */
function resumeAfterGap(feed: AnyFeed, { cursor, phase }: Position, error: Gap['error']): Observable<Turn<never>> {
  const { request, onGap, report, history, client } = feed;
  const isDownward = request.descendingOrder === true;
  const known = history.position.participantId;
  const reportGap = (): void => {
    report(() => ({ _tag: 'GapFound', cursor, cause: error }));
  };
  const fail = (): never => {
    reportGap();
    throw error;
  };
  if (onGap === 'fail') return fail();
  /** Whether a feed that resumed at an offset would find the same gap. */
  const isSameGap = (offset: Offset): boolean => {
    if (error._tag === 'PrunedError') return offset <= (phase._tag === 'ReadDownward' ? phase.floor : cursor);
    return error.reason === 'endBeforeCursor' && !isDownward && offset >= cursor;
  };
  // the positions after it name the participant from the start: what a feed in doubt needs, another one may have pruned
  const participantId$ =
    error._tag === 'PrunedError' && !history.isDoubtful
      ? of(undefined)
      : readParticipantId(client).pipe(catchError(() => of(undefined)));
  return defer(() => onGap({ cursor, error })).pipe(
    take(1),
    tap({ error: reportGap }),
    throwIfEmpty(fail),
    concatMap((offset) => {
      if (!Offset.is(offset)) throw new TypeError('onGap must return an offset');
      return participantId$.pipe(map((participantId) => ({ offset, participantId })));
    }),
    map(({ offset, participantId }): Turn<never> => {
      // the cursor is an offset of the participant that was known
      const isElsewhere = error._tag === 'PrunedError' && known !== undefined && (participantId ?? known) !== known;
      if (!isElsewhere && isSameGap(offset)) fail();
      if (error._tag === 'LedgerResetError') history.restartAt(offset, participantId);
      else history.skipTo(offset, participantId);
      report(() => ({ _tag: 'GapFound', cursor, cause: error, resumesFrom: offset }));
      const range = { ...request, beginExclusive: offset };
      const position = startPosition(isDownward ? { ...range, endInclusive: cursor - 1 } : range);
      return { position, batch: toBatch(feed, { position }, originIn(feed)) };
    }),
  );
}

/** Reports the start and the end of a feed. */
const reportLifecycle =
  <A>(feed: AnyFeed): MonoTypeOperatorFunction<A> =>
  (source) => {
    const { request, report } = feed;
    const { beginExclusive, endInclusive } = request;
    return source.pipe(
      tap<A>({
        subscribe: () => {
          report(() => ({
            _tag: 'FeedStarted',
            beginExclusive,
            ...(typeof endInclusive === 'number' && { endInclusive }),
          }));
        },
      }),
      reportEnd(report),
    );
  };

/** Whether an error says itself that it ends a processor. Any other error of a program may quote its secrets. */
const hasOwnWords = (error: unknown): error is Error =>
  typeof error === 'object' && error !== null && 'endsProcessor' in error && 'message' in error;

/**
 * Reports how a feed ended.
 *
 * @param isStopped - whether a feed that completes was unsubscribed from
 */
export const reportEnd = <A>(report: Report, isStopped = (): boolean => false): MonoTypeOperatorFunction<A> =>
  tap<A>({
    complete: () => {
      report(() => ({ _tag: 'FeedEnded', how: isStopped() ? 'unsubscribed' : 'completed' }));
    },
    error: (error: unknown) => {
      const isReported = isLedgerError(error) || hasOwnWords(error);
      report(() => ({ _tag: 'FeedEnded', how: 'failed', ...(isReported && { error }) }));
    },
    unsubscribe: () => {
      report(() => ({ _tag: 'FeedEnded', how: 'unsubscribed' }));
    },
  });
