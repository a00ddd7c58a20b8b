import { catchError, concatMap, defer, first, forkJoin, map, type Observable, of, repeat } from 'rxjs';
import { isRecord } from '../codecs/internal/Codec.js';
import { text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { formatProblem, problemsOf } from '../codecs/Problem.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { isApiError } from '../errors/ApiError.js';
import { isDecodeError, isPrunedError } from '../errors/feed.js';
import { CursorError } from '../errors/process.js';
import { isUnauthorizedError } from '../errors/request.js';
import { isTransient } from '../errors/verdict.js';
import type { Feed } from '../feed/Feed.js';
import { requestPage, isBeyondEnd } from '../feed/pageRequest.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { type Retrying, retryTransient } from '../http/retry.js';
import { Cursor } from './Cursor.js';
import type { AnyProcessOptions } from './ProcessOptions.js';

/** Where a processor begins. */
export interface Beginning {
  readonly cursor: Cursor;
  readonly isStored: boolean;
}

/** Where to begin: at the stored cursor, if there is one and it is of this ledger and request. */
export const resumePoint = (
  feed: Feed,
  { store, name = '' }: AnyProcessOptions,
  load$: Observable<unknown>,
): Observable<Beginning> => {
  // kept nowhere, it is of this ledger and request
  if (store === undefined) return of({ cursor: newCursor(feed.request, undefined, ''), isStored: true });
  return forkJoin([load$, participantIdOf(feed.service.link, feed), selectionHash(feed.request)]).pipe(
    concatMap(([stored, participantId, selection]) => {
      const asked = newCursor(feed.request, participantId, selection);
      if (stored === undefined || stored === null) return of({ cursor: asked, isStored: false });
      const cursor = validateCursor(name, stored, asked);
      return verifySameLedger(feed, name, cursor).pipe(map((): Beginning => ({ cursor, isStored: true })));
    }),
  );
};

const newCursor = (
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

/** The id of the participant; `undefined` from a service that does not tell it, or not to this user. */
const participantIdOf = (link: Link, retrying: Retrying): Observable<string | undefined> =>
  exchange(link, { method: 'GET', path }, decodeWith(path, ParticipantId)).pipe(
    map(({ participantId }) => participantId),
    retryTransient(retrying),
    catchError((error: unknown) => {
      const isUntold = isDecodeError(error) || isUnauthorizedError(error) || (isApiError(error) && !isTransient(error));
      if (isUntold) return of(undefined);
      throw error;
    }),
  );

/** What stands for the updates that a request selects: the same, whatever the order in which it names parties and filters. */
const selectionHash = ({ updateFormat, filter }: UpdatesRequest): Observable<string> =>
  defer(() => crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical({ updateFormat, filter })))).pipe(
    map((hash) => `sha256:${Array.from(new Uint8Array(hash), hex).join('')}`),
  );

/**
 * JSON in which neither keys nor the elements of lists have an order. Flags are left out: they say how much is told of an
 * update, not of which; and so is what is as good as absent.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(
    ([, content]) => content !== undefined && content !== null && typeof content !== 'boolean',
  );
  return `{${entries
    .map(([key, content]) => `${JSON.stringify(key)}:${canonical(content)}`)
    .sort()
    .join()}}`;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

/** The stored cursor, if it is a good one and of the same participant and request. */
function validateCursor(name: string, stored: unknown, { participantId, selection }: Cursor): Cursor {
  const result = Cursor.decode(stored);
  if (result._tag === 'Left')
    throw new CursorError('unreadable', name, problemsOf(result.left).map(formatProblem).join(', '));
  const cursor = result.right;
  const isOther = participantId !== undefined && (cursor.participantId ?? participantId) !== participantId;
  if (isOther)
    throw new CursorError('participant', name, `it is of ${cursor.participantId ?? '?'}, this is ${participantId}`);
  if (cursor.selection !== selection)
    throw new CursorError(
      'selection',
      name,
      'it was saved for other parties, filters or shapes than the request names',
    );
  // one that was saved while the participant did not tell its id gets it
  return participantId === undefined ? cursor : { ...cursor, participantId };
}

/** How long to wait before that is asked once more, in milliseconds. */
const onceMoreMs = 500;

/** Looks whether the last update still stands where it stood: a ledger that was restored and has grown again has another one there. */
function verifySameLedger(feed: Feed, name: string, { lastUpdate }: Cursor): Observable<unknown> {
  if (lastUpdate === undefined) return of(true);
  const { offset, updateId } = lastUpdate;
  // which may lie beyond the end of what is asked for now
  const there = { ...feed, request: { ...feed.request, endInclusive: offset } };
  return requestPage(there, { beginExclusive: offset - 1, endInclusive: offset }, { limit: 2 }).pipe(
    map(({ updates, failure }) => {
      if (failure !== undefined) throw failure;
      return updates.some((update) => 'updateId' in update && update.updateId === updateId);
    }),
    // an answer may have less than there is: asked once more, lest a good cursor be refused
    repeat({ count: 2, delay: onceMoreMs }),
    first((isThere) => isThere, false),
    map((isThere) => {
      if (!isThere) throw new CursorError('ledger', name, `update ${updateId} is not at offset ${offset} any more`);
      return true;
    }),
    catchError((error: unknown) => {
      // gone as it is, or told by the feed in its own way
      if (isPrunedError(error) || isBeyondEnd(error)) return of(true);
      throw error;
    }),
    retryTransient(feed),
  );
}
