import type * as t from 'io-ts';
import { message } from '../codecs/internal/message.js';
import { optional } from '../codecs/internal/optional.js';
import { text } from '../codecs/internal/text.js';
import { whole } from '../codecs/internal/whole.js';
import { Offset } from '../codecs/Offset.js';
import { Timestamp } from '../codecs/Timestamp.js';
import type { Update } from '../codecs/Update.js';
import { UpdateElement } from '../codecs/UpdateElement.js';

/** An update that could not be handled and was put aside. */
export interface Parked {
  /** Where it stands on the ledger. */
  readonly offset: Offset;
  /** Its id, where it has one. */
  readonly updateId?: string | undefined;
  /** The update; absent for one that does not decode. */
  readonly update?: Update | undefined;
  /** Why it could not be handled: the message of the handler's last error, or what does not decode. */
  readonly reason: string;
  /** How many times it was tried. */
  readonly attempts: number;
  /** When it was put aside, by this machine's clock. */
  readonly parkedAt: Timestamp;
}

/** Codec of `Parked`; it encodes to plain JSON with the update in the wire's own form. */
export const Parked: t.Type<Parked, unknown> = message<Parked>('Parked', {
  offset: Offset,
  updateId: optional(text),
  update: optional(UpdateElement),
  reason: text,
  attempts: whole('Attempts', 0, Infinity, 'a whole number'),
  parkedAt: Timestamp,
});
