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

/** The size of a page, and how long to wait for it. */
interface PageRequest {
  /** The maximum number of elements. Always sent: without a limit, a service that has more than its own maximum refuses the request. */
  readonly limit: number;
  /** For a range without an end: after how many milliseconds without an element the service answers. */
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
 * Requests a page of a range. Repeats the request only in another form: with half the limit if the page is too large, at the
 * other path if this one is not served, with a shorter idle timeout if the poll timed out.
 */
export const requestPage = (feed: LedgerFeed, range: Range, size: PageRequest): Observable<Page> =>
  defer(() => {
    const { request, service, onInvalid, report } = feed;
    const path = service.updatesPath;
    const limit = Math.min(size.limit, service.pageLimit);
    // a ledger before 3.5 answers in ascending order, which a page of one element would not show
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
      timeoutMs: service.link.requestTimeoutMs + (idleTimeoutMs ?? 0),
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

/** A poll has no end, and may be answered with updates after the end of the feed. */
const dropBeyond = (end: number, page: DecodedPage): DecodedPage =>
  page.last > end ? { ...page, updates: page.updates.filter(({ offset }) => offset <= end) } : page;

/** A request that failed. */
interface FailedRequest {
  readonly range: Range;
  readonly path: UpdatesPath;
  readonly limit: number;
  /** Only of a poll. */
  readonly idleTimeoutMs: number | undefined;
  readonly tookMs: number;
}

/** Learns from an error what the service does not accept. Returns whether to repeat the request in another form. */
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

/** All feeds of the ledger use the other path from now on. `false` if there is none. */
export function switchPath(feed: LedgerFeed, path: UpdatesPath): boolean {
  reportChange(feed, feed.service.pathMissing(path));
  return feed.service.updatesPath !== path;
}

function reportChange({ report }: LedgerFeed, change: DiagnosticBody | undefined): void {
  if (change !== undefined) report(() => change);
}

/** The participant's HTTP layer, a proxy or the client itself did not wait any longer. A quick failure is not a timeout. */
export function isTimeout(error: LedgerError, { tookMs }: Pick<FailedRequest, 'tookMs'>): boolean {
  if (tookMs < minPollMs) return false;
  if (isApiError(error)) return error.code === undefined && [408, 503, 504].includes(error.status);
  return error._tag === 'RequestTimeoutError' || error._tag === 'ConnectionError';
}

/** Later polls wait for less time, later pages span fewer offsets. Returns whether that changes this request. */
function shortenRequests({ service }: LedgerFeed, { range, idleTimeoutMs, tookMs }: FailedRequest): boolean {
  if (idleTimeoutMs !== undefined) {
    service.pollTimedOut(tookMs);
    return service.maxPollMs < idleTimeoutMs;
  }
  service.rangeTimedOut((range.endInclusive ?? range.beginExclusive) - range.beginExclusive);
  return false;
}

/** The diagnostic of a page. */
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
 * The body of a request for a range. `/v2/updates` gets an update format only: its legacy `filter` and `verbose` are
 * deprecated since 3.4, have answers of the wrong shape before 3.4.12 and are off by default in 3.6.
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

/** The update format that a legacy filter stands for, by the rule of the interface document. */
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
