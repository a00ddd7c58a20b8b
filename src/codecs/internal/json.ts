import * as t from 'io-ts';

/** Any JSON value of a request, `null` too; but it must be there. */
export const json: t.Type<unknown, unknown> = new t.Type<unknown, unknown, unknown>(
  'Json',
  (u): u is unknown => u !== undefined,
  (u, context) => (u === undefined ? t.failure(u, context, 'a JSON value') : t.success(u)),
  t.identity,
);
