import { asyncScheduler, catchError, defer, type Observable, tap } from 'rxjs';
import type { TransactionFilter } from '../codecs/Filters.js';
import type { EventFormat, UpdateFormat } from '../codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { PageReceived } from '../diagnostics/FeedDiagnostic.js';
import { isApiError } from '../errors/ApiError.js';
import { LedgerResetError, PageLimitError } from '../errors/feed.js';
import { type Call, exchange } from '../http/exchange.js';
import { mapError, retryTransient } from '../http/retry.js';
import type { Feed } from './Feed.js';
import { type Decoded, type Page, toPage, type Range } from './Page.js';
import { learnFrom, type UpdatesPath } from './Service.js';

/** What to tell of a page. */
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
 * The body that asks for a range of what a request selects. `/v2/updates` is asked by update format alone: its legacy
 * `filter` and `verbose` are deprecated since 3.4, answer the wrong shape before 3.4.12 and are off by default in 3.6.
 */
export function updatesBody(request: UpdatesRequest, range: Range, path: UpdatesPath): object {
  const { updateFormat, filter, verbose } = request;
  return {
    descendingOrder: false,
    ...range,
    ...(path === '/v2/updates/flats'
      ? { updateFormat, filter, verbose }
      : { updateFormat: updateFormat ?? formatOf(filter, verbose) }),
  };
}

/** The interface document's rule of what a filter without an update format means. */
function formatOf(
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

/** How much to ask for, and how long to wait for it. */
interface PageRequest {
  /** The most elements. Always given: without a limit, a service with more than its maximum refuses. */
  readonly limit: number;
  /** For a range without an end: how long nothing may come before the answer does, in milliseconds. */
  readonly idleTimeoutMs?: number;
}

/**
 * One page of a range. Asks again only where another request is to be made of it: for half as much when the page is
 * refused as too large, at the other path where this one is not served, for a shorter time where the service is not so
 * patient.
 */
export const requestPage = (feed: Feed, range: Range, ask: PageRequest): Observable<Page> =>
  defer(() => {
    const { request, onInvalid, report } = feed;
    const { link, learned } = feed.service;
    const path = learned.updatesPath;
    const limit = Math.min(ask.limit, learned.pageLimit);
    // a ledger before 3.5 answers upward: of that, a page of one would look right
    if (range.descendingOrder === true && limit < 2) throw new PageLimitError(range.beginExclusive);
    const idleTimeoutMs = ask.idleTimeoutMs && Math.floor(Math.min(ask.idleTimeoutMs, learned.longestPollMs));
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
      timeoutMs: link.requestTimeoutMs + (idleTimeoutMs ?? 0),
    };
    return exchange(link, call, (json): Page => {
      const page = toPage({ path, json, range, limit, onInvalid });
      return { ...upTo(request.endInclusive ?? Infinity, page), tookMs: asyncScheduler.now() - sentAt };
    }).pipe(
      tap((page) => {
        report(() => pageReceived(page, path));
      }),
      catchError((error: unknown) => {
        const tookMs = asyncScheduler.now() - sentAt;
        const asked = { range, path, limit, idleTimeoutMs, tookMs };
        if (learnFrom(error, feed, asked)) return requestPage(feed, range, ask);
        throw error;
      }),
    );
  });

/** A poll has no end, and what it brings may lie beyond that of the feed. */
const upTo = (end: number, page: Decoded): Decoded =>
  page.last > end ? { ...page, updates: page.updates.filter(({ offset }) => offset <= end) } : page;

/** One page of a range that the ledger has reached; asks again after a transient failure. */
export const requestPageWithRetry = (feed: Feed, range: Range, ask: PageRequest): Observable<Page> =>
  requestPage(feed, range, ask).pipe(
    mapError((error) => (isBeyondEnd(error) ? new LedgerResetError(range.beginExclusive) : error)),
    retryTransient(feed),
  );

/** Whether the ledger has not come as far as the range that was asked for. */
export const isBeyondEnd = (error: unknown): boolean => isApiError(error) && error.code === 'OFFSET_AFTER_LEDGER_END';
