import type { ApiError } from '../errors/ApiError.js';
import { PageLimitError } from '../errors/PageLimitError.js';
import { verdict } from '../errors/verdict.js';
import type { Learned, UpdatesPath } from './Service.js';

/** What a page was asked for with, and how long its answer took. */
export interface Asked {
  readonly cursor: number;
  readonly path: UpdatesPath;
  readonly limit: number;
  /** For a poll. */
  readonly idleTimeoutMs: number | undefined;
  readonly tookMs: number;
}

/** No service is asked to wait less than this: it would be asked too often. */
const leastIdleMs = 1_000;

/** Learns about the service from an error. `true` says that the same page is now to be asked for in another way. */
export function learnFrom(error: ApiError, learned: Learned, asked: Asked): boolean {
  switch (verdict(error)) {
    case 'shrink':
      if (asked.limit === 1) throw new PageLimitError(asked.cursor);
      learned.pageLimit = Math.min(learned.pageLimit, Math.floor(asked.limit / 2));
      return true;
    case 'switch':
      if (asked.path !== '/v2/updates/flats' || !learned.maySwitch) return false;
      learned.updatesPath = '/v2/updates';
      return true;
    default:
      return isImpatient(error, asked) && shorten(learned, asked);
  }
}

/** A service whose request timeout is shorter than the idle timeout refuses every poll that waits in vain. */
const isImpatient = ({ status, code }: ApiError, { idleTimeoutMs, tookMs }: Asked): boolean =>
  status === 503 && code === undefined && idleTimeoutMs !== undefined && tookMs >= leastIdleMs;

function shorten(learned: Learned, { idleTimeoutMs = 0, tookMs }: Asked): boolean {
  learned.longestPollMs = Math.max(leastIdleMs, Math.floor(tookMs / 2));
  return learned.longestPollMs < idleTimeoutMs;
}
