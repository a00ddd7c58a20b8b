import { asyncScheduler } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import { jitter } from '../http/waitBefore.js';
import type { Feed } from './Feed.js';
import type { Heard } from './hear.js';
import { leavesSocketsAlone } from './leavesSocketsAlone.js';
import { catchingUp } from './nextOf.js';
import type { Place, Step } from './Place.js';
import { switchPath } from './switchPath.js';

/** How long none of the ledger's feeds opens another: they poll, and miss nothing. Where none brings anything, ever longer. */
const backOff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };

/** Catches up, from where a socket has brought the feed before it ended. */
export function afterSocket(feed: Feed, place: Place, { path, count }: Heard, error: unknown): Step {
  if (!isLedgerError(error)) throw error;
  const { learned } = feed.service;
  const isElsewhere = verdict(error) === 'switch' && switchPath({ learned, report: feed.report }, path);
  if (count > 0 || isElsewhere) learned.socketFailures = 0;
  // where those of many feeds end at a time, that is one failure
  else if (!leavesSocketsAlone(learned)) learned.socketFailures += 1;
  const againInMs = isElsewhere ? 0 : jitter(learned.socketFailures, backOff);
  learned.socketEndedAt = asyncScheduler.now();
  learned.noSocketForMs = againInMs;
  feed.report(() => ({ _tag: 'SocketClosed', path, cause: error, againInMs }));
  return { place: { ...place, next: catchingUp(feed) } };
}
