import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance as advancePosition, pointsOf, type Read } from '../history/positions.js';
import type { RetryBudget } from '../http/retry.js';
import { isLater } from '../operators/recordTimes.js';
import { type Handled, type HandlerFailure, isUndecoded, type ProcessorRun } from './callHandler.js';
import type { Cursor, FeedPosition } from './CheckpointStore.js';
import type { AnyBatch, AnyEntry, AnyReader } from './Feed.js';
import type { Committed } from './ProcessOptions.js';

type RecordTimes = Committed['recordTimes'];

/** How much of a batch has been handled and committed. */
export interface Progress {
  readonly batch: AnyBatch;
  /** The saved cursor. */
  readonly cursor: Cursor;
  /** The latest record time of each synchronizer. The cursor has only those of updates. */
  readonly recordTimes: RecordTimes;
  /** The entries that have not been committed yet. */
  readonly remaining: readonly AnyEntry[];
  /** The number of updates that are committed at once; 1 after a batch has failed, to isolate the failure. */
  readonly partSize: number;
  /** The number of updates in the next part: less than `partSize` if the update after them is known to fail. */
  readonly nextSize: number;
  /** The budget of the handler's retries of the first remaining update. */
  readonly budget: RetryBudget;
  /** The failure of the first remaining update, until it is retried. */
  readonly failure: HandlerFailure | undefined;
  /** The failure of the update after the next part, which was rolled back with it. */
  readonly failureAfterNext: HandlerFailure | undefined;
  /** The commit of the last attempt; absent if it failed. */
  readonly committed: Committed | undefined;
  /** The number of updates that the last attempt committed. */
  readonly done: number;
}

/** What the last attempt leaves, before there was one. */
export const noAttempt = { failure: undefined, failureAfterNext: undefined, committed: undefined, done: 0 };

/** Returns the progress after some updates of the next part are done. */
export function advance({ reader }: ProcessorRun, progress: Progress, { done, handled, failure }: Handled): Progress {
  const { batch, remaining, partSize, nextSize, failureAfterNext } = progress;
  const isDone = done === remaining.length;
  const entries = remaining.slice(0, done);
  const cursor = cursorAfter(reader, progress.cursor, entries, isDone ? batch.position : undefined);
  const { offset } = cursor;
  const isReset = reader.compare(cursor, progress.cursor) < 0;
  const recordTimes = isReset ? timesOf(cursor) : timesAfter(progress.recordTimes, cursor, entries);
  return {
    batch,
    cursor,
    recordTimes,
    partSize,
    nextSize: partSize,
    budget: progress.budget.renew(),
    remaining: remaining.slice(done),
    ...noAttempt,
    failure: failure ?? (done === nextSize ? failureAfterNext : undefined),
    committed: { offset, recordTimes, handled, isCaughtUp: isDone && batch.isCaughtUp },
    done,
  };
}

/**
 * Returns the cursor after some entries, or at a position after them. At a position before the cursor, everything is
 * read again: the record times are then dropped, and the last update, unless the position names them.
 */
function cursorAfter(
  reader: AnyReader,
  cursor: Cursor,
  entries: readonly AnyEntry[],
  position: FeedPosition = entries.at(-1)?.position ?? cursor,
): Cursor {
  const { version, participantId, selection } = cursor;
  const isReset = reader.compare(position, cursor) < 0;
  const from: LedgerPosition = isReset ? { offset: position.offset, participantId, recordTimes: {} } : cursor;
  const contents = entries.map(({ content }) => content).filter((content) => !isUndecoded(content));
  const { lastUpdate, recordTimes } = advancePosition(from, contents);
  return {
    version,
    participantId,
    selection,
    lastUpdate: lastUpdate !== undefined && lastUpdate.offset <= position.offset ? lastUpdate : undefined,
    recordTimes,
    // may name all of them itself
    ...position,
  };
}

/** Returns the record time of each synchronizer. */
export const timesOf = ({ recordTimes }: Pick<LedgerPosition, 'recordTimes'>): RecordTimes =>
  Object.fromEntries(Object.entries(recordTimes).map(([id, { recordTime }]) => [id, recordTime]));

/**
 * Returns the latest record times after some entries. Those of checkpoints count: on a quiet ledger only they show that a
 * processor is up to date.
 */
function timesAfter(before: RecordTimes, cursor: Cursor, entries: readonly AnyEntry[]): RecordTimes {
  const contents = entries.map(({ content }) => content).filter((content) => !isUndecoded(content));
  const ofCursor = Object.entries(timesOf(cursor)).map(([synchronizerId, recordTime]) => ({
    synchronizerId,
    recordTime,
  }));
  const latest = { ...before };
  for (const { synchronizerId, recordTime } of [...ofCursor, ...contents.flatMap((read: Read) => pointsOf(read))]) {
    const known = latest[synchronizerId];
    if (known === undefined || isLater(recordTime, known)) latest[synchronizerId] = recordTime;
  }
  return latest;
}
