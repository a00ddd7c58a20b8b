import * as t from 'io-ts';
import { mapOf } from '../codecs/internal/mapOf.js';
import { message } from '../codecs/internal/message.js';
import { optional } from '../codecs/internal/optional.js';
import { text } from '../codecs/internal/text.js';
import { Offset } from '../codecs/Offset.js';
import { Timestamp } from '../codecs/Timestamp.js';

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
