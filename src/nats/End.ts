import * as t from 'io-ts';
import { message } from '../codecs/internal/message.js';
import { whole } from '../codecs/internal/whole.js';

/** What a stream has last, or a reader has read last. */
export interface End {
  /** The message's sequence number; 0 before the first. */
  readonly sequence: number;
  /** Its update's offset; 0, before every update, where there is none. */
  readonly offset: number;
}

const counted = (name: string): t.Type<number, unknown> => whole(name, 0, Infinity, 'a whole number');

/** Codec of `End`. */
export const End: t.Type<End, unknown> = message<End>('End', {
  sequence: counted('Sequence'),
  offset: counted('Offset'),
});

/** What a relay remembers of itself. */
export interface RelayPlace {
  /** The processor whose relay it is. */
  readonly name: string;
  /** The end of the stream as it was when the cursor was saved. */
  readonly end: End;
  /** The processor's cursor. */
  readonly cursor: unknown;
}

/** Codec of `RelayPlace`. */
export const RelayPlace: t.Type<RelayPlace, unknown> = message<RelayPlace>('RelayPlace', {
  name: t.string,
  end: End,
  cursor: t.unknown,
});
