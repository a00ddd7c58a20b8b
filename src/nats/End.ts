import * as t from 'io-ts';
import { message } from '../codecs/internal/message.js';
import { whole } from '../codecs/internal/whole.js';

/** What a stream has last. */
export interface End {
  /** The stream's last sequence number; 0 of a new stream. */
  readonly sequence: number;
  /** The offset of its last update; 0 of a new stream, before every update. */
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
