import * as t from 'io-ts';
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
  const known = new Map<string, t.Type<A, unknown>>(Object.entries(variants));
  return new t.Type<A | U, unknown, unknown>(
    name,
    (u): u is A | U => isRecord(u) && (unknown.is(u) || (known.get(String(u['_tag']))?.is(u) ?? false)),
    (u, context) => {
      const [variant, ...more] = isRecord(u) ? Object.keys(u) : [];
      if (!isRecord(u) || variant === undefined || more.length > 0) return t.failure(u, context);
      const content = u[variant];
      const codec = known.get(variant);
      if (codec !== undefined) return codec.validate(content, t.appendContext(context, variant, codec, content));
      const decoded = unknown.decode(variant, content);
      return decoded === undefined
        ? t.failure(content, t.appendContext(context, named(variant), json, content), unknown.expected)
        : t.success(decoded);
    },
    (a) => {
      if (unknown.is(a)) return { [a.variant]: a.value };
      return { [a._tag]: known.get(a._tag)?.encode(a) };
    },
  );
}
