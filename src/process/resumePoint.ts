import { concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { CursorError } from '../errors/process.js';
import { Cursor, decodeRecord, type FeedPosition } from './CheckpointStore.js';
import type { AnyReader, FeedIdentity } from './Feed.js';
import type { ResumePoint } from './work.js';

/** The error of a processor whose ledger was replaced, as it would be after a restart. Other errors stay as they are. */
export const rejectedCursor = (name: string, error: unknown): unknown =>
  isLedgerError(error, 'LedgerResetError') && error.difference !== undefined
    ? new CursorError('ledger', name, error.difference)
    : error;

/** What a reader must have to resume. */
type ResumableReader = Pick<
  AnyReader,
  'identity$' | 'start$' | 'position' | 'hasUpdate' | 'restart' | 'mayRelocate' | 'continueAfter'
>;

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
      const saved = validateCursor(reader, name, stored, identity);
      const cursor = ofSelection(reader, name, saved, identity.selection);
      const isOther = cursor !== saved;
      return hasLastUpdate(reader, cursor).pipe(
        map((isFound): ResumePoint => {
          if (isFound) return { cursor, isStored: true, ...(isOther && { isOther }) };
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
  recordTimes: {},
  ...start,
  selection,
  ...(participantId !== undefined && { participantId }),
});

/** Returns the stored cursor. Throws a {@link CursorError} if it belongs to another participant. */
function validateCursor(
  { position, mayRelocate = false }: ResumableReader,
  name: string,
  stored: unknown,
  { participantId }: FeedIdentity,
): Cursor {
  // only checked: the cursor keeps the fields of the position as they are
  decodeRecord(position, name, stored);
  const cursor = decodeRecord(Cursor, name, stored);
  const isOther = participantId !== undefined && (cursor.participantId ?? participantId) !== participantId;
  if (isOther && !mayRelocate)
    throw new CursorError(
      'participant',
      name,
      `it belongs to participant ${cursor.participantId ?? '?'}, but this one is ${participantId}`,
    );
  // a cursor that was saved while the participant did not report its ID gets the ID now
  return participantId === undefined || isOther ? cursor : { ...cursor, participantId };
}

/** Returns a cursor from which a feed can continue. Throws a {@link CursorError} if it cannot, because it selects something else. */
function ofSelection(reader: ResumableReader, name: string, cursor: Cursor, selection: string): Cursor {
  if (cursor.selection === selection) return cursor;
  const isOfSameKind = kindOf(cursor.selection) === kindOf(selection);
  const continued = isOfSameKind ? (reader.continueAfter?.(cursor) as Cursor | undefined) : undefined;
  if (continued === undefined)
    throw new CursorError(
      'selection',
      name,
      'it was saved for a request with different parties, filters or transaction shapes',
    );
  return continued === cursor ? cursor : { ...continued, selection };
}

/** The kind of a feed: what selections of contracts begin with, and those of updates. */
const kindOf = (selection: string): string => selection.slice(0, selection.indexOf(':'));

/**
 * Emits whether the last update is still at its position. On a ledger that was restored and has grown since, a
 * different one is there.
 */
const hasLastUpdate = (reader: ResumableReader, cursor: Cursor): Observable<boolean> =>
  cursor.lastUpdate === undefined ? of(true) : (reader.hasUpdate?.(cursor.lastUpdate, cursor) ?? of(true));

const updateGone = ({ lastUpdate }: Cursor): string =>
  `update ${lastUpdate?.updateId ?? '?'} is no longer at offset ${lastUpdate?.offset ?? '?'}, or others have come between it and the cursor`;
