import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  queueScheduler,
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
import type { AnyFeed, Gap, LedgerFeed, Position, Step } from './LedgerFeed.js';
import type { FeedElement, Page, UndecodedUpdate } from './Page.js';
import { isGapError } from './UpdatesOptions.js';
import { readLedgerEnd, reportCaughtUp, unknownDensity, withCaughtUp } from './ledgerEnd.js';
import { follow, minPollIntervalMs } from './poll.js';
import { readParticipantId } from '../history/participant.js';
import { withOrigin } from '../history/positions.js';
import { proveSteps } from './prove.js';

/** Emits the elements of a feed. It emits a page before the next step begins, so that pages do not pile up. */
export const updates = <A extends FeedElement>(feed: LedgerFeed<A>): Observable<A | UndecodedUpdate> =>
  steps(feed).pipe(
    concatMap(({ page, history }) => {
      const elements = newIn(page);
      return history === undefined ? elements : withOrigin(elements, history);
    }),
  );

/** The updates of a page that were not read before. */
export const newIn = <A extends FeedElement>(page: Page<A> | undefined): readonly (A | UndecodedUpdate)[] => {
  if (page?.repeated === undefined) return page?.updates ?? [];
  const { updates, repeated } = page;
  return updates.filter((update) => !repeated.has(update));
};

/**
 * Emits the steps of a feed, one after another. The first is its start; each step begins at the position after the
 * previous one. A step is emitted before the next begins, so that apart from prefetched ranges the feed requests only
 * what it needs.
 *
 * @param ready$ - emits when the next step may begin; by default immediately. Waiting aborts prefetched ranges, so use
 * it only for feeds that read one range at a time.
 */
export const steps = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  ready$: Observable<unknown> = always$,
): Observable<Step<A>> =>
  defer((): Step<A>[] => [{ position: startPosition(feed.request) }]).pipe(
    // queued, because synchronous responses would nest the steps
    expand((step) => nextStep(feed, step, ready$).pipe(subscribeOn(queueScheduler))),
    reportLifecycle(feed),
  );

/** The position before the first request of a range. */
function startPosition({ beginExclusive, endInclusive, descendingOrder }: UpdatesRange): Position {
  const target = endInclusive ?? beginExclusive;
  const first = descendingOrder === true ? 'pageDown' : 'ledgerEnd';
  return {
    floor: beginExclusive,
    cursor: descendingOrder === true ? target + 1 : beginExclusive,
    next: beginExclusive >= (endInclusive ?? Infinity) ? 'end' : first,
    target,
    prefetched: [],
    ...unknownDensity,
    parallelRanges: 1,
    fastestMs: Infinity,
    hasCaughtUp: false,
    ledgerEndReadAt: 0,
    pollLimit: 1,
    pollIntervalMs: minPollIntervalMs,
    checkpointStreak: 0,
    polledAt: 0,
    idlePolls: 0,
  };
}

const always$ = defer(() => [true]);

const nextStep = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  previous: Step<A>,
  ready$: Observable<unknown>,
): Observable<Step<A>> =>
  // expand calls this even if its subscriber has just unsubscribed; then ready$ does not emit
  ready$.pipe(
    tap(() => {
      reportCaughtUp(feed)(previous);
    }),
    concatMap(() => {
      const { position, page } = previous;
      if (page?.failure !== undefined) throw page.failure;
      return requestStep(feed, position).pipe(
        proveSteps(feed, position),
        map((step) => withCaughtUp(feed, position, readStep(feed, step))),
        handleGap(feed, position),
      );
    }),
  );

/** Records what a step reads. Marks the updates that the feed has read before, at other offsets. */
function readStep<A extends FeedElement>({ history }: AnyFeed, step: Step<A>): Step<A> {
  const { page, position, moved } = step;
  const { position: before, isAddressed } = history;
  const known = page?.updates.filter((update) => history.wasRead(update)) ?? [];
  if (moved === undefined) history.read(position.cursor, page?.updates);
  const read = { before, after: history.position, isAddressed };
  if (page === undefined || known.length === 0) return { ...step, history: read };
  return { ...step, history: read, page: { ...page, repeated: new Set<FeedElement>(known) } };
}

/** Emits the next step of a feed: one request and its retries. A transport emits many steps. */
function requestStep<A extends FeedElement>(feed: LedgerFeed<A>, position: Position): Observable<Step<A>> {
  switch (position.next) {
    case 'ledgerEnd':
      return readLedgerEnd(feed, position);
    case 'page':
      return feed.source.readPage(feed, position);
    case 'pageDown':
      return readDownward(feed, position);
    case 'poll':
      return follow(feed, position);
    case 'pushed':
    case 'end':
      return EMPTY;
  }
}

/** Calls `onGap` to choose where to resume after a gap. */
const handleGap =
  <A extends FeedElement>(feed: AnyFeed, start: Position): MonoTypeOperatorFunction<Step<A>> =>
  (source) =>
    defer(() => {
      let current = start;
      return source.pipe(
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
function resumeAfterGap(
  { request, onGap, report, history, service }: AnyFeed,
  { cursor, floor }: Position,
  error: Gap['error'],
): Observable<Step<never>> {
  const isDownward = request.descendingOrder === true;
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
    if (error._tag === 'PrunedError') return offset <= (isDownward ? floor : cursor);
    return error.reason === 'endBeforeCursor' && !isDownward && offset >= cursor;
  };
  return defer(() => onGap({ cursor, error })).pipe(
    take(1),
    tap({ error: reportGap }),
    throwIfEmpty(fail),
    concatMap((offset) => {
      if (!Offset.is(offset)) throw new TypeError('onGap must return an offset');
      if (isSameGap(offset)) return fail();
      if (error._tag === 'PrunedError') return of({ offset, participantId: undefined });
      // the positions on the other ledger name its participant from the start
      return readParticipantId(service.link).pipe(
        catchError(() => of(undefined)),
        map((participantId) => ({ offset, participantId })),
      );
    }),
    map(({ offset, participantId }): Step<never> => {
      if (error._tag === 'LedgerResetError') history.restartAt(offset, participantId);
      else history.skipTo(offset);
      report(() => ({ _tag: 'GapFound', cursor, cause: error, resumesFrom: offset }));
      const range = { ...request, beginExclusive: offset };
      const read = { before: history.position, after: history.position, isAddressed: true };
      return { position: startPosition(isDownward ? { ...range, endInclusive: cursor - 1 } : range), history: read };
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
