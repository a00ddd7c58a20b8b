import type * as t from 'io-ts';
import { Codec, readBy, under, wrong } from './Codec.js';
import { isRecord } from './isRecord.js';
import { json } from './json.js';

interface Tagged {
  readonly _tag: string;
}

/** A variant that is kept as it came. */
interface Kept extends Tagged {
  readonly variant: string;
  readonly value: unknown;
}

/** The variant that stands for all those this version does not know. */
export interface Unknown<U extends Kept> {
  readonly is: (u: unknown) => u is U;
  /** `undefined` where the content lacks what makes it usable; `expected` says what. */
  readonly decode: (variant: string, content: unknown) => U | undefined;
  readonly expected: string;
}

/** How a variant is called where a problem is told: what is no name may be anything, of any length. */
const named = (variant: string): string => (/^\w{1,80}$/.test(variant) ? variant : '…');

/**
 * A one-of of the wire, an object with one key: the variant's name. Decodes to the variant, which carries that name as
 * its `_tag`; a name that is not listed goes to `unknown`, so that a newer ledger does not end a feed.
 */
export function oneOf<A extends Tagged, U extends Kept>(
  name: string,
  variants: { readonly [T in A['_tag']]: t.Type<Extract<A, { readonly _tag: T }>, unknown> },
  unknown: Unknown<U>,
): t.Type<A | U, unknown> {
  const codecs = new Map<string, t.Type<A, unknown>>(Object.entries(variants));
  const reads = new Map(Array.from(codecs, ([variant, codec]) => [variant, readBy(codec)]));
  return new Codec<A | U>(
    name,
    (u): u is A | U => isRecord(u) && (unknown.is(u) || (codecs.get(String(u['_tag']))?.is(u) ?? false)),
    (u, why) => {
      if (!isRecord(u)) return wrong(u, why);
      let variant: string | undefined;
      let content: unknown;
      for (const key in u) {
        if (variant !== undefined) {
          if (Object.hasOwn(u, key)) return wrong(u, why);
          break; // what somebody put on the prototype of all objects comes last
        }
        variant = key;
        content = u[key];
      }
      if (variant === undefined) return wrong(u, why);
      const read = reads.get(variant);
      if (read !== undefined) return read(content, why && under(why, variant, codecs.get(variant) ?? json, content));
      const decoded = unknown.decode(variant, content);
      return decoded ?? wrong(content, under(why, named(variant), json, content), unknown.expected);
    },
    (a) => {
      if (unknown.is(a)) return { [a.variant]: a.value };
      return { [a._tag]: codecs.get(a._tag)?.encode(a) };
    },
  );
}
