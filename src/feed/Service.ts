import { asyncScheduler } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Listeners, Report } from '../diagnostics/Diagnostic.js';
import { isApiError } from '../errors/ApiError.js';
import { PageLimitError } from '../errors/feed.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import type { Link } from '../http/Link.js';
import type { Feed } from './Feed.js';
import type { Range } from './Page.js';

/** The two paths at which updates are served: the one of the interface document, and the one that replaces it. */
export type UpdatesPath = '/v2/updates/flats' | '/v2/updates';

/** What the feeds of a ledger find out about its service, and keep for its lifetime. */
interface Learned {
  /** Where updates are served. */
  updatesPath: UpdatesPath;
  /** Whether another path may be tried where this one is not served. */
  readonly maySwitch: boolean;
  /** The largest page that the service gives, as far as is known. */
  pageLimit: number;
  /** The longest that the service may be asked to wait, in milliseconds, as far as is known. */
  longestPollMs: number;
  /** How many offsets one page may reach over, as far as is known: a service may not be able to search more in time. */
  longestRange: number;
  /** When the service was found not to tell its ledger end, in milliseconds; `-Infinity` if it does. */
  endUntoldAt: number;
  /** When the last WebSocket ended, in milliseconds; 0 if none has. */
  socketEndedAt: number;
  /** For how long no other is opened then, in milliseconds. */
  noSocketForMs: number;
  /** How many WebSockets in a row have ended without having brought anything. */
  socketFailures: number;
}

/** A ledger service: the way to it, and what is known of it. */
export interface Service {
  readonly link: Link;
  readonly learned: Learned;
  readonly diagnostics: Listeners;
  /** How many feeds there have been. */
  feeds: number;
}

/** Has all feeds ask at the other path from now on, where the one that was asked is not served; `false` if there is none. */
export function switchPath({ learned, report }: { learned: Learned; report: Report }, asked: UpdatesPath): boolean {
  if (asked !== '/v2/updates/flats' || !learned.maySwitch) return false;
  if (learned.updatesPath === asked) {
    learned.updatesPath = '/v2/updates';
    report(() => ({ _tag: 'EndpointSwitched', from: asked, to: learned.updatesPath }));
  }
  return true;
}

/** What a page was asked for with, and how long its answer took. */
interface RequestFacts {
  readonly range: Range;
  readonly path: UpdatesPath;
  readonly limit: number;
  /** For a poll. */
  readonly idleTimeoutMs: number | undefined;
  readonly tookMs: number;
}

/** Learns about the service from an error. `true` says that the same is now to be asked for in another way. */
export function learnFrom(error: unknown, { service: { learned }, report }: Feed, asked: RequestFacts): boolean {
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

/** What took less was no lack of patience; and no service is asked to wait less: it would be asked too often. */
const leastPatienceMs = 1_000;

/** Somebody on the way did not want to wait any longer: the participant's HTTP layer, a proxy, or we. */
function isImpatience(error: LedgerError, { tookMs }: RequestFacts): boolean {
  if (tookMs < leastPatienceMs) return false;
  if (isApiError(error)) return error.code === undefined && [408, 503, 504].includes(error.status);
  return error._tag === 'RequestTimeoutError' || error._tag === 'ConnectionError';
}

/** A poll is to wait for a shorter time, a page is to reach over fewer offsets; `false` where that does not help. */
function askLess(learned: Learned, { range, idleTimeoutMs, tookMs }: RequestFacts): boolean {
  if (idleTimeoutMs !== undefined) {
    learned.longestPollMs = Math.max(leastPatienceMs, Math.floor(tookMs / 2));
    return learned.longestPollMs < idleTimeoutMs;
  }
  const reach: Offset = (range.endInclusive ?? range.beginExclusive) - range.beginExclusive;
  learned.longestRange = Math.max(1, Math.floor(reach / 4));
  return false;
}

/** Whether a socket has ended so recently that no feed opens another; not for longer where the clock has been set back. */
export const leavesSocketsAlone = ({ socketEndedAt, noSocketForMs }: Learned): boolean =>
  Math.abs(asyncScheduler.now() - socketEndedAt) < noSocketForMs;
