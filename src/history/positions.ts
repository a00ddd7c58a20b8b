import { defer, map, type OperatorFunction } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { bareOffset, type LedgerPosition, type LastUpdate, type RecordPoint } from '../codecs/LedgerPosition.js';
import { isRecord } from '../codecs/internal/Codec.js';
import { type Offset, Timestamp } from '../codecs/scalars.js';
import { isLater, timesOf } from '../operators/recordTimes.js';

/**
 * Consecutive items of a source, and where a reader is after them.
 *
 * @category Processing
 */
export interface Batch<A, P = LedgerPosition> {
  /** The items, in order. */
  readonly items: readonly A[];
  /** The position up to which the source has been read with them. */
  readonly position: P;
  /** Whether the source was not known to have more. */
  readonly isCaughtUp: boolean;
  /** Whether the source ends with them. */
  readonly isLast?: boolean | undefined;
  /** The error with which the source ends after them. */
  readonly failure?: Failure | undefined;
}

/**
 * An error that ends a source of batches.
 *
 * @inline
 */
interface Failure {
  /** What failed. */
  readonly error: unknown;
}

/** Where the updates of a page are in the history of a ledger. */
export interface Origin {
  /** What was read before the page. */
  readonly before: LedgerPosition;
  /** Whether the offsets of the updates belong to the participant of that position. */
  readonly isAddressed: boolean;
}

/** A page, for the position of each of its updates. */
interface Page extends Origin {
  /** Each update after which one of another synchronizer comes, in order: a subscriber may not see it. */
  readonly turns: readonly Read[];
}

/** Notes of which page updates are. Returns the updates. */
export function withOrigin<A extends Read>(updates: readonly A[], origin: Origin): readonly A[] {
  const turns = updates.slice(0, -1).flatMap((update, index) => {
    const { synchronizerId } = update;
    return synchronizerId !== undefined && synchronizerId === updates[index + 1]?.synchronizerId ? [] : turnOf(update);
  });
  const page = { ...origin, turns };
  for (const update of updates) Labelled.label(update, page);
  return updates;
}

/** Returns what a position needs of an update. The events would keep the memory of the whole page. */
const turnOf = (update: Read): readonly Read[] =>
  update._tag === 'OffsetCheckpoint'
    ? [update]
    : pointsOf(update).map((point) => ({ _tag: 'Read', offset: update.offset, updateId: idOf(update), ...point }));

/** A constructor that returns what it is given, so that a subclass adds its private field to an object that exists. */
const Existing = function (object: object) {
  return object;
} as unknown as new (object: object) => object;

/**
 * An update with a private field for its page. An update is plain data, and stays so: copies, comparisons and JSON do not see
 * the field. A WeakMap of all updates would cost the garbage collector as much as it takes to decode them.
 */
class Labelled extends Existing {
  #page: Page;

  private constructor(update: object, page: Page) {
    super(update);
    this.#page = page;
  }

  static label(update: object, page: Page): void {
    if (#page in update) update.#page = page;
    else new Labelled(update, page);
  }

  static pageOf(update: object): Page | undefined {
    return #page in update ? update.#page : undefined;
  }
}

/**
 * Pairs each update with the position after it: to store, and to pass to `updates({ after: position })`, which continues from
 * there, also after the participant was restored from a backup, and with `onOtherNode: 'relocate'` on another participant.
 *
 * The position knows what the feed has read, also if operators before it have left out updates. The updates must be those of
 * `ledger.updates`, as they are: of copies, the position does not know the participant.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger, positions } from 'canton-rx';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger
 *   .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(positions(), take(3))
 *   .subscribe(([update, position]) => {
 *     console.log(update.offset, JSON.stringify(position));
 *   });
 * ```
 * @category Operators
 */
export const positions =
  <
    A extends {
      /** The kind of what was read. */
      readonly _tag: string;
      /** Its position on this participant's ledger. */
      readonly offset: number;
    },
  >(): OperatorFunction<A, readonly [update: A, position: LedgerPosition]> =>
  (source) =>
    defer(() => {
      let page: Page | undefined;
      let passed = 0;
      let position = bareOffset(0);
      return source.pipe(
        map((update) => {
          const own = Labelled.pageOf(update);
          if (own !== page) {
            position = own?.before ?? position;
            passed = 0;
          }
          page = own;
          const first = passed;
          while ((own?.turns[passed]?.offset ?? Infinity) < update.offset) passed += 1;
          const before = own?.turns.slice(first, passed) ?? [];
          position = advance(position, [...before, update], own?.isAddressed);
          return [update, position] as const;
        }),
      );
    });

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
