import { Offset } from '../Offset.js';
import { isRecord } from './isRecord.js';
import { offsetWithin } from './offsetWithin.js';
import type { Unknown } from './oneOf.js';

interface Placed<T> {
  readonly _tag: T;
  readonly variant: string;
  readonly offset: Offset;
  readonly value: unknown;
}

/** The variant for what nobody knows but has an offset, by which it can be placed. */
export const unknownAt = <T extends string>(_tag: T): Unknown<Placed<T>> => ({
  is: (u): u is Placed<T> => isRecord(u) && u['_tag'] === _tag && Offset.is(u['offset']),
  decode: (variant, value) => {
    const offset = offsetWithin(value);
    return offset === undefined ? undefined : { _tag, variant, offset, value };
  },
  expected: 'an offset',
});
