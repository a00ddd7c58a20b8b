import * as t from 'io-ts';

/** A string of at most `max` characters that matches a pattern; `expected` is what a failure says. */
export const matching = (name: string, pattern: RegExp, max: number, expected: string): t.Type<string, string> =>
  new t.Type<string, string, unknown>(
    name,
    (u): u is string => typeof u === 'string' && u.length <= max && pattern.test(u),
    (u, context) =>
      typeof u === 'string' && u.length <= max && pattern.test(u) ? t.success(u) : t.failure(u, context, expected),
    t.identity,
  );
