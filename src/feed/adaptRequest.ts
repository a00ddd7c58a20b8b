import type { DiagnosticBody } from '../diagnostics/Diagnostic.js';
import type { ApiError } from '../errors/ApiError.js';
import { PageLimitError } from '../errors/feed.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import { type FeedPath, minPollMs } from '../client/Learned.js';
import type { AnyFeed } from './LedgerFeed.js';
import type { Range } from './Page.js';

/** A request that failed. */
interface FailedRequest {
  readonly range: Range;
  readonly path: FeedPath;
  readonly limit: number;
  /** The smallest limit that such a request may have. */
  readonly minLimit: number;
  /** Set only for a poll. */
  readonly idleTimeoutMs: number | undefined;
  readonly tookMs: number;
}

/** Learns from an error what the participant does not accept. Returns whether to repeat the request in another form. */
export function adaptRequest(feed: AnyFeed, error: unknown, failed: FailedRequest): boolean {
  if (!isLedgerError(error)) return false;
  const { path, limit, minLimit, range } = failed;
  switch (verdict(error)) {
    case 'shrink':
      if (limit === minLimit) throw new PageLimitError(range.beginExclusive);
      reportChange(feed, feed.client.learned.pages.refused(limit));
      return true;
    case 'switch':
      return switchPath(feed, path);
    default:
      return isTimeout(error, failed) && shortenRequests(feed, failed);
  }
}

/** Switches all feeds of the ledger to the other path. Returns `false` if there is none. */
export function switchPath(feed: AnyFeed, path: FeedPath): boolean {
  reportChange(feed, feed.client.learned.pathMissing(path));
  return feed.source.path(feed.client) !== path;
}

/** Whether the participant's HTTP layer, a proxy or the client gave up waiting. A quick failure is not a timeout. */
export function isTimeout(error: LedgerError, { tookMs }: Pick<FailedRequest, 'tookMs'>): boolean {
  if (tookMs < minPollMs) return false;
  if (isLedgerError(error, 'ApiError') && error.code === 'REQUEST_TIMEOUT') return true;
  if (isLedgerError(error, 'ApiError')) return error.code === undefined && isTimeoutStatus(error);
  return error._tag === 'RequestTimeoutError' || error._tag === 'ConnectionError';
}

/** The statuses of a request that took too long: those of HTTP, and of Cloudflare and other proxies. */
const timeoutStatuses = [408, 503, 504, 520, 522, 524, 598];

/** A gateway may replace the page of a timeout, and its status. */
const isTimeoutStatus = ({ status, answeredBy, answeredBefore }: ApiError): boolean =>
  timeoutStatuses.includes(status) ||
  (answeredBy === 'network' && answeredBefore === 'here' && status < 500 && status !== 429);

/** Shortens the wait of later polls, or the range of later pages. Returns whether that changes this request. */
function shortenRequests({ client }: AnyFeed, { range, idleTimeoutMs, tookMs }: FailedRequest): boolean {
  if (idleTimeoutMs !== undefined) {
    client.learned.pollTimedOut(tookMs);
    return client.learned.maxPollMs < idleTimeoutMs;
  }
  client.learned.rangeTimedOut((range.endInclusive ?? range.beginExclusive) - range.beginExclusive);
  return false;
}

/** Reports what was learned, if it was anything. */
function reportChange({ report }: AnyFeed, change: DiagnosticBody | undefined): void {
  if (change !== undefined) report(() => change);
}
