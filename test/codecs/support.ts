import { readFileSync } from 'node:fs';
import { either as E, function as F } from 'fp-ts';
import type * as t from 'io-ts';
import { formatProblem, problemsOf } from '../../src/codecs/Problem.js';

/** The decoded value. Throws the problems of a value that cannot be decoded. */
export const decode = <A>(codec: t.Decoder<unknown, A>, wire: unknown): A =>
  F.pipe(
    codec.decode(wire),
    E.getOrElseW((errors) => {
      throw new Error(problemsOf(errors).map(formatProblem).join('\n'));
    }),
  );

/** The problems of a value; none if it can be decoded. */
export const problemsIn = (codec: t.Decoder<unknown, unknown>, wire: unknown): readonly string[] =>
  F.pipe(
    codec.decode(wire),
    E.match(
      (errors) => problemsOf(errors).map(formatProblem),
      () => [],
    ),
  );

/** A value after a round trip through JSON. */
export const jsonRoundTrip = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A wire sample of test/fixtures/wire. */
export const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/wire/${name}.json`, import.meta.url), 'utf8'));

/** A part of a fixture. */
export function sample(name: string, ...path: readonly (string | number)[]): unknown {
  let at: unknown = fixture(name);
  for (const key of path) at = isObject(at) ? at[key] : undefined;
  if (at === undefined) throw new Error(`${name}.json has no ${path.join('.')}`);
  return at;
}

/** The keys of a JSON object. */
export const keysOf = (json: unknown): readonly string[] => (isObject(json) ? Object.keys(json) : []);

/** A copy of a JSON object with the value at a path replaced; `undefined` removes the field. */
export function replaceAt(json: unknown, path: string, value: unknown): unknown {
  const copy = jsonRoundTrip(json);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at: unknown = copy;
  for (const key of keys) at = isObject(at) ? at[key] : undefined;
  if (!isObject(at)) throw new Error(`nothing at ${path}`);
  at[last] = value;
  return jsonRoundTrip(copy);
}

const damlFields = new Set([
  'contractKey',
  'createArgument',
  'createArguments',
  'choiceArgument',
  'exerciseResult',
  'viewValue',
]);

/** A JSON value without the fields that are `null`, except within Daml values and in the fields of `keep`. */
export function dropNulls(json: unknown, keep: readonly string[] = []): unknown {
  if (Array.isArray(json)) return json.map((item) => dropNulls(item, keep));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .filter(([key, value]) => value !== null || keep.includes(key))
      .map(([key, value]) => [key, damlFields.has(key) ? value : dropNulls(value, keep)]),
  );
}

/** A codec of any type, for tables of codecs. It encodes only its own values. */
export interface AnyCodec extends t.Decoder<unknown, unknown> {
  readonly is: (u: unknown) => boolean;
  readonly encode: (value: unknown) => unknown;
}

export const anyCodec = <A>(codec: t.Type<A, unknown>): AnyCodec => ({
  name: codec.name,
  is: (u) => codec.is(u),
  validate: (u, context) => codec.validate(u, context),
  decode: (u) => codec.decode(u),
  encode: (value) => {
    if (!codec.is(value)) throw new Error(`not a value of ${codec.name}`);
    return codec.encode(value);
  },
});

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === 'object' && u !== null;

/**
 * A value with its objects as sorted lists of entries, for `toStrictEqual`, which fails on own keys such as `constructor`
 * and `__proto__`. Keys with the value `undefined` are kept.
 */
export function toEntries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toEntries);
  if (!isObject(value)) return value;
  const own = Object.entries(value).map(([key, content]): readonly [string, unknown] => [key, toEntries(content)]);
  return { object: own.sort(([one], [other]) => (one < other ? -1 : 1)) };
}
