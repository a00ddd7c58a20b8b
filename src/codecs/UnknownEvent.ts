import { isRecord } from './internal/isRecord.js';
import type { Unknown } from './internal/oneOf.js';
import { offsetWithin } from './internal/offsetWithin.js';
import { Offset } from './Offset.js';

/** An event of a kind that this version does not know: passed on as it came. */
export interface UnknownEvent {
  /** The kind of event. */
  readonly _tag: 'UnknownEvent';
  /** The wire's name of the kind. */
  readonly variant: string;
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** What stands under that name, undecoded. */
  readonly value: unknown;
}

/** @internal */
export const unknownEvent: Unknown<UnknownEvent> = {
  is: (u): u is UnknownEvent => isRecord(u) && u['_tag'] === 'UnknownEvent' && Offset.is(u['offset']),
  decode: (variant, value) => {
    const offset = offsetWithin(value);
    return offset === undefined ? undefined : { _tag: 'UnknownEvent', variant, offset, value };
  },
  expected: 'an offset, by which an event of an unknown kind can be placed',
  encode: ({ variant, value }) => ({ [variant]: value }),
};
