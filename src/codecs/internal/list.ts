import * as t from 'io-ts';
import { addAll } from './addAll.js';

/** How many problems of a list are told: of millions, each would take more memory than what it tells of. */
const enough = 100;

/** A list, of at least and at most so many items. */
export const list = <A>(
  item: t.Type<A, unknown>,
  least = 0,
  most = Infinity,
  expected = `Array<${item.name}>`,
): t.Type<readonly A[], unknown> => {
  const fits = (u: unknown): u is readonly unknown[] => Array.isArray(u) && u.length >= least && u.length <= most;
  return new t.Type<readonly A[], unknown>(
    `Array<${item.name}>`,
    (u): u is readonly A[] => fits(u) && u.every(item.is),
    (u, context) => {
      if (!fits(u)) return t.failure(u, context, expected);
      const errors: t.Errors = [];
      const decoded: A[] = [];
      for (const [i, element] of u.entries()) {
        const result = item.validate(element, t.appendContext(context, String(i), item, element));
        if (result._tag === 'Left') addAll(errors, result.left);
        else decoded.push(result.right);
        if (errors.length >= enough) break;
      }
      return errors.length > 0 ? t.failures(errors) : t.success(decoded);
    },
    (a) => a.map(item.encode),
  );
};
