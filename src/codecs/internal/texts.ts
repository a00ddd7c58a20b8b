import type * as t from 'io-ts';
import { Codec, readBy } from './Codec.js';
import { repeated } from './repeated.js';
import { text } from './text.js';

const copied = repeated(text);

/** The strings of an answer, as {@link repeated}: there are many such lists, so they are not copied. */
export const texts: t.Type<readonly string[], unknown> = new Codec<readonly string[]>(
  copied.name,
  copied.is,
  readBy(copied),
  copied.encode,
  { kind: 'texts' },
);
