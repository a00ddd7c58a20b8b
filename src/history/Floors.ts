import type { Offset, Timestamp } from '../codecs/scalars.js';
import { isLater } from '../operators/recordTimes.js';
import { idOf, pointsOf, type Read } from './positions.js';

/** What was read of a synchronizer: everything up to an offset, or up to a record time if no offset is known. */
export interface Floor {
  readonly synchronizerId: string;
  readonly recordTime: Timestamp;
  readonly upTo: Offset | undefined;
  /** The last update that was read, if it is known. */
  readonly updateId?: string | undefined;
  /** Whether the participant has nothing of the synchronizer but what it has pruned: then nothing of it needs to come again. */
  readonly isPruned?: boolean;
}

/** Whether the last update that was read of a synchronizer has not come again yet. */
export const isMissing = ({ upTo, updateId }: Floor): boolean => upTo === undefined && updateId !== undefined;

/** What was read of each synchronizer before a reader began again, maybe at other offsets. It is left out. */
export class Floors {
  readonly #floors: ReadonlyMap<string, Floor>;
  readonly #open: Set<string>;

  /** @param open - those of the synchronizers of which the rest of what was read may still come */
  constructor(floors: readonly Floor[], open: readonly Floor[] = []) {
    this.#floors = new Map(floors.map((floor) => [floor.synchronizerId, floor]));
    this.#open = new Set(open.map(({ synchronizerId }) => synchronizerId));
  }

  /** Whether everything that was read before was passed. */
  get arePassed(): boolean {
    return [...this.#open].every((synchronizerId) => this.#floors.get(synchronizerId)?.isPruned === true);
  }

  /** Whether something was read before. Call it once for each update, in order. */
  wasRead(read: Read): boolean {
    const below = pointsOf(read).map(({ synchronizerId, recordTime }) => {
      const floor = this.#floors.get(synchronizerId);
      if (floor === undefined) return false;
      const isBelow = isUpTo(floor, read, recordTime);
      if (!isBelow || isLastOf(floor, read)) this.#open.delete(synchronizerId);
      return isBelow;
    });
    return read._tag !== 'OffsetCheckpoint' && below.length > 0 && below.every(Boolean);
  }

  /**
   * Whether an update follows the last one of its synchronizer that was read, and that one has not come again: then the ledger
   * may have lost it.
   */
  lacksRead(updates: Iterable<Read>): boolean {
    const seen = new Set<string>();
    for (const read of updates) {
      if (read._tag === 'OffsetCheckpoint') continue;
      for (const { synchronizerId, recordTime } of pointsOf(read)) {
        const floor = this.#open.has(synchronizerId) ? this.#floors.get(synchronizerId) : undefined;
        if (floor?.updateId === undefined || floor.upTo !== undefined || seen.has(synchronizerId)) continue;
        if (isLastOf(floor, read)) seen.add(synchronizerId);
        else if (!isUpTo(floor, read, recordTime)) return true;
      }
    }
    return false;
  }
}

/** Whether an update of a synchronizer is among those that were read. */
function isUpTo({ upTo, recordTime: last, updateId }: Floor, read: Read, recordTime: Timestamp): boolean {
  if (isLater(last, recordTime)) return true;
  // several updates may have one record time, as after a repair
  const isSameTime = !isLater(recordTime, last);
  if (updateId !== undefined && idOf(read) === updateId) return true;
  return isSameTime && (upTo === undefined ? updateId === undefined : read.offset <= upTo);
}

/** Whether everything later was not read. */
const isLastOf = ({ upTo, updateId }: Floor, read: Read): boolean =>
  upTo === undefined ? updateId !== undefined && idOf(read) === updateId : read.offset === upTo;
