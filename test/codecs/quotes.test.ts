import { describe, expect, it } from '@jest/globals';
import { type } from 'arktype';
import * as t from 'io-ts';
import * as v from 'valibot';
import { z } from 'zod';
import type { ContractType } from '../../src/codecs/ContractType.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import { decodeAs } from '../../src/codecs/decodePayload.js';
import type { StandardSchema } from '../../src/codecs/StandardSchema.js';

const id = '#notes:Main:Note';
const secret = 'iban CH93-0076 2011';
const json = { memo: secret, count: '4711', tags: { [secret]: '!?' } };
const problemsOf = (codec: t.Mixed | StandardSchema, value: unknown = json): unknown => {
  const result = contractType(id, codec as t.Mixed).decoder.run(value);
  return result.ok ? [] : result.error.problems;
};
const say = (message: (u: unknown) => string): t.Type<string, string> =>
  new t.Type(
    'Memo',
    (u): u is string => typeof u === 'string',
    (u, context) => t.failure(u, context, message(u)),
    String,
  );

/** Ways in which authors put a value into a message. */
const quotes: readonly (readonly [string, (u: unknown) => string])[] = [
  ['at the end', (u) => `not a memo: ${String(u)}`],
  ['at the start', (u) => `${String(u)} is not a memo`],
  ['as JSON', (u) => JSON.stringify({ u })],
  ['in part', (u) => `begins with ${String(u).slice(0, 6)}`],
  ['in capitals', (u) => `not a memo: ${String(u).toUpperCase()}`],
];
const own = 'a value that the schema accepts';

describe.each(quotes)('a message that quotes the value %s', (_, message) => {
  it.each<[string, t.Mixed | StandardSchema]>([
    ['io-ts', t.type({ memo: say(message) })],
    ['zod: refine', z.object({ memo: z.string().refine(() => false, { error: ({ input }) => message(input) }) })],
    ['zod: a type', z.object({ memo: z.number({ error: ({ input }) => message(input) }) })],
    [
      'zod: another field',
      z.object({ memo: z.string(), count: z.string() }).superRefine(({ memo }, ctx) => {
        ctx.addIssue({ code: 'custom', path: ['memo'], message: message(memo) });
      }),
    ],
    [
      'valibot: check',
      v.object({
        memo: v.pipe(
          v.string(),
          v.check(
            () => false,
            ({ input }) => message(input),
          ),
        ),
      }),
    ],
    ['valibot: a type', v.object({ memo: v.number(({ input }) => message(input)) })],
    ['arktype: mustBe', type({ memo: type('string').narrow((memo, ctx) => ctx.mustBe(message(memo))) })],
    ['arktype: reject', type({ memo: type('string').narrow((memo, ctx) => ctx.reject({ message: message(memo) })) })],
  ])('is replaced, or what the library expects is in its place: %s', (_library, codec) => {
    const problems = problemsOf(codec);
    expect(problems).toEqual([
      {
        path: 'memo',
        expected: expect.stringMatching(
          /^(a value that the schema accepts|number|valid according to an anonymous predicate)$/,
        ),
      },
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/iban|ch93|0076|2011/i);
  });

  it('is replaced in the problem of a decoder of another library', () => {
    const type: ContractType = {
      templateId: id,
      decoder: { run: () => ({ ok: false, error: { message: message(secret) } }) },
    };
    const decoded = decodeAs(type.decoder, 'createArgument', json);
    expect(decoded.ok || decoded.problems).toEqual([{ path: 'createArgument', expected: own }]);
  });
});

describe('a message', () => {
  it('may quote no short value, sign or number either', () => {
    const quoting = z.object({
      m: z.any().refine(() => false, { error: ({ input }) => `not a memo: ${String(input)}` }),
    });
    for (const m of ['x7', 'CH', '7', 7, '!?', '🔑', 'ß'])
      expect([m, problemsOf(quoting, { m })]).toEqual([m, [{ path: 'm', expected: own }]]);
  });

  it('that quotes nothing stays', () => {
    const saying = z.object({ memo: z.string().refine(() => false, 'a memo of the bank') });
    expect(problemsOf(saying)).toEqual([{ path: 'memo', expected: 'a memo of the bank' }]);
    expect(problemsOf(t.type({ memo: say(() => 'a memo of the bank') }))).toEqual([
      { path: 'memo', expected: 'a memo of the bank' },
    ]);
  });

  it('of a library stays, however large the payload', () => {
    const large = { memo: 7, text: 'string array object '.repeat(100_000) };
    const strings = [z.object({ memo: z.string() }), v.object({ memo: v.string() }), type({ memo: 'string' })];
    for (const schema of strings)
      expect(problemsOf(schema, large)).toEqual([{ path: 'memo', expected: expect.stringMatching(/^(a )?string$/) }]);
  });

  it('has no key of a map', () => {
    const keys = [z.object({ tags: z.record(z.string(), z.number()) }), z.object({ tags: z.strictObject({}) })];
    for (const schema of keys) expect(JSON.stringify(problemsOf(schema))).not.toMatch(/CH93|2011/);
  });
});

describe('the problems of a value', () => {
  const many = Array.from({ length: 100_000 }, (_, n) => ({ n }));
  const long = 'x'.repeat(1_000_000);

  it.each<[string, t.Mixed | StandardSchema]>([
    ['io-ts', t.array(t.type({ n: t.string }))],
    ['zod', z.array(z.object({ n: z.string() }))],
    ['valibot', v.array(v.object({ n: v.string() }))],
  ])('are at most 100: %s', (_, codec) => {
    expect(problemsOf(codec, many)).toHaveLength(100);
  });

  it('are at most 100 of another decoder, and short', () => {
    const problems = Array.from({ length: 1_000 }, () => ({ path: long, expected: long }));
    const decoded = decodeAs({ run: () => ({ ok: false, error: { problems } }) }, 'createArgument', {});
    expect(decoded.ok || decoded.problems).toHaveLength(100);
    expect(JSON.stringify(decoded).length).toBeLessThan(100_000);
  });

  it('are short, whatever the names of codecs and keys', () => {
    const codec = t.record(t.string, new t.Type(long, t.string.is, t.failure, String));
    expect(JSON.stringify(problemsOf(codec, { [long]: 1 })).length).toBeLessThan(1_000);
    expect(JSON.stringify(problemsOf(z.record(z.string(), z.string()), { [long]: 1 })).length).toBeLessThan(1_000);
    expect(
      JSON.stringify(
        problemsOf(
          z.string().refine(() => false, long),
          'y',
        ),
      ).length,
    ).toBeLessThan(1_000);
  });
});
