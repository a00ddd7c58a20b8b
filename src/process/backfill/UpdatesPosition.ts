import type * as t from 'io-ts';
import { flag, optional, repeated } from '../../codecs/internal/field.js';
import { message } from '../../codecs/internal/message.js';
import { Offset } from '../../codecs/scalars.js';
import { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { LastUpdate, LedgerPosition, positionFields } from '../../codecs/LedgerPosition.js';

/**
 * A selection whose updates a handler was given, from one offset to another.
 */
export interface SeenSelection {
  /** The selection. */
  readonly updateFormat: UpdateFormat;
  /** The offset after which they begin. */
  readonly after: Offset;
  /**
   * The last offset. Absent for the selection of the cursor, which was read up to the offset of the cursor. Of that one, it
   * shows that a backfill is not complete, and how far it has come.
   */
  readonly until?: Offset | undefined;
  /** The last update of it that was read. It shows that the ledger is the same. Absent for the selection of the cursor. */
  readonly lastUpdate?: LastUpdate | undefined;
  /** How far a backfill that is not complete has read each synchronizer. */
  readonly recordTimes?: LedgerPosition['recordTimes'] | undefined;
  /** Whether its updates are at other offsets by now. */
  readonly isMoved?: boolean | undefined;
}

/**
 * The position of a processor in the updates of a ledger.
 */
export interface UpdatesPosition extends LedgerPosition {
  /** With `backfill`: which updates the handler was given so far. The last selection is that of the cursor. */
  readonly seen?: readonly SeenSelection[] | undefined;
  /**
   * Set if the cursor was moved back: where it was before. Nothing proves a bare offset, so this position proves that the ledger
   * is the same, and has the same offsets. The first update removes it.
   */
  readonly rewoundFrom?: LedgerPosition | undefined;
}

/** Codec of `SeenSelection`. */
const SeenSelection: t.Type<SeenSelection, unknown> = message<SeenSelection>('SeenSelection', {
  updateFormat: UpdateFormat,
  after: Offset,
  until: optional(Offset),
  lastUpdate: optional(LastUpdate),
  recordTimes: optional(positionFields.recordTimes),
  isMoved: optional(flag),
});

/**
 * Codec of `UpdatesPosition`.
 */
export const UpdatesPosition: t.Type<UpdatesPosition, unknown> = message<UpdatesPosition>('UpdatesPosition', {
  ...positionFields,
  seen: optional(repeated(SeenSelection)),
  rewoundFrom: optional(LedgerPosition),
});

/** Returns a stored position, which is valid, without the `null`s that a store may return for absent fields. */
export const withoutNulls = (stored: UpdatesPosition): UpdatesPosition => {
  const decoded = UpdatesPosition.decode(stored);
  return decoded._tag === 'Right' ? decoded.right : stored;
};

/**
 * By offset, and then by how far a backfill has come: the past is complete before anything after the offset is read. Before that,
 * it is not known what the handler was given.
 */
export const compareUpdates = (a: UpdatesPosition, b: UpdatesPosition): number =>
  a.offset - b.offset || pastOf(a) - pastOf(b);

/** How far the past of the selection was read. */
const pastOf = ({ seen }: UpdatesPosition): number =>
  // a store may return null for an absent field
  (seen ?? null) === null ? -1 : (seen?.at(-1)?.until ?? Number.MAX_SAFE_INTEGER);
