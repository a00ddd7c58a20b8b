import type * as t from 'io-ts';
import { Codec, invalid, readBy, under, wrong } from './Codec.js';

/** How many problems of a list are told: of millions, each would take more memory than what it tells of. */
const enough = 100;

/** A list, of at least and at most so many items. */
export function list<A>(
  item: t.Type<A, unknown>,
  least = 0,
  most = Infinity,
  expected = `Array<${item.name}>`,
): t.Type<readonly A[], unknown> {
  const read = readBy(item);
  const fits = (u: unknown): u is readonly unknown[] => Array.isArray(u) && u.length >= least && u.length <= most;
  return new Codec<readonly A[]>(
    `Array<${item.name}>`,
    (u): u is readonly A[] => fits(u) && u.every(item.is),
    (u, why) => {
      if (!fits(u)) return wrong(u, why, expected);
      const decoded: A[] = [];
      const before = why?.errors.length ?? 0;
      for (let i = 0; i < u.length; i += 1) {
        const a = read(u[i], why && under(why, String(i), item, u[i]));
        if (a !== invalid) decoded.push(a);
        else if (why === undefined || why.errors.length - before >= enough) return invalid;
      }
      return decoded.length === u.length ? decoded : invalid;
    },
    (a) => a.map(item.encode),
  );
}
