import type * as t from 'io-ts';
import { Codec } from './Codec.js';

/** The `_tag` of a variant: ours, not the wire's, so it is put in when decoding and left out when encoding. */
export const tag = <T extends string>(name: T): t.Type<T, unknown> =>
  new Codec<T>(
    `'${name}'`,
    (u): u is T => u === name,
    () => name,
    () => undefined,
  );
