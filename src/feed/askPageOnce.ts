import { asyncScheduler, catchError, defer, tap, type Observable } from 'rxjs';
import { PageLimitError } from '../errors/PageLimitError.js';
import { exchange, type Call } from '../http/exchange.js';
import type { Feed } from './Feed.js';
import { learnFrom } from './learnFrom.js';
import type { Page } from './Page.js';
import { pageOf, type Decoded } from './pageOf.js';
import type { Range } from './Range.js';
import { received } from './received.js';
import { updatesBody } from './updatesBody.js';

/** How much to ask for, and how long to wait for it. */
export interface Ask {
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
export const askPageOnce = (feed: Feed, range: Range, ask: Ask): Observable<Page> =>
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
      const page = pageOf({ path, json, range, limit, onInvalid });
      return { ...upTo(request.endInclusive ?? Infinity, page), tookMs: asyncScheduler.now() - sentAt };
    }).pipe(
      tap((page) => {
        report(() => received(page, path));
      }),
      catchError((error: unknown) => {
        const tookMs = asyncScheduler.now() - sentAt;
        const asked = { range, path, limit, idleTimeoutMs, tookMs };
        if (learnFrom(error, feed, asked)) return askPageOnce(feed, range, ask);
        throw error;
      }),
    );
  });

/** A poll has no end, and what it brings may lie beyond that of the feed. */
const upTo = (end: number, page: Decoded): Decoded =>
  page.last > end ? { ...page, updates: page.updates.filter(({ offset }) => offset <= end) } : page;
