import type { Offset } from '../codecs/Offset.js';
import { isApiError } from '../errors/ApiError.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { PageLimitError } from '../errors/PageLimitError.js';
import { verdict } from '../errors/verdict.js';
import type { Range } from './Range.js';
import type { Feed } from './Feed.js';
import type { Learned, UpdatesPath } from './Service.js';
import { switchPath } from './switchPath.js';

/** What a page was asked for with, and how long its answer took. */
export interface Asked {
  readonly range: Range;
  readonly path: UpdatesPath;
  readonly limit: number;
  /** For a poll. */
  readonly idleTimeoutMs: number | undefined;
  readonly tookMs: number;
}

/** What took less was no lack of patience; and no service is asked to wait less: it would be asked too often. */
const leastPatienceMs = 1_000;

/** Learns about the service from an error. `true` says that the same is now to be asked for in another way. */
export function learnFrom(error: unknown, { service: { learned }, report }: Feed, asked: Asked): boolean {
  if (!isLedgerError(error)) return false;
  switch (verdict(error)) {
    case 'shrink':
      if (asked.limit === 1) throw new PageLimitError(asked.range.beginExclusive);
      // of several that were asked for at a time, the first teaches it
      if (Math.floor(asked.limit / 2) < learned.pageLimit) {
        learned.pageLimit = Math.floor(asked.limit / 2);
        report(() => ({ _tag: 'PageLimitLearned', pageLimit: learned.pageLimit }));
      }
      return true;
    case 'switch':
      return switchPath({ learned, report }, asked.path);
    default:
      return isImpatience(error, asked) && askLess(learned, asked);
  }
}

/** Somebody on the way did not want to wait any longer: the participant's HTTP layer, a proxy, or we. */
function isImpatience(error: LedgerError, { tookMs }: Asked): boolean {
  if (tookMs < leastPatienceMs) return false;
  if (isApiError(error)) return error.code === undefined && [408, 503, 504].includes(error.status);
  return error._tag === 'RequestTimeoutError' || error._tag === 'ConnectionError';
}

/** A poll is to wait for a shorter time, a page is to reach over fewer offsets; `false` where that does not help. */
function askLess(learned: Learned, { range, idleTimeoutMs, tookMs }: Asked): boolean {
  if (idleTimeoutMs !== undefined) {
    learned.longestPollMs = Math.max(leastPatienceMs, Math.floor(tookMs / 2));
    return learned.longestPollMs < idleTimeoutMs;
  }
  const reach: Offset = (range.endInclusive ?? range.beginExclusive) - range.beginExclusive;
  learned.longestRange = Math.max(1, Math.floor(reach / 4));
  return false;
}
