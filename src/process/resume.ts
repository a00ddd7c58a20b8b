import { catchError, concatMap, defer, first, forkJoin, map, type Observable, of, repeat } from 'rxjs';
import { toHex } from '../codecs/internal/bytes.js';
import { isRecord } from '../codecs/internal/Codec.js';
import { text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { isApiError } from '../errors/ApiError.js';
import { isDecodeError, isPrunedError } from '../errors/feed.js';
import { CursorError } from '../errors/process.js';
import { isUnauthorizedError } from '../errors/request.js';
import { isTransient } from '../errors/verdict.js';
import type { LedgerFeed } from '../feed/LedgerFeed.js';
import { requestPage, isBeyondEnd } from '../feed/pageRequest.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { type RetrySettings, retryTransient } from '../http/retry.js';
import { Cursor, decodeRecord } from './Cursor.js';
import type { AnyProcessOptions } from './ProcessOptions.js';

/** Where a processor begins. */
export interface ResumePoint {
  readonly cursor: Cursor;
  /** Whether the cursor need not be saved before the first update. */
  readonly isStored: boolean;
}

/** The stored cursor, after checks that it belongs to this ledger and request; otherwise the start of the request. */
export const resumePoint = (
  feed: LedgerFeed,
  { store, name = '' }: AnyProcessOptions,
  load$: Observable<unknown>,
): Observable<ResumePoint> => {
  if (store === undefined) return of({ cursor: initialCursor(feed.request, undefined, ''), isStored: true });
  return forkJoin([load$, readParticipantId(feed.service.link, feed), selectionHash(feed.request)]).pipe(
    concatMap(([stored, participantId, selection]) => {
      const initial = initialCursor(feed.request, participantId, selection);
      if (stored === undefined || stored === null) return of({ cursor: initial, isStored: false });
      const cursor = validateCursor(name, stored, initial);
      return verifySameLedger(feed, name, cursor).pipe(map((): ResumePoint => ({ cursor, isStored: true })));
    }),
  );
};

const initialCursor = (
  { beginExclusive }: UpdatesRequest,
  participantId: string | undefined,
  selection: string,
): Cursor => ({
  version: 1,
  offset: beginExclusive,
  recordTimes: {},
  selection,
  ...(participantId !== undefined && { participantId }),
});

const path = '/v2/parties/participant-id';

const ParticipantId = message<{ readonly participantId: string }>('ParticipantId', { participantId: text });

/** The id of the participant; `undefined` if the service does not report it, or not to this user. */
const readParticipantId = (link: Link, retrying: RetrySettings): Observable<string | undefined> =>
  exchange(link, { method: 'GET', path }, decodeWith(path, ParticipantId)).pipe(
    map(({ participantId }) => participantId),
    retryTransient(retrying),
    catchError((error: unknown) => {
      const isRefused = isUnauthorizedError(error) || isApiError(error);
      if (isDecodeError(error) || (isRefused && !isTransient(error))) return of(undefined);
      throw error;
    }),
  );

/** A hash of what a request selects. The order of parties and filters does not change it. */
const selectionHash = ({ updateFormat, filter }: UpdatesRequest): Observable<string> =>
  defer(() => crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson({ updateFormat, filter })))).pipe(
    map((hash) => `sha256:${toHex(new Uint8Array(hash))}`),
  );

/**
 * JSON with sorted keys and sorted lists. Flags are left out, since they select the content of an update and not the
 * updates; so is `null`, which is the same as an absent field.
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

/** The stored cursor. Throws a {@link CursorError} for one of another participant or request. */
function validateCursor(name: string, stored: unknown, { participantId, selection }: Cursor): Cursor {
  const cursor = decodeRecord(Cursor, name, stored);
  const isOther = participantId !== undefined && (cursor.participantId ?? participantId) !== participantId;
  if (isOther)
    throw new CursorError(
      'participant',
      name,
      `it belongs to ${cursor.participantId ?? '?'}, and this participant is ${participantId}`,
    );
  if (cursor.selection !== selection)
    throw new CursorError(
      'selection',
      name,
      'it was saved for a request with other parties, filters or transaction shapes',
    );
  // one that was saved while the participant did not report its id gets the id
  return participantId === undefined ? cursor : { ...cursor, participantId };
}

/** The wait before the second check of the last update, in milliseconds. */
const recheckDelayMs = 500;

/** Checks that the last update is still at its offset: a ledger that was restored, and has grown since, has another one there. */
function verifySameLedger(feed: LedgerFeed, name: string, { lastUpdate }: Cursor): Observable<unknown> {
  if (lastUpdate === undefined) return of(true);
  const { offset, updateId } = lastUpdate;
  // the offset may be after the end of the request
  const check = { ...feed, request: { ...feed.request, endInclusive: offset } };
  return requestPage(check, { beginExclusive: offset - 1, endInclusive: offset }, { limit: 2 }).pipe(
    map(({ updates, failure }) => {
      if (failure !== undefined) throw failure;
      return updates.some((update) => 'updateId' in update && update.updateId === updateId);
    }),
    // a page may be incomplete: a second request keeps a valid cursor from being refused
    repeat({ count: 2, delay: recheckDelayMs }),
    first((isFound) => isFound, false),
    map((isFound) => {
      if (!isFound) throw new CursorError('ledger', name, `update ${updateId} is no longer at offset ${offset}`);
      return true;
    }),
    catchError((error: unknown) => {
      // a pruned update cannot be checked, and the feed itself reports a ledger that ends before the cursor
      if (isPrunedError(error) || isBeyondEnd(error)) return of(true);
      throw error;
    }),
    retryTransient(feed),
  );
}
