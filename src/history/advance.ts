import { isRecord } from '../codecs/internal/Codec.js';
import type { LastUpdate, LedgerPosition, RecordPoint } from '../codecs/LedgerPosition.js';
import { type Offset, Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isLater, timesOf } from '../operators/recordTimes.js';

/** Something that was read: an update, a checkpoint, or an update that cannot be decoded. */
export interface Read {
  readonly _tag: string;
  readonly offset: Offset;
  readonly updateId?: string | undefined;
  readonly synchronizerId?: string | undefined;
  readonly recordTime?: Timestamp | undefined;
}

/**
 * Returns the position after what was read.
 *
 * @param isAddressed - whether the offsets belong to the participant of the position. If not, only record times advance
 */
export function advance(position: LedgerPosition, read: readonly Read[], isAddressed = true): LedgerPosition {
  const last = read.at(-1);
  if (last === undefined) return position;
  const { offset, lastUpdate } = position;
  const recordTimes = timesAfter(position.recordTimes, read);
  return isAddressed
    ? { ...position, offset: last.offset, recordTimes, lastUpdate: lastAfter(lastUpdate, read) }
    : { ...position, offset, recordTimes, lastUpdate };
}

/**
 * Returns how far each synchronizer has been read by two readers, of which each has read up to the same offset. An update of
 * one is not the last one if the other has read further.
 */
export const joinTimes = (
  one: LedgerPosition['recordTimes'],
  other: LedgerPosition['recordTimes'],
): LedgerPosition['recordTimes'] =>
  Object.entries(other).reduce((times, [id, { recordTime, updateId }]) => {
    const before = times[id];
    const isPassed = before !== undefined && isLater(before.recordTime, recordTime);
    return isPassed ? times : { ...times, [id]: later(before, recordTime, updateId) };
  }, one);

function timesAfter(before: LedgerPosition['recordTimes'], read: readonly Read[]): LedgerPosition['recordTimes'] {
  const times = { ...before };
  read.forEach((element, index) => {
    if (isFollowed(element, read[index + 1])) return;
    const updateId = idOf(element);
    for (const { synchronizerId, recordTime } of pointsOf(element))
      times[synchronizerId] = later(times[synchronizerId], recordTime, updateId);
  });
  return times;
}

/** Whether a later update of the same synchronizer comes next, so that only that one counts. Most updates of a page are such. */
const isFollowed = (read: Read, next: Read | undefined): boolean =>
  next?.synchronizerId !== undefined &&
  next.synchronizerId === read.synchronizerId &&
  read.updateId !== undefined &&
  next.updateId !== undefined &&
  read.recordTime !== undefined &&
  next.recordTime !== undefined &&
  !isLater(read.recordTime, next.recordTime);

/** Returns the last update after something was read. */
export function lastAfter(last: LastUpdate | undefined, read: readonly Read[]): LastUpdate | undefined {
  // a completion is not an update
  const element = read.findLast(
    (each) => idOf(each) !== undefined || !['OffsetCheckpoint', 'Completion'].includes(each._tag),
  );
  if (element === undefined) return last;
  const updateId = idOf(element);
  // what has no ID would be read again after the update before it
  return updateId === undefined ? undefined : { offset: element.offset, updateId };
}

/** Returns the ID of something that was read; `undefined` if it has none, or if it is not readable. */
export function idOf(read: Read): string | undefined {
  if (read._tag !== 'UnknownUpdate') return read.updateId;
  const id = contentOf(read)?.['updateId'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The content of an update of an unknown variant, which is on the wire with or without the `value` that wraps updates. */
function contentOf(read: object): Readonly<Record<string, unknown>> | undefined {
  const value = 'value' in read ? read.value : undefined;
  if (!isRecord(value)) return undefined;
  return isRecord(value['value']) ? value['value'] : value;
}

/** Returns the synchronizers of something that was read, with their record times. */
export function pointsOf(read: Read): readonly { readonly synchronizerId: string; readonly recordTime: Timestamp }[] {
  const { synchronizerId, recordTime } = read;
  if (synchronizerId !== undefined && recordTime !== undefined) return [{ synchronizerId, recordTime }];
  // in 3.3, only its events name the synchronizer; of an update that does not decode, one of the two may be readable
  if (read._tag === 'OffsetCheckpoint' || read._tag === 'Reassignment') return timesOf(read as Update);
  const content = contentOf(read);
  const [id, time] = [content?.['synchronizerId'], content?.['recordTime']];
  return typeof id === 'string' && Timestamp.is(time) ? [{ synchronizerId: id, recordTime: time }] : [];
}

/**
 * Record times never go back: an update that appeared late is not the end of what was read. A checkpoint counts only before
 * the first update: what appears between that and the checkpoint was not read.
 */
function later(before: RecordPoint | undefined, recordTime: Timestamp, updateId: string | undefined): RecordPoint {
  if (updateId === undefined && before?.updateId !== undefined) return before;
  const isNew = before === undefined || !isLater(before.recordTime, recordTime);
  if (!isNew && updateId === undefined) return before;
  if (!isNew && before.updateId !== undefined) return before;
  return updateId === undefined ? { recordTime } : { recordTime, updateId };
}
