import { catchError, defer, first, forkJoin, map, type Observable, of, repeat } from 'rxjs';
import { toHex } from '../codecs/internal/bytes.js';
import { isRecord } from '../codecs/internal/Codec.js';
import { text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { isApiError } from '../errors/ApiError.js';
import { isDecodeError, isPrunedError } from '../errors/feed.js';
import { isUnauthorizedError } from '../errors/request.js';
import { isTransient } from '../errors/verdict.js';
import type { LedgerFeed } from '../feed/LedgerFeed.js';
import { isBeyondEnd, requestPage } from '../feed/pageRequest.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { retryTransient } from '../http/retry.js';
import type { LastUpdate } from './Cursor.js';
import type { FeedIdentity } from './Feed.js';

/** Reads the ID of the participant that a feed reads from, and hashes what its request selects. */
export const ledgerIdentity = (feed: LedgerFeed): Observable<FeedIdentity> =>
  forkJoin({ participantId: readParticipantId(feed), selection: selectionHash(feed.request) });

const path = '/v2/parties/participant-id';

const ParticipantId = message<{ readonly participantId: string }>('ParticipantId', { participantId: text });

/** Emits the ID of the participant; `undefined` if the participant does not report it, or not to this user. */
const readParticipantId = (feed: LedgerFeed): Observable<string | undefined> =>
  exchange(feed.service.link, { method: 'GET', path }, decodeWith(path, ParticipantId)).pipe(
    map(({ participantId }) => participantId),
    retryTransient(feed),
    catchError((error: unknown) => {
      const isRefused = isUnauthorizedError(error) || isApiError(error);
      if (isDecodeError(error) || (isRefused && !isTransient(error))) return of(undefined);
      throw error;
    }),
  );

/** Returns a hash of what a request selects. It does not depend on the order of parties and filters. */
const selectionHash = ({ updateFormat, filter }: UpdatesRequest): Observable<string> =>
  defer(() => crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson({ updateFormat, filter })))).pipe(
    map((hash) => `sha256:${toHex(new Uint8Array(hash))}`),
  );

/**
 * Returns JSON with sorted keys and sorted lists. Flags are left out, because they select the content of an update but
 * not the updates. So is `null`, which means the same as an absent field.
 */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).sort().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(
    ([, content]) => content !== undefined && content !== null && typeof content !== 'boolean',
  );
  return `{${entries
    .map(([key, content]) => `${JSON.stringify(key)}:${canonicalJson(content)}`)
    .sort()
    .join()}}`;
}

/** The delay before the second check of an update, in milliseconds. */
const recheckDelayMs = 500;

/** Emits whether an update is still at its offset; `true` if that cannot be checked. */
export function hasUpdate(feed: LedgerFeed, { offset, updateId }: LastUpdate): Observable<boolean> {
  // the offset may be after the end of the request
  const check = { ...feed, request: { ...feed.request, endInclusive: offset } };
  return requestPage(check, { beginExclusive: offset - 1, endInclusive: offset }, { limit: 2 }).pipe(
    map(({ updates, failure }) => {
      if (failure !== undefined) throw failure;
      return updates.some((update) => 'updateId' in update && update.updateId === updateId);
    }),
    // a page may be incomplete: a second request prevents the rejection of a valid cursor
    repeat({ count: 2, delay: recheckDelayMs }),
    first((isFound) => isFound, false),
    catchError((error: unknown) => {
      // a pruned update cannot be checked, and a ledger that ends before the cursor is reported by the feed itself
      if (isPrunedError(error) || isBeyondEnd(error)) return of(true);
      throw error;
    }),
    retryTransient(feed),
  );
}
