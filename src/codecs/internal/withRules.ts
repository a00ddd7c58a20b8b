import * as t from 'io-ts';

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
  return new t.Type<A, unknown, unknown>(
    fields.name,
    (u): u is A => fields.is(u) && obeys(u),
    (u, context) => {
      const result = fields.validate(u, context);
      if (result._tag === 'Left') return result;
      const request = completed(result.right);
      if (obeys(request)) return t.success(request);
      return t.failures(
        brokenBy(request).map(({ field, expected }) => ({
          value: u,
          context: t.appendContext(context, field, fields),
          message: expected,
        })),
      );
    },
    (a) => fields.encode(completed(a)),
  );
}
