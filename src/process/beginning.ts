import { catchError, concatMap, first, forkJoin, map, of, repeat, type Observable } from 'rxjs';
import { problemsOf, formatProblem } from '../codecs/Problem.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { CursorError } from '../errors/CursorError.js';
import { isPrunedError } from '../errors/PrunedError.js';
import { askPageOnce } from '../feed/askPageOnce.js';
import { isBeyondEnd } from '../feed/askPage.js';
import type { Feed } from '../feed/Feed.js';
import { retryTransient } from '../http/retryTransient.js';
import { Cursor } from './Cursor.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import { participantIdOf } from './participantIdOf.js';
import { selectionOf } from './selectionOf.js';

/** Where a processor begins. */
export interface Beginning {
  readonly cursor: Cursor;
  readonly isStored: boolean;
}

/** Where to begin: at the stored cursor, if there is one and it is of this ledger and request. */
export const beginning = (
  feed: Feed,
  { store, name = '' }: AnyProcessOptions,
  load$: Observable<unknown>,
): Observable<Beginning> => {
  // kept nowhere, it is of this ledger and request
  if (store === undefined) return of({ cursor: newCursor(feed.request, undefined, ''), isStored: true });
  return forkJoin([load$, participantIdOf(feed.service.link, feed), selectionOf(feed.request)]).pipe(
    concatMap(([stored, participantId, selection]) => {
      const asked = newCursor(feed.request, participantId, selection);
      if (stored === undefined || stored === null) return of({ cursor: asked, isStored: false });
      const cursor = accepted(name, stored, asked);
      return sameLedger(feed, name, cursor).pipe(map((): Beginning => ({ cursor, isStored: true })));
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

/** The stored cursor, if it is a good one and of the same participant and request. */
function accepted(name: string, stored: unknown, { participantId, selection }: Cursor): Cursor {
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
function sameLedger(feed: Feed, name: string, { lastUpdate }: Cursor): Observable<unknown> {
  if (lastUpdate === undefined) return of(true);
  const { offset, updateId } = lastUpdate;
  // which may lie beyond the end of what is asked for now
  const there = { ...feed, request: { ...feed.request, endInclusive: offset } };
  return askPageOnce(there, { beginExclusive: offset - 1, endInclusive: offset }, { limit: 2 }).pipe(
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
