import { readFileSync } from 'node:fs';
import { either as E, function as F } from 'fp-ts';
import type * as t from 'io-ts';
import { formatProblem, problemsOf } from '../../src/codecs/Problem.js';

/** What a value decodes to; throws the problems where it does not. */
export const decoded = <A>(codec: t.Decoder<unknown, A>, wire: unknown): A =>
  F.pipe(
    codec.decode(wire),
    E.getOrElseW((errors) => {
      throw new Error(problemsOf(errors).map(formatProblem).join('\n'));
    }),
  );

/** The problems of a value that does not decode; none where it does. */
export const problems = (codec: t.Decoder<unknown, unknown>, wire: unknown): readonly string[] =>
  F.pipe(
    codec.decode(wire),
    E.match(
      (errors) => problemsOf(errors).map(formatProblem),
      () => [],
    ),
  );

/** A value as it arrives at the other end of the wire. */
export const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A wire sample of test/fixtures/wire. */
export const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/wire/${name}.json`, import.meta.url), 'utf8'));

/** One of the samples of a fixture that has many. */
export function sample(name: string, ...path: readonly (string | number)[]): unknown {
  let at: unknown = fixture(name);
  for (const key of path) at = isObject(at) ? at[key] : undefined;
  if (at === undefined) throw new Error(`${name}.json has no ${path.join('.')}`);
  return at;
}

/** The keys of a JSON object. */
export const keysOf = (json: unknown): readonly string[] => (isObject(json) ? Object.keys(json) : []);

/** A copy of a JSON object with the value at a path replaced; `undefined` takes the field out. */
export function replaced(json: unknown, path: string, value: unknown): unknown {
  const copy = overTheWire(json);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at: unknown = copy;
  for (const key of keys) at = isObject(at) ? at[key] : undefined;
  if (!isObject(at)) throw new Error(`nothing at ${path}`);
  at[last] = value;
  return overTheWire(copy);
}

const daml = new Set([
  'contractKey',
  'createArgument',
  'createArguments',
  'choiceArgument',
  'exerciseResult',
  'viewValue',
]);

/** A JSON value without the fields that are `null`; inside Daml values, and as those of `keep`, it is a value. */
export function withoutNulls(json: unknown, keep: readonly string[] = []): unknown {
  if (Array.isArray(json)) return json.map((item) => withoutNulls(item, keep));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .filter(([key, value]) => value !== null || keep.includes(key))
      .map(([key, value]) => [key, daml.has(key) ? value : withoutNulls(value, keep)]),
  );
}

/** A codec in a table of codecs, whatever its type; encodes its values alone. */
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
 * A value with its objects written as sorted lists of entries, for `toStrictEqual`, which trips over own keys such as
 * `constructor` and `__proto__`. Keys that hold `undefined` stay.
 */
export function entries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(entries);
  if (!isObject(value)) return value;
  const own = Object.entries(value).map(([key, content]): readonly [string, unknown] => [key, entries(content)]);
  return { object: own.sort(([one], [other]) => (one < other ? -1 : 1)) };
}
