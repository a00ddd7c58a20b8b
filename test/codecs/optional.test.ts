import { describe, expect, it } from '@jest/globals';
import { type } from 'arktype';
import { expectTypeOf } from 'expect-type';
import fc from 'fast-check';
import * as t from 'io-ts';
import * as v from 'valibot';
import { z } from 'zod';
import { create, exercise } from '../../src/codecs/Command.js';
import type { PayloadOf } from '../../src/codecs/ContractType.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import { decodeAs } from '../../src/codecs/decodePayload.js';
import { optional } from '../../src/codecs/optional.js';
import type { StandardSchema } from '../../src/codecs/StandardSchema.js';
import { crate, Former, Inventory, without } from '../helpers/inventory.js';
import { decode, jsonRoundTrip, problemsIn } from './support.js';

const id = '#notes:Main:Note';
const Line = t.type({ sku: t.string, remark: optional(t.string) });
const Note = contractType(
  id,
  t.type({
    owner: t.string,
    due: optional(t.string),
    lines: t.array(Line),
    byName: t.record(t.string, Line),
    kind: t.union([
      t.type({ tag: t.literal('Short'), value: Line }),
      t.type({ tag: t.literal('Long'), value: t.type({ pages: t.string }) }),
    ]),
    note: optional(Line),
  }),
  { choices: { Add: { argument: t.type({ line: optional(Line) }), result: optional(t.string) } } },
);
const decoded: PayloadOf<typeof Note> = {
  owner: 'alice::1220ab',
  due: null,
  lines: [
    { sku: 'A', remark: null },
    { sku: 'B', remark: 'fragile' },
  ],
  byName: { x: { sku: 'C', remark: null } },
  kind: { tag: 'Short', value: { sku: 'D', remark: null } },
  note: null,
};

/** A copy without fields that are null, or without those that are last in their record. */
const omit = (json: unknown, omits: (value: object, key: string) => boolean): unknown =>
  JSON.parse(
    JSON.stringify(json, function (this: object, key, value: unknown) {
      return value === null && !Array.isArray(this) && omits(this, key) ? undefined : value;
    }),
  );
const isLast = (value: object, key: string): boolean => Object.keys(value).at(-1) === key;

describe('optional', () => {
  it.each([
    ['null', decoded],
    ['absent', omit(decoded, () => true)],
    ['absent where it is the last of its record, as a participant of 3.5 sends it', omit(decoded, isLast)],
  ])('decodes None that is %s to null, at every depth', (_, wire) => {
    expect(Note.decoder.run(wire)).toEqual({ ok: true, result: decoded });
  });

  it('decodes and encodes a value with its codec', () => {
    const Int = new t.Type<bigint, string, unknown>(
      'Int',
      (u): u is bigint => typeof u === 'bigint',
      (u, context) => (typeof u === 'string' ? t.success(BigInt(u)) : t.failure(u, context)),
      String,
    );
    const codec = t.type({ serial: optional(Int) });
    expect(decode(codec, { serial: '41' })).toStrictEqual({ serial: 41n });
    expect(codec.encode({ serial: 41n })).toStrictEqual({ serial: '41' });
    expect(codec.is({ serial: null })).toBe(true);
    expect(codec.is({ serial: '41' })).toBe(false);
  });

  it('encodes None to null, also an absent one', () => {
    expect(create(Note, decoded)).toEqual({ CreateCommand: { templateId: id, createArguments: decoded } });
    const incomplete = without('note', decoded) as typeof decoded;
    expect(create(Note, incomplete)).toEqual({ CreateCommand: { templateId: id, createArguments: decoded } });
    expect(exercise(Note.Add, '00c1', { line: null })).toMatchObject({
      ExerciseCommand: { choiceArgument: { line: null } },
    });
  });

  it('decodes a result that is None, which an event omits', () => {
    expect(decodeAs(Note.Add.resultDecoder, 'exerciseResult', undefined)).toEqual({ ok: true, payload: null });
    expect(decodeAs(Note.Add.resultDecoder, 'exerciseResult', '00c2')).toEqual({ ok: true, payload: '00c2' });
  });

  it('refuses another value, with its path', () => {
    expect(problemsIn(t.type({ lines: t.array(Line) }), { lines: [{ sku: 'A', remark: 7 }] })).toEqual([
      'lines.0.remark: expected Optional<string>',
    ]);
  });

  it('does not make a required field optional', () => {
    expect(problemsIn(Line, {})).toEqual(['sku: expected string']);
    expect(problemsIn(Line, { sku: null })).toEqual(['sku: expected string']);
  });

  it('has the values of generated code in an optional of an optional', () => {
    const twice = t.type({ a: optional(optional(t.string)) });
    const thrice = optional(optional(optional(t.string)));
    for (const a of [null, [], ['x']]) {
      expect(decode(twice, { a })).toStrictEqual({ a });
      expect(twice.encode({ a: a as never })).toStrictEqual({ a });
    }
    expect(decode(twice, {})).toStrictEqual({ a: null });
    expect(problemsIn(twice, { a: 'x' })).toEqual(['a: expected [] or [value]']);
    expect(problemsIn(twice, { a: ['x', 'y'] })).toEqual(['a: expected [] or [value]']);
    expect(problemsIn(twice, { a: [null] })).toEqual(['a.0: expected string']);
    for (const a of [null, [], [[]], [['x']]]) expect(thrice.encode(decode(thrice, a))).toStrictEqual(a);
    expectTypeOf<t.TypeOf<typeof twice>>().toEqualTypeOf<{ a: null | readonly [] | readonly [string] }>();
    expectTypeOf<t.TypeOf<typeof thrice>>().toEqualTypeOf<
      null | readonly [] | readonly [readonly [] | readonly [string]]
    >();
  });

  it('decodes what it encodes to the same value, also if the ledger omits None', () => {
    const text = fc.option(fc.string());
    const line = fc.record({ sku: fc.string(), remark: text });
    const values = fc.record({
      ...{ owner: fc.string(), due: text, lines: fc.array(line, { maxLength: 3 }) },
      byName: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), line, { maxKeys: 3 }),
      kind: line.map((value) => ({ tag: 'Short' as const, value })),
      note: fc.option(line),
    });
    fc.assert(
      fc.property(values, (value) => {
        const wire = jsonRoundTrip(Note.encode(value));
        for (const sent of [wire, omit(wire, () => true), omit(wire, isLast)])
          expect(Note.decoder.run(sent)).toEqual({ ok: true, result: value });
      }),
    );
  });
});

describe('a field that is None in the other form', () => {
  const nullable = t.union([t.string, t.null]);
  const remedy = 'an optional field, which is null or absent if it is None: use optional() of canton-rx';
  const schemaRemedy =
    'an optional field, which is null or absent if it is None: let the schema accept both, such as with nullish';
  const problemsOf = (codec: t.Mixed | StandardSchema, json: unknown): unknown => {
    const result = contractType(id, codec as t.Mixed).decoder.run(json);
    return result.ok ? [] : result.error.problems;
  };
  const at = (expected: string, ...paths: readonly string[]) => paths.map((path) => ({ path, expected }));
  const short = { tag: 'Short', value: {} };

  it.each<[string, t.Mixed, unknown, readonly string[]]>([
    ['of a record', t.type({ a: t.string, n: nullable }), { a: 'x' }, ['n']],
    ['that is null', t.partial({ n: t.string }), { n: null }, ['n']],
    ['of an exact record', t.exact(t.type({ n: nullable })), {}, ['n']],
    ['of an intersection', t.intersection([t.type({ a: t.string }), t.type({ n: nullable })]), { a: 'x' }, ['n']],
    ['of elements', t.type({ l: t.array(t.type({ n: nullable })) }), { l: [{ n: 'x' }, {}, {}] }, ['l.1.n', 'l.2.n']],
    ['of a map', t.type({ m: t.record(t.string, t.type({ n: nullable })) }), { m: { 'secret-key': {} } }, ['m.*.n']],
    [
      'of a variant',
      t.union([
        t.type({ tag: t.literal('Short'), value: t.type({ n: nullable }) }),
        t.type({ tag: t.literal('Long'), value: t.string }),
      ]),
      short,
      ['value.n'],
    ],
    [
      'in depth',
      t.readonly(t.type({ a: t.readonlyArray(t.tuple([t.type({ n: nullable })])) })),
      { a: [[{}]] },
      ['a.0.0.n'],
    ],
  ])('%s is named, with the remedy: io-ts', (_, codec, json, paths) => {
    expect(problemsOf(codec, json)).toEqual(at(remedy, ...paths));
  });

  it.each<[string, StandardSchema, unknown, string]>([
    ['zod', z.object({ l: z.array(z.object({ n: z.string().nullable() })) }), { l: [{}] }, 'l.0.n'],
    ['zod: null', z.object({ n: z.string().optional() }), { n: null }, 'n'],
    ['zod: strict', z.strictObject({ a: z.string(), n: z.string().nullable() }), { a: 'x' }, 'n'],
    [
      'zod: discriminated',
      z.discriminatedUnion('tag', [
        z.object({ tag: z.literal('Short'), value: z.object({ n: z.string().nullable() }) }),
        z.object({ tag: z.literal('Long') }),
      ]),
      short,
      'value.n',
    ],
    [
      'zod: union',
      z.union([
        z.object({ tag: z.literal('Short'), value: z.object({ n: z.string().nullable() }) }),
        z.object({ tag: z.literal('Long') }),
      ]),
      short,
      'value.n',
    ],
    ['zod: a key', z.record(z.string(), z.object({ n: z.string().nullable() })), { 'secret-key': {} }, '*.n'],
    ['valibot', v.object({ l: v.array(v.object({ n: v.nullable(v.string()) })) }), { l: [{}] }, 'l.0.n'],
    ['valibot: null', v.object({ n: v.optional(v.string()) }), { n: null }, 'n'],
    [
      'valibot: union',
      v.object({
        u: v.union([
          v.object({ tag: v.literal('Short'), value: v.object({ n: v.nullable(v.string()) }) }),
          v.object({ tag: v.literal('Long') }),
        ]),
      }),
      { u: short },
      'u.value.n',
    ],
    ['arktype', type({ l: type({ n: 'string | null' }).array() }), { l: [{}] }, 'l.0.n'],
    ['arktype: null', type({ 'n?': 'string' }), { n: null }, 'n'],
  ])('is named, with the remedy: %s', (_, schema, json, path) => {
    expect(problemsOf(schema, json)).toEqual(at(schemaRemedy, path));
  });

  it('is named next to other problems, which stay as they are', () => {
    expect(problemsOf(t.type({ a: t.string, b: t.number, n: nullable }), { b: 'x' })).toEqual([
      { path: 'a', expected: 'string' },
      { path: 'b', expected: 'number' },
      { path: 'n', expected: remedy },
    ]);
    expect(problemsOf(z.object({ a: z.string(), n: z.string().nullable() }), {})).toEqual([
      { path: 'a', expected: 'string' },
      { path: 'n', expected: schemaRemedy },
    ]);
  });

  it.each<[string, t.Mixed | StandardSchema]>([
    ['io-ts', t.type({ a: t.string })],
    ['zod', z.object({ a: z.string() })],
    ['valibot', v.object({ a: v.string() })],
    ['arktype', type({ a: 'string' })],
  ])('is not claimed of a required field that is absent, null, or an element: %s', (_, codec) => {
    for (const json of [{}, { a: null }, null, [], [null]])
      expect(JSON.stringify(problemsOf(codec, json))).not.toContain('optional');
  });

  it('does not change the value', () => {
    const json: unknown = JSON.parse('{"l":[{"m":null}],"__proto__":{"n":null}}');
    const before = JSON.stringify(json);
    problemsOf(t.type({ l: t.array(t.type({ n: nullable, m: t.undefined })) }), json);
    expect(JSON.stringify(json)).toBe(before);
  });
});

describe('schemas that accept both forms', () => {
  it.each<[string, StandardSchema]>([
    ['zod', z.object({ n: z.string().nullable().default(null) })],
    ['valibot', v.object({ n: v.nullish(v.string(), null) })],
    ['arktype', type({ n: 'string | null = null' })],
  ])('decode both to null: %s', (_, schema) => {
    const Type = contractType(id, schema);
    for (const json of [{}, { n: null }]) expect(Type.decoder.run(json)).toEqual({ ok: true, result: { n: null } });
    expect(Type.decoder.run({ n: 'x' })).toEqual({ ok: true, result: { n: 'x' } });
  });
});

describe('generated code', () => {
  it.each([
    ['3.5', Inventory.Crate],
    ['3.4', Former.Crate],
  ])('of %s decodes an absent optional field like null', (_, Crate) => {
    const [present, absent] = [Crate.decoder.run(crate), Crate.decoder.run(without('note', crate))];
    expect(present.ok).toBe(true);
    expect(absent).toEqual(present);
  });
});
