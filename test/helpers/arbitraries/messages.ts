import fc from 'fast-check';

type OptionalKey<A> = { [K in keyof A]-?: object extends Pick<A, K> ? K : never }[keyof A];
type Required<A> = { readonly [K in Exclude<keyof A, OptionalKey<A>>]: fc.Arbitrary<A[K]> };
type Optional<A> = { readonly [K in OptionalKey<A>]-?: fc.Arbitrary<NonNullable<A[K]> | null> };
type Present<A> = {
  readonly [K in OptionalKey<A>]-?: fc.Arbitrary<unknown extends A[K] ? unknown : NonNullable<A[K]>>;
};
type Models = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Any JSON value, as `JSON.parse` gives it. */
export const jsonArbitrary: fc.Arbitrary<unknown> = fc.json({ maxDepth: 2 }).map((text): unknown => JSON.parse(text));

/** Any JSON value but `null`, which at the top of a field means that the field is absent. */
export const presentJsonArbitrary: fc.Arbitrary<unknown> = jsonArbitrary.filter((value) => value !== null);

/** Fields of a newer ledger, with names that must do no harm. */
export const extraFieldsArbitrary: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom('sinceThen', '__proto__', 'constructor', 'hasOwnProperty'), jsonArbitrary), {
        maxLength: 2,
      })
      .map((entries): Readonly<Record<string, unknown>> => Object.fromEntries(entries)),
  },
);

/** Decoded messages of an answer: the required fields, some of the optional ones, at times fields of a newer ledger. */
export function messageOf<A extends object>(required: Required<A>, optional: Present<A>): fc.Arbitrary<A>;
export function messageOf(required: Models, optional: Models): fc.Arbitrary<object> {
  return fc
    .tuple(
      extraFieldsArbitrary,
      fc.record(optional, { requiredKeys: [], noNullPrototype: true }),
      fc.record(required, { noNullPrototype: true }),
    )
    .map(([extra, some, all]) => ({ ...extra, ...some, ...all }));
}

/** Messages of a request: an optional field is there, absent, `undefined`, or the `null` of the ledger's own examples. */
export function requestOf<A extends object>(required: Required<A>, optional: Optional<A>): fc.Arbitrary<A>;
export function requestOf(required: Models, optional: Models): fc.Arbitrary<object> {
  const lenient = Object.fromEntries(
    Object.entries(optional).map(([key, arbitrary]) => [
      key,
      fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) }),
    ]),
  );
  return fc
    .tuple(
      fc.record(lenient, { requiredKeys: [], noNullPrototype: true }),
      fc.record(required, { noNullPrototype: true }),
    )
    .map(([some, all]) => ({ ...some, ...all }));
}
