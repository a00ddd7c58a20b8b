import { concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import { CursorError } from '../errors/process.js';
import { Cursor, decodeRecord } from './Cursor.js';
import type { FeedIdentity, FeedPosition } from './Feed.js';
import type { AnyReader } from './Processor.js';

/** Where a processor begins. */
export interface ResumePoint {
  readonly cursor: Cursor;
  /** Whether the cursor need not be saved before the first update. */
  readonly isStored: boolean;
}

/** The start of a feed whose processor has no store. */
export const startPoint = ({ start$ }: AnyReader): Observable<ResumePoint> =>
  start$.pipe(map((start) => ({ cursor: initialCursor(start, { selection: '' }), isStored: true })));

/**
 * The stored cursor, after checks that it belongs to this feed and that the source is still the same; otherwise the start of
 * the feed.
 *
 * @param name - the name of the processor, for errors
 */
export const resumePoint = (reader: AnyReader, name: string, load$: Observable<unknown>): Observable<ResumePoint> =>
  forkJoin([load$, reader.identity$]).pipe(
    concatMap(([stored, identity]) => {
      if (stored === undefined || stored === null)
        return reader.start$.pipe(map((start) => ({ cursor: initialCursor(start, identity), isStored: false })));
      const cursor = validateCursor(reader, name, stored, identity);
      return hasLastUpdate(reader, cursor).pipe(
        map((isFound): ResumePoint => {
          if (isFound) return { cursor, isStored: true };
          if (reader.restart === undefined) throw updateGone(name, cursor);
          return { cursor: initialCursor(reader.restart, identity), isStored: false };
        }),
      );
    }),
  );

const initialCursor = (start: FeedPosition, { participantId, selection }: FeedIdentity): Cursor => ({
  version: 1,
  ...start,
  recordTimes: {},
  selection,
  ...(participantId !== undefined && { participantId }),
});

/** The stored cursor. Throws a {@link CursorError} for one of another participant or feed. */
function validateCursor(
  { position }: AnyReader,
  name: string,
  stored: unknown,
  { participantId, selection }: FeedIdentity,
): Cursor {
  // only checked: the cursor keeps the fields of the position as they are
  decodeRecord(position, name, stored);
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

/** Whether the last update is still at its place: a ledger that was restored, and has grown since, has another one there. */
const hasLastUpdate = (reader: AnyReader, cursor: Cursor): Observable<boolean> =>
  cursor.lastUpdate === undefined ? of(true) : reader.hasUpdate(cursor.lastUpdate, cursor);

const updateGone = (name: string, { lastUpdate }: Cursor): CursorError =>
  new CursorError(
    'ledger',
    name,
    `update ${lastUpdate?.updateId ?? '?'} is no longer at offset ${lastUpdate?.offset ?? '?'}`,
  );
