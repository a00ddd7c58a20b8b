import type * as t from 'io-ts';
import { flag, optional, repeated } from '../../codecs/internal/field.js';
import { message } from '../../codecs/internal/message.js';
import { Offset } from '../../codecs/scalars.js';
import { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { LastUpdate, type LedgerPosition, positionFields } from '../../history/LedgerPosition.js';

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
  /** The last update of a backfill that is not complete. */
  readonly lastUpdate?: LastUpdate | undefined;
  /** Whether its updates are at other offsets by now. */
  readonly isMoved?: boolean | undefined;
}

/**
 * The position of a processor in the updates of a ledger.
 */
export interface UpdatesPosition extends LedgerPosition {
  /** With `backfill`: which updates the handler was given so far. The last selection is that of the cursor. */
  readonly seen?: readonly SeenSelection[] | undefined;
}

/** Codec of `SeenSelection`. */
const SeenSelection: t.Type<SeenSelection, unknown> = message<SeenSelection>('SeenSelection', {
  updateFormat: UpdateFormat,
  after: Offset,
  until: optional(Offset),
  lastUpdate: optional(LastUpdate),
  isMoved: optional(flag),
});

/**
 * Codec of `UpdatesPosition`.
 */
export const UpdatesPosition: t.Type<UpdatesPosition, unknown> = message<UpdatesPosition>('UpdatesPosition', {
  ...positionFields,
  seen: optional(repeated(SeenSelection)),
});

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
