import type * as t from 'io-ts';
import { Codec, invalid, readBy, under, wrong } from './Codec.js';

/** What a request may not say although each of its fields may. */
export interface Rule<F> {
  readonly field: string;
  readonly broken: (fields: F) => boolean;
  readonly expected: string;
}

/** A request whose fields obey the rules between them as well, and are completed by each other. `A` is what the rules leave of `F`. */
export function withRules<F, A extends F>(
  fields: t.Type<F, unknown>,
  rules: readonly Rule<F>[],
  completed: (fields: F) => F,
): t.Type<A, unknown> {
  const brokenBy = (f: F): readonly Rule<F>[] => rules.filter((rule) => rule.broken(f));
  const obeys = (f: F): f is A => brokenBy(f).length === 0;
  const read = readBy(fields);
  return new Codec<A>(
    fields.name,
    (u): u is A => fields.is(u) && obeys(u),
    (u, why) => {
      const decoded = read(u, why);
      if (decoded === invalid) return invalid;
      const request = completed(decoded);
      if (obeys(request)) return request;
      for (const { field, expected } of brokenBy(request)) wrong(u, under(why, field, fields, undefined), expected);
      return invalid;
    },
    (a) => fields.encode(completed(a)),
  );
}
