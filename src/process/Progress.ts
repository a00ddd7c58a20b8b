import type { Update } from '../codecs/Update.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import type { Chunk } from './Chunk.js';
import type { Committed } from './Committed.js';
import type { Cursor } from './Cursor.js';
import { cursorAfter } from './cursorAfter.js';
import type { Done, HandlerFailure } from './HandlerFailure.js';

/** How far a processor has come with a chunk. */
export interface Progress {
  readonly chunk: Chunk;
  /** As it is saved. */
  readonly cursor: Cursor;
  /** What is still to be handled. */
  readonly todo: readonly (Update | InvalidUpdate)[];
  /** How many of them to take at a time, and how many next: fewer, so that what fails is alone. */
  readonly atATime: number;
  readonly next: number;
  /** How often the first of them has failed, and how long that has taken, in milliseconds. */
  readonly failures: number;
  readonly spentMs: number;
  /** What the first of them has just failed with. */
  readonly failure: HandlerFailure | undefined;
  /** The same of the one behind those that are next, where these were rolled back with it. */
  readonly failureBehind: HandlerFailure | undefined;
  /** What the last attempt has led to. */
  readonly committed: Committed | undefined;
  /** How many updates that attempt has dealt with. */
  readonly taken: number;
}

/** Before the first attempt. */
export const startOfChunk = (chunk: Chunk, cursor: Cursor, atATime: number): Progress => ({
  chunk,
  cursor,
  todo: chunk.updates,
  atATime,
  next: atATime,
  failures: 0,
  spentMs: 0,
  failure: undefined,
  failureBehind: undefined,
  committed: undefined,
  taken: 0,
});

/** Behind an attempt that went well. */
export function progressAfter(progress: Progress, { done, handled, failure }: Done): Progress {
  const { chunk, cursor, todo, atATime, next, failureBehind } = progress;
  const isOver = done === todo.length;
  const saved = cursorAfter(cursor, todo.slice(0, done), isOver ? chunk.reached : undefined);
  const { offset, recordTimes } = saved;
  return {
    ...startOfChunk(chunk, saved, atATime),
    todo: todo.slice(done),
    failure: failure ?? (done === next ? failureBehind : undefined),
    committed: { offset, recordTimes, handled, isCaughtUp: isOver && chunk.isCaughtUp },
    taken: done,
  };
}

/** The same again, after an attempt that failed. */
export function onceMore(progress: Progress, changes: Partial<Progress>): Progress {
  return { ...progress, failure: undefined, failureBehind: undefined, committed: undefined, taken: 0, ...changes };
}
