import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { LedgerResetError } from '../errors/feed.js';
import { monotonicNow } from '../http/clock.js';
import { reportWithout } from '../client/Client.js';
import { type Call, exchange, type Summary } from '../client/exchange.js';
import { mapError, retryTransient } from '../http/retry.js';
import type { LastUpdate } from '../codecs/LedgerPosition.js';
import { idOf } from '../history/positions.js';
import type { HistoryRange } from '../history/HistoryReader.js';
import { isRefusedAlone, readParticipantId } from '../history/participant.js';
import { adaptRequest } from './adaptRequest.js';
import type { AnyFeed, LedgerFeed } from './LedgerFeed.js';
import {
  checkProof,
  cutOverlap,
  type DecodedPage,
  type FeedElement,
  type Page,
  type PageSize,
  type Range,
  toPage,
} from './Page.js';

/** The limit of a page, and how long to wait for elements. */
interface PageRequest extends PageSize {
  /**
   * How long the participant waits for another element before it responds, in milliseconds. Only for a range without an
   * end.
   */
  readonly idleTimeoutMs?: number;
}

/** Requests a page of a range that the ledger has reached. Retries after a transient failure. */
export const requestPageWithRetry = (feed: LedgerFeed, range: Range, size: PageRequest): Observable<Page> =>
  requestPage(feed, range, size).pipe(resetIfBeyondEnd(range.beginExclusive), retryTransient(feed));

/** Turns the refusal of a range that the ledger had reached into a `LedgerResetError`. */
export const resetIfBeyondEnd = <A>(cursor: Offset): MonoTypeOperatorFunction<A> =>
  mapError((error) => (isBeyondEnd(error) ? new LedgerResetError(cursor) : error));

/** Whether a ledger ends before the cursor: it may be another one, lag, or read again what it had. */
export const isEndBeforeCursor = (error: unknown): error is LedgerResetError =>
  isLedgerError(error, 'LedgerResetError') && error.reason === 'endBeforeCursor' && !('retried' in error);

/** Retries after a transient failure. A ledger that ends before the cursor is looked at first. */
export const retryRequest = <A>(feed: AnyFeed): MonoTypeOperatorFunction<A> =>
  retryTransient(feed, (error) => !isEndBeforeCursor(error));

/** Whether a range ends, or begins, after the ledger end. */
export const isBeyondEnd = (error: unknown): boolean =>
  isLedgerError(error, 'ApiError') && error.code === 'OFFSET_AFTER_LEDGER_END';

/**
 * Requests a page of a range. Repeats the request only in another form:
 *
 * - with half the limit if the page is too large
 * - at the other path if the participant does not serve this one
 * - with a shorter idle timeout if the poll timed out
 */
export const requestPage = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  wanted: Range,
  size: PageRequest,
): Observable<Page<A>> =>
  defer(() => {
    const { source, request, client, history, onUndecodable, report } = feed;
    const path = source.path(client);
    const isAfterCursor = wanted.beginExclusive === history.cursor && wanted.descendingOrder !== true;
    const near = isAfterCursor && size.isProof !== true ? proofNear(feed) : undefined;
    const most = near === undefined ? size.limit : Math.min(size.limit + 1, Math.max(2, feed.maxPageSize));
    // a ledger before 3.5 sends ascending pages in place of descending ones, which a page of one element would not reveal
    const minLimit = wanted.descendingOrder === true ? 2 : 1;
    const limit = Math.max(minLimit, client.learned.pages.take(most));
    // a page of one element would have nothing else
    const proof = limit > 1 ? near : undefined;
    // not so many that they could fill the page; a range may have become due before it is requested
    const maxOverlap = Math.min(Math.floor(limit / 2), wanted.beginExclusive);
    const overlap = proof === undefined ? Math.min(size.overlap ?? 0, maxOverlap) : 0;
    const begin = proof === undefined ? wanted.beginExclusive - overlap : proof.offset - 1;
    const range = { ...wanted, beginExclusive: begin };
    // after an outage, a poll is short: the ledger must be proven before a long one begins
    const maxIdleMs = history.isDoubtful ? client.learned.drainMs : client.learned.maxPollMs;
    const idleTimeoutMs = size.idleTimeoutMs && Math.floor(Math.min(size.idleTimeoutMs, maxIdleMs));
    const sentAt = monotonicNow();
    const { outages } = history;
    const { endInclusive } = range;
    report(() => ({
      _tag: 'PollSent',
      path,
      beginExclusive: wanted.beginExclusive,
      limit,
      ...(endInclusive !== undefined && { endInclusive }),
      ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    }));
    const call: Call = {
      method: 'POST',
      path,
      query: { limit, ...(idleTimeoutMs !== undefined && { stream_idle_timeout_ms: idleTimeoutMs }) },
      body: source.body(range, path),
      idleMs: idleTimeoutMs ?? 0,
      range: { beginExclusive: begin, endInclusive, limit, idleTimeoutMs },
    };
    const read = (json: unknown): Page<A> => {
      const all = toPage({ form: source, path, json, range, limit, onUndecodable });
      const page = overlap > 0 ? cutOverlap(all, begin, wanted.beginExclusive) : all;
      const known = { tookMs: monotonicNow() - sentAt, outages };
      return { ...dropBeyond(request.endInclusive ?? Infinity, checkProof(page, proof, wanted)), ...known };
    };
    return client.located(path).pipe(
      concatMap((located) =>
        exchange(located, call, read, summaryOf).pipe(
          tap(({ proves }) => {
            // the addresses of a participant may answer in turn, also while one of them is proven
            if (size.isProof !== true) history.answered(located.address, proves === 'yes');
          }),
        ),
      ),
      // what a proof finds beyond the ledger end is an answer
      noteOutage(feed, size.isProof === true ? isBeyondEnd : mayEndBefore(feed, range)),
      concatMap((page) => {
        if (overlap > 0 && isBefore(page.failure, wanted)) return requestPage(feed, wanted, { ...size, overlap: 0 });
        if (page.proves !== 'unreadable') return of(page);
        history.forgetProof();
        return requestPage(feed, wanted, size);
      }),
      tap((page) => {
        report(() => pageReceived(page, path));
        // what was read before, too, was sent
        const sent = page.count + Number(page.proves === 'yes') + (page.overlap?.count ?? 0);
        const change = client.learned.pages.arrived(limit, sent);
        if (change !== undefined) report(() => change);
      }),
      catchError((error: unknown) => {
        const tookMs = monotonicNow() - sentAt;
        if (proof !== undefined && isLedgerError(error, 'PrunedError')) {
          // the last update is pruned; what follows the cursor need not be
          history.forgetProof();
          return requestPage(feed, wanted, size).pipe(checkParticipant(feed));
        }
        // only what is before the range may be pruned
        if (overlap > 0 && isLedgerError(error, 'PrunedError'))
          return requestPage(feed, wanted, { ...size, overlap: 0 });
        if (adaptRequest(feed, error, { range, path, limit, minLimit, idleTimeoutMs, tookMs }))
          return requestPage(feed, wanted, size);
        throw error;
      }),
      concatMap((page) => {
        // an empty poll has nothing to prove, and would be one of two requests each time
        const isNews = endInclusive !== undefined || page.last > wanted.beginExclusive;
        return near !== undefined && proof === undefined && isNews ? proveApart(feed, near, page) : of(page);
      }),
    );
  });

/** Requests what is in a range. The last page of a range is empty, because a participant may send less than the limit. */
export const readRange = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  range: HistoryRange,
  size: PageSize,
): Observable<Page<A>> =>
  requestPage(feed, range, size).pipe(
    map((page) => ({
      ...page,
      last: page.count === 0 ? range.endInclusive : Math.min(page.last, range.endInclusive),
    })),
  );

/** Whether a page could not be read because of what is before its range. */
const isBefore = (failure: LedgerError | undefined, { beginExclusive }: Range): boolean =>
  isLedgerError(failure, 'DecodeError') && (failure.offset ?? Infinity) <= beginExclusive;

/**
 * Emits a page that had no room for the last update once that was requested separately: afterwards, so that the participant was
 * still the same when it sent the page. If it is not there, nothing of the page is used.
 */
function proveApart<A extends FeedElement>(
  feed: LedgerFeed<A>,
  { offset, updateId }: LastUpdate,
  page: Page<A>,
): Observable<Page<A>> {
  const range = { beginExclusive: offset - 1, endInclusive: offset };
  const report = reportWithout(feed.report, 'PollSent', 'PageReceived');
  const shown = { ...feed, request: range, report, onUndecodable: 'emit' } as const;
  return requestPage(shown, range, { limit: 1, isProof: true }).pipe(
    map(({ updates }): Page<A> => {
      const isThere = updates.some((update) => update.offset === offset && idOf(update) === updateId);
      return isThere ? page : { ...page, updates: [], proves: 'no' };
    }),
    catchError((error: unknown) => {
      if (!isLedgerError(error, 'PrunedError')) throw error;
      feed.history.forgetProof();
      return of(page).pipe(checkParticipant(feed));
    }),
  );
}

/**
 * Reads the ID of the participant after a page that could not begin with the last update, because that is pruned: another
 * participant may have pruned it. Then the feed is in doubt.
 */
const checkParticipant =
  <A>(feed: AnyFeed): MonoTypeOperatorFunction<A> =>
  (source) => {
    const { history, client } = feed;
    const check$ = defer(() => (history.position.participantId === undefined ? EMPTY : readParticipantId(client))).pipe(
      noteOutage(feed, isRefusedAlone),
      tap((participantId) => {
        history.participantIs(participantId);
      }),
      ignoreElements(),
      catchError(() => EMPTY),
    );
    return source.pipe(
      catchError((error: unknown) =>
        concat(
          isLedgerError(error, 'PrunedError') ? check$ : EMPTY,
          throwError(() => error),
        ),
      ),
      concatMap((page) => concat(check$, of(page))),
    );
  };

/** What interceptors see of a page. The last update, with which it may begin, was sent, too. */
const summaryOf = ({ count, proves, failure, last }: Page<FeedElement>): Summary => {
  const sent = proves === 'yes' ? count + 1 : count;
  return { count: sent, ...(sent > 0 && { lastOffset: last }), failure };
};

/**
 * How far the last update may be before the cursor to be a proof. Beyond that, a participant might need too long to search the
 * offsets between them with each request.
 */
const maxProofReach = 100_000;

/** Returns the update with which requests after the cursor begin, to prove that the ledger is the same. */
export function proofNear({ source, history, client }: AnyFeed): LastUpdate | undefined {
  const { proof, cursor } = history;
  if (proof === undefined || source.lookUp === undefined) return undefined;
  const reach = cursor - proof.offset;
  return reach >= 0 && reach < Math.min(maxProofReach, client.learned.maxRange) ? proof : undefined;
}

/** Records each response and each failure of a feed's requests: after an outage, the ledger may be another one. */
export const noteOutage = <A>(
  { history }: AnyFeed,
  isExpected: (error: LedgerError) => boolean = () => false,
): MonoTypeOperatorFunction<A> =>
  tap({
    next: () => {
      history.answered();
    },
    error: (error: unknown) => {
      if (isLedgerError(error) && !isExpected(error)) history.failed(error);
    },
  });

/** Without the ledger end, a feed detects only by a refusal that the ledger has not reached the end of a range. */
const mayEndBefore =
  ({ client }: AnyFeed, { endInclusive }: Range) =>
  (error: LedgerError): boolean =>
    endInclusive !== undefined && !client.learned.hasLedgerEnd && isBeyondEnd(error);

/** Drops the updates after the end of the feed: a poll has no end. */
const dropBeyond = <A extends FeedElement>(end: number, page: DecodedPage<A>): DecodedPage<A> =>
  page.last > end ? { ...page, updates: page.updates.filter(({ offset }) => offset <= end) } : page;

/** Creates the diagnostic of a page. */
export function pageReceived(
  { count, updates, tookMs }: Page<FeedElement>,
  path: string,
): DiagnosticOf<'PageReceived'> {
  const first = updates[0]?.offset;
  const last = updates.at(-1)?.offset;
  return {
    _tag: 'PageReceived',
    path,
    count,
    ...(first !== undefined && { first }),
    ...(last !== undefined && { last }),
    durationMs: tookMs,
  };
}
