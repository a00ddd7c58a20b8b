import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  queueScheduler,
  subscribeOn,
  take,
  tap,
  throwIfEmpty,
} from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { DiagnosticBody, Report } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { readDownward, readPage } from './catchUp.js';
import type { LedgerFeed } from './LedgerFeed.js';
import { readLedgerEnd } from './ledgerEnd.js';
import { poll } from './poll.js';
import { type Position, reportCaughtUp, startPosition, type Step, withCaughtUp } from './Position.js';
import { type Gap, type InvalidUpdate, isGapError } from './UpdatesOptions.js';

/** Emits the updates of a feed. It emits a page before the next step begins, so that pages do not pile up. */
export const updates = (feed: LedgerFeed): Observable<Update | InvalidUpdate> =>
  steps(feed).pipe(concatMap(({ page }) => page?.updates ?? []));

/**
 * Emits the steps of a feed, one after another. The first is its start; each step begins at the position after the
 * previous one. A step is emitted before the next begins, so that apart from prefetched ranges the feed requests only
 * what it needs.
 *
 * @param ready$ - emits when the next step may begin; by default immediately. Waiting aborts prefetched ranges, so use
 * it only for feeds that read one range at a time.
 */
export const steps = (feed: LedgerFeed, ready$: Observable<unknown> = always$): Observable<Step> =>
  defer((): Step[] => [{ position: startPosition(feed.request) }]).pipe(
    // queued, because synchronous responses would nest the steps
    expand((step) => nextStep(feed, step, ready$).pipe(subscribeOn(queueScheduler))),
    reportLifecycle(feed),
  );

const always$ = defer(() => [true]);

const nextStep = (feed: LedgerFeed, previous: Step, ready$: Observable<unknown>): Observable<Step> =>
  // expand calls this even if its subscriber has just unsubscribed; then ready$ does not emit
  ready$.pipe(
    tap(() => {
      reportCaughtUp(feed)(previous);
    }),
    concatMap(() => {
      const { position, page } = previous;
      if (page?.failure !== undefined) throw page.failure;
      return requestStep(feed, position).pipe(
        map((step) => withCaughtUp(feed, position, step)),
        handleGap(feed, position),
      );
    }),
  );

/** Emits the next step of a feed: one request and its retries. A transport emits many steps. */
function requestStep(feed: LedgerFeed, position: Position): Observable<Step> {
  switch (position.next) {
    case 'ledgerEnd':
      return readLedgerEnd(feed, position);
    case 'page':
      return readPage(feed, position);
    case 'pageDown':
      return readDownward(feed, position);
    case 'poll':
      return feed.transport?.follow(feed, position) ?? poll(feed, position);
    case 'pushed':
    case 'end':
      return EMPTY;
  }
}

/** Calls `onGap` to choose where to resume after a gap. */
const handleGap =
  (feed: LedgerFeed, start: Position): MonoTypeOperatorFunction<Step> =>
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
  { request, onGap, report }: LedgerFeed,
  { cursor, floor }: Position,
  error: Gap['error'],
): Observable<Step> {
  const isDownward = request.descendingOrder === true;
  const reportGap = (): void => {
    report(() => ({ _tag: 'GapFound', cursor, cause: error }));
  };
  const fail = (): never => {
    reportGap();
    throw error;
  };
  if (onGap === 'fail') return fail();
  return defer(() => onGap({ cursor, error })).pipe(
    take(1),
    tap({ error: reportGap }),
    throwIfEmpty(fail),
    map((offset): Step => {
      if (!Offset.is(offset)) throw new TypeError('onGap must return an offset');
      // a feed that resumed there would find the same gap
      const isSameGap =
        error._tag === 'PrunedError' ? offset <= (isDownward ? floor : cursor) : !isDownward && offset >= cursor;
      if (isSameGap) return fail();
      report(() => ({ _tag: 'GapFound', cursor, cause: error, resumesFrom: offset }));
      const range = { ...request, beginExclusive: offset };
      return { position: startPosition(isDownward ? { ...range, endInclusive: cursor - 1 } : range) };
    }),
  );
}

/** Reports the start and the end of a feed. */
const reportLifecycle =
  <A>(feed: LedgerFeed): MonoTypeOperatorFunction<A> =>
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
      report(() => ({ _tag: 'FeedEnded', how: 'failed', ...(isLedgerError(error) && { error }) }));
    },
    unsubscribe: () => {
      report(() => ({ _tag: 'FeedEnded', how: 'unsubscribed' }));
    },
  });

/** Returns the report function of one of several feeds that are reported as one: without some diagnostics. */
export const reportWithout =
  (report: Report, ...tags: readonly DiagnosticBody['_tag'][]): Report =>
  (body) => {
    const diagnostic = body();
    if (!tags.includes(diagnostic._tag)) report(() => diagnostic);
  };
