import * as t from 'io-ts';
import { mapOf } from '../codecs/internal/collection.js';
import { optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset, Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { InvalidUpdate } from '../feed/UpdatesOptions.js';
import { isLater, timesOf } from '../operators/internal/times.js';

/** How far a processor has come, as a {@link CheckpointStore} keeps it: plain JSON. */
export interface Cursor {
  /** Of this record's form. */
  readonly version: 1;
  /** Everything up to here has been handled, or does not concern the processor. */
  readonly offset: Offset;
  /** The last update at or before the offset; it tells whether the ledger is still the same one. */
  readonly lastUpdate?: LastUpdate | undefined;
  /** The latest record time of each synchronizer, by its id. */
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /** The participant whose offsets these are, where it says its id. */
  readonly participantId?: string | undefined;
  /** Stands for what the request selects: the same for the same updates, whatever the order of parties and filters. */
  readonly selection: string;
}

/** An update by place and id. */
export interface LastUpdate {
  /** Where it stands. */
  readonly offset: Offset;
  /** Its id, the same on every participant. */
  readonly updateId: string;
}

/** Codec of `Cursor`; a record of a later version does not decode. */
export const Cursor: t.Type<Cursor, unknown> = message<Cursor>('Cursor', {
  version: t.literal(1),
  offset: Offset,
  lastUpdate: optional(message<LastUpdate>('LastUpdate', { offset: Offset, updateId: text })),
  recordTimes: mapOf(text, Timestamp),
  participantId: optional(text),
  selection: text,
});

/**
 * The cursor behind some updates, or at an offset behind them. One that goes back is of a ledger that was reset: nothing that
 * was known of it is true any more.
 */
export function cursorAfter(cursor: Cursor, updates: readonly (Update | InvalidUpdate)[], offset?: Offset): Cursor {
  const reached = offset ?? updates.at(-1)?.offset ?? cursor.offset;
  const isBack = reached < cursor.offset;
  const recordTimes = new Map(isBack ? [] : Object.entries(cursor.recordTimes));
  let lastUpdate = isBack ? undefined : cursor.lastUpdate;
  for (const update of updates) {
    if (update._tag === 'InvalidUpdate') continue;
    if ('updateId' in update) lastUpdate = { offset: update.offset, updateId: update.updateId };
    for (const { synchronizerId, recordTime } of timesOf(update)) {
      const before = recordTimes.get(synchronizerId);
      if (before === undefined || isLater(recordTime, before)) recordTimes.set(synchronizerId, recordTime);
    }
  }
  return {
    ...cursor,
    offset: reached,
    lastUpdate: lastUpdate !== undefined && lastUpdate.offset <= reached ? lastUpdate : undefined,
    recordTimes: Object.fromEntries(recordTimes),
  };
}
