import * as t from 'io-ts';

/** A list; absent (3.3 leaves some out) and `null` are the empty list. */
export const repeated = <A>(item: t.Type<A, unknown>): t.Type<readonly A[], unknown> => {
  const list = t.readonlyArray(item);
  return new t.Type<readonly A[], unknown, unknown>(
    list.name,
    (u): u is readonly A[] => list.is(u),
    (u, context) => (u === undefined || u === null ? t.success([]) : list.validate(u, context)),
    (a) => list.encode(a),
  );
};
