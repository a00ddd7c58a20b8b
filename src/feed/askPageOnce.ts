import { catchError, defer, map, throwError, type Observable } from 'rxjs';
import { isApiError } from '../errors/ApiError.js';
import { PageLimitError } from '../errors/PageLimitError.js';
import { verdict } from '../errors/verdict.js';
import { exchange } from '../http/exchange.js';
import type { Feed } from './Feed.js';
import type { Page } from './Page.js';
import { pageOf } from './pageOf.js';
import type { Range } from './Range.js';
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
 * refused as too large, and at the other path where this one is not served.
 */
export const askPageOnce = (feed: Feed, range: Range, ask: Ask): Observable<Page> =>
  defer(() => {
    const { request, onInvalid } = feed;
    const { link, learned } = feed.service;
    const path = learned.updatesPath;
    const limit = Math.min(ask.limit, learned.pageLimit);
    return exchange(link, {
      method: 'POST',
      path,
      query: { limit, ...(ask.idleTimeoutMs !== undefined && { stream_idle_timeout_ms: ask.idleTimeoutMs }) },
      body: updatesBody(request, range, path),
      timeoutMs: Math.max(link.requestTimeoutMs, 2 * (ask.idleTimeoutMs ?? 0) + 10_000),
    }).pipe(
      map((json) => pageOf({ path, json, range, limit, onInvalid })),
      catchError((error: unknown) => {
        const next = isApiError(error) ? verdict(error) : 'stop';
        if (next === 'shrink' && limit === 1) return throwError(() => new PageLimitError(range.beginExclusive));
        if (next === 'shrink') learned.pageLimit = Math.min(learned.pageLimit, Math.floor(limit / 2));
        else if (next === 'switch' && path === '/v2/updates/flats' && learned.maySwitch)
          learned.updatesPath = '/v2/updates';
        else return throwError(() => error);
        return askPageOnce(feed, range, ask);
      }),
    );
  });
