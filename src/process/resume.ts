import { concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { CursorError } from '../errors/process.js';
import { isLater } from '../operators/recordTimes.js';
import { isUndecoded } from './callHandler.js';
import { Cursor, decodeRecord, type FeedPosition } from './Cursor.js';
import type { AnyEntry, AnyReader, FeedIdentity } from './Feed.js';

/** Where a processor begins. */
export interface ResumePoint {
  readonly cursor: Cursor;
  /** Whether the cursor is already stored, so that it need not be saved before the first update. */
  readonly isStored: boolean;
  /** Set if the source was replaced, and the processor starts over. */
  readonly gap?: { readonly cursor: Offset; readonly cause: LedgerResetError };
}

/** What a reader must have to resume. */
type ResumableReader = Pick<AnyReader, 'identity$' | 'start$' | 'position' | 'hasUpdate' | 'restart'>;

/** Emits the start of a feed whose processor has no store. */
export const startPoint = ({ start$ }: AnyReader): Observable<ResumePoint> =>
  start$.pipe(map((start) => ({ cursor: initialCursor(start, { selection: '' }), isStored: true })));

/**
 * Emits the stored cursor, after checks that it belongs to this feed and that the source is still the same. Without a
 * stored cursor, emits the start of the feed.
 *
 * @param name - the name of the processor, for error messages
 */
export const resumePoint = (
  reader: ResumableReader,
  name: string,
  load$: Observable<unknown>,
): Observable<ResumePoint> =>
  forkJoin([load$, reader.identity$]).pipe(
    concatMap(([stored, identity]) => {
      if (stored === undefined || stored === null)
        return reader.start$.pipe(map((start) => ({ cursor: initialCursor(start, identity), isStored: false })));
      const cursor = validateCursor(reader, name, stored, identity);
      return hasLastUpdate(reader, cursor).pipe(
        map((isFound): ResumePoint => {
          if (isFound) return { cursor, isStored: true };
          const gone = updateGone(cursor);
          if (reader.restart === undefined) throw new CursorError('ledger', name, gone);
          const cause = new LedgerResetError(cursor.offset, undefined, gone);
          const gap = { cursor: cursor.offset, cause };
          return { cursor: initialCursor(reader.restart, identity), isStored: false, gap };
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

/** Returns the stored cursor. Throws a {@link CursorError} if it belongs to another participant or feed. */
function validateCursor(
  { position }: ResumableReader,
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
      `it belongs to participant ${cursor.participantId ?? '?'}, but this one is ${participantId}`,
    );
  if (cursor.selection !== selection)
    throw new CursorError(
      'selection',
      name,
      'it was saved for a request with different parties, filters or transaction shapes',
    );
  // a cursor that was saved while the participant did not report its ID gets the ID now
  return participantId === undefined ? cursor : { ...cursor, participantId };
}

/**
 * Emits whether the last update is still at its position. On a ledger that was restored and has grown since, a
 * different one is there.
 */
const hasLastUpdate = (reader: ResumableReader, cursor: Cursor): Observable<boolean> =>
  cursor.lastUpdate === undefined ? of(true) : reader.hasUpdate(cursor.lastUpdate, cursor);

const updateGone = ({ lastUpdate }: Cursor): string =>
  `update ${lastUpdate?.updateId ?? '?'} is no longer at offset ${lastUpdate?.offset ?? '?'}, or others have come between it and the cursor`;

/**
 * Returns the cursor after some entries, or at a position after them. At a position before the cursor, everything is
 * read again: the record times are then dropped, and the last update unless the position names it.
 */
export function cursorAfter(
  reader: AnyReader,
  cursor: Cursor,
  entries: readonly AnyEntry[],
  position: FeedPosition = entries.at(-1)?.position ?? cursor,
): Cursor {
  const isReset = reader.compare(position, cursor) < 0;
  const recordTimes = new Map(isReset ? [] : Object.entries(cursor.recordTimes));
  let lastUpdate = isReset ? undefined : cursor.lastUpdate;
  for (const { content } of entries) {
    if (isUndecoded(content)) continue;
    if ('updateId' in content && content.updateId !== undefined)
      lastUpdate = { offset: content.offset, updateId: content.updateId };
    for (const { synchronizerId, recordTime } of reader.timesOf(content)) {
      const latest = recordTimes.get(synchronizerId);
      if (latest === undefined || isLater(recordTime, latest)) recordTimes.set(synchronizerId, recordTime);
    }
  }
  const { version, participantId, selection } = cursor;
  return {
    version,
    participantId,
    selection,
    lastUpdate: lastUpdate !== undefined && lastUpdate.offset <= position.offset ? lastUpdate : undefined,
    // may name the last update itself
    ...position,
    recordTimes: Object.fromEntries(recordTimes),
  };
}
