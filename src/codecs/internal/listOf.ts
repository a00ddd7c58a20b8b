import * as t from 'io-ts';

/** A list of a request: at least `min` items. */
export const listOf = <A>(item: t.Type<A, unknown>, min = 0): t.Type<readonly A[], unknown> => {
  const list = t.readonlyArray(item);
  return new t.Type<readonly A[], unknown, unknown>(
    list.name,
    (u): u is readonly A[] => list.is(u) && u.length >= min,
    (u, context) =>
      Array.isArray(u) && u.length < min
        ? t.failure(u, context, `a list of at least ${min}`)
        : list.validate(u, context),
    (a) => list.encode(a),
  );
};
