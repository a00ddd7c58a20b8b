import * as t from 'io-ts';
import { mapOf, optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { formatProblem, problemsOf } from '../codecs/Problem.js';
import { Offset, Timestamp } from '../codecs/scalars.js';
import { CursorError } from '../errors/process.js';

/**
 * A position in a source.
 *
 * @category Processing
 */
export interface FeedPosition {
  /** The ledger offset up to which everything has been read. */
  readonly offset: Offset;
}

/**
 * The progress of a processor, as a {@link CheckpointStore} saves it: plain JSON. If the source is not a ledger, it has
 * additional fields for the position in the source.
 *
 * @category Processing
 */
export interface Cursor extends FeedPosition {
  /** The version of this format. */
  readonly version: 1;
  /** The offset up to which every update has been handled or does not concern the processor. */
  readonly offset: Offset;
  /** The last update at or before the offset. After a restart it proves that the ledger is still the same. */
  readonly lastUpdate?: LastUpdate | undefined;
  /** The latest record time of each synchronizer, by synchronizer ID. */
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /** The participant to which the offsets belong; absent if it does not report its ID. */
  readonly participantId?: string | undefined;
  /** A hash of what the request selects. It does not depend on the order of parties and filters. */
  readonly selection: string;
}

/**
 * The offset and ID of an update.
 *
 * @category Processing
 */
export interface LastUpdate {
  /** The offset of the update. */
  readonly offset: Offset;
  /** The ID of the update, which is the same on every participant. */
  readonly updateId: string;
}

/** Codec of `LastUpdate`. */
export const LastUpdate: t.Type<LastUpdate, unknown> = message<LastUpdate>('LastUpdate', {
  offset: Offset,
  updateId: text,
});

/**
 * Codec of `Cursor`. It rejects a record of a later version.
 *
 * @category Processing
 */
export const Cursor: t.Type<Cursor, unknown> = message<Cursor>('Cursor', {
  version: t.literal(1),
  offset: Offset,
  lastUpdate: optional(LastUpdate),
  recordTimes: mapOf(text, Timestamp),
  participantId: optional(text),
  selection: text,
});

/** Decodes a record of a processor's store. Throws a {@link CursorError} if it cannot be decoded. */
export function decodeRecord<A>(codec: t.Decoder<unknown, A>, processor: string, record: unknown): A {
  const result = codec.decode(record);
  if (result._tag === 'Right') return result.right;
  throw new CursorError('unreadable', processor, problemsOf(result.left).map(formatProblem).join(', '));
}
