import { asyncScheduler, catchError, defer, type Observable, tap } from 'rxjs';
import type { TransactionFilter } from '../codecs/Filters.js';
import type { EventFormat, UpdateFormat } from '../codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { DiagnosticBody } from '../diagnostics/Diagnostic.js';
import type { PageReceived } from '../diagnostics/FeedDiagnostic.js';
import { isApiError } from '../errors/ApiError.js';
import { LedgerResetError, PageLimitError } from '../errors/feed.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import { exchange } from '../http/exchange.js';
import type { Call } from '../http/Link.js';
import { mapError, retryTransient } from '../http/retry.js';
import type { LedgerFeed } from './LedgerFeed.js';
import { type DecodedPage, type Page, toPage, type Range } from './Page.js';
import { minPollMs, type UpdatesPath } from './Service.js';

/** The limit of a page, and how long to wait for elements. */
interface PageRequest {
  /**
   * The maximum number of elements. Always sent: without it, a participant with more elements than its maximum refuses
   * the request.
   */
  readonly limit: number;
  /**
   * How long the participant waits for another element before it responds, in milliseconds. Only for a range without an
   * end.
   */
  readonly idleTimeoutMs?: number;
}

/** Requests a page of a range that the ledger has reached. Retries after a transient failure. */
export const requestPageWithRetry = (feed: LedgerFeed, range: Range, size: PageRequest): Observable<Page> =>
  requestPage(feed, range, size).pipe(
    mapError((error) => (isBeyondEnd(error) ? new LedgerResetError(range.beginExclusive) : error)),
    retryTransient(feed),
  );

/** Whether a range ends, or begins, after the ledger end. */
export const isBeyondEnd = (error: unknown): boolean => isApiError(error) && error.code === 'OFFSET_AFTER_LEDGER_END';

/**
 * Requests a page of a range. Repeats the request only in another form:
 *
 * - with half the limit if the page is too large
 * - at the other path if the participant does not serve this one
 * - with a shorter idle timeout if the poll timed out
 */
export const requestPage = (feed: LedgerFeed, range: Range, size: PageRequest): Observable<Page> =>
  defer(() => {
    const { request, service, onInvalid, report } = feed;
    const path = service.updatesPath;
    const limit = Math.min(size.limit, service.pageLimit);
    // a ledger before 3.5 sends ascending pages, which a page of one element would not reveal
    if (range.descendingOrder === true && limit < 2) throw new PageLimitError(range.beginExclusive);
    const idleTimeoutMs = size.idleTimeoutMs && Math.floor(Math.min(size.idleTimeoutMs, service.maxPollMs));
    const sentAt = asyncScheduler.now();
    const { beginExclusive, endInclusive } = range;
    report(() => ({
      _tag: 'PollSent',
      path,
      beginExclusive,
      limit,
      ...(endInclusive !== undefined && { endInclusive }),
      ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    }));
    const call: Call = {
      method: 'POST',
      path,
      query: { limit, ...(idleTimeoutMs !== undefined && { stream_idle_timeout_ms: idleTimeoutMs }) },
      body: updatesBody(request, range, path),
      idleMs: idleTimeoutMs ?? 0,
    };
    return exchange(service.link, call, (json): Page => {
      const page = toPage({ path, json, range, limit, onInvalid });
      return { ...dropBeyond(request.endInclusive ?? Infinity, page), tookMs: asyncScheduler.now() - sentAt };
    }).pipe(
      tap((page) => {
        report(() => pageReceived(page, path));
      }),
      catchError((error: unknown) => {
        const tookMs = asyncScheduler.now() - sentAt;
        if (adaptRequest(feed, error, { range, path, limit, idleTimeoutMs, tookMs }))
          return requestPage(feed, range, size);
        throw error;
      }),
    );
  });

/** Drops the updates after the end of the feed: a poll has no end. */
const dropBeyond = (end: number, page: DecodedPage): DecodedPage =>
  page.last > end ? { ...page, updates: page.updates.filter(({ offset }) => offset <= end) } : page;

/** A request that failed. */
interface FailedRequest {
  readonly range: Range;
  readonly path: UpdatesPath;
  readonly limit: number;
  /** Set only for a poll. */
  readonly idleTimeoutMs: number | undefined;
  readonly tookMs: number;
}

/** Learns from an error what the participant does not accept. Returns whether to repeat the request in another form. */
function adaptRequest(feed: LedgerFeed, error: unknown, failed: FailedRequest): boolean {
  if (!isLedgerError(error)) return false;
  const { path, limit, range } = failed;
  switch (verdict(error)) {
    case 'shrink':
      if (limit === 1) throw new PageLimitError(range.beginExclusive);
      reportChange(feed, feed.service.pageTooLarge(limit));
      return true;
    case 'switch':
      return switchPath(feed, path);
    default:
      return isTimeout(error, failed) && shortenRequests(feed, failed);
  }
}

/** Switches all feeds of the ledger to the other path. Returns `false` if there is none. */
export function switchPath(feed: LedgerFeed, path: UpdatesPath): boolean {
  reportChange(feed, feed.service.pathMissing(path));
  return feed.service.updatesPath !== path;
}

function reportChange({ report }: LedgerFeed, change: DiagnosticBody | undefined): void {
  if (change !== undefined) report(() => change);
}

/** Whether the participant's HTTP layer, a proxy or the client gave up waiting. A quick failure is not a timeout. */
export function isTimeout(error: LedgerError, { tookMs }: Pick<FailedRequest, 'tookMs'>): boolean {
  if (tookMs < minPollMs) return false;
  if (isApiError(error)) return error.code === undefined && [408, 503, 504].includes(error.status);
  return error._tag === 'RequestTimeoutError' || error._tag === 'ConnectionError';
}

/** Shortens the wait of later polls, or the range of later pages. Returns whether that changes this request. */
function shortenRequests({ service }: LedgerFeed, { range, idleTimeoutMs, tookMs }: FailedRequest): boolean {
  if (idleTimeoutMs !== undefined) {
    service.pollTimedOut(tookMs);
    return service.maxPollMs < idleTimeoutMs;
  }
  service.rangeTimedOut((range.endInclusive ?? range.beginExclusive) - range.beginExclusive);
  return false;
}

/** Creates the diagnostic of a page. */
export function pageReceived({ count, updates, tookMs }: Page, path: string): PageReceived {
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

/**
 * The body of a request for a range. For `/v2/updates`, it always contains an update format: the legacy `filter` and
 * `verbose` are deprecated since 3.4, get responses of the wrong shape before 3.4.12, and are off by default in 3.6.
 */
export function updatesBody(request: UpdatesRequest, range: Range, path: UpdatesPath): object {
  const { updateFormat, filter, verbose } = request;
  return {
    descendingOrder: false,
    ...range,
    ...(path === '/v2/updates/flats'
      ? { updateFormat, filter, verbose }
      : { updateFormat: updateFormat ?? formatOfFilter(filter, verbose) }),
  };
}

/** The update format that equals a legacy filter, by the rule in the API specification. */
function formatOfFilter(
  filter: TransactionFilter | null | undefined,
  verbose: boolean | null | undefined,
): UpdateFormat | undefined {
  if (!filter) return undefined;
  const eventFormat: EventFormat = { ...filter, verbose: verbose ?? false };
  const parties = Object.keys(filter.filtersByParty ?? {});
  return {
    includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    includeReassignments: eventFormat,
    includeTopologyEvents: {
      includeParticipantAuthorizationEvents: { parties: filter.filtersForAnyParty ? [] : parties },
    },
  };
}
