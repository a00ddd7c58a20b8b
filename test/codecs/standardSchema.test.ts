import { describe, expect, it } from '@jest/globals';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { create, exercise } from '../../src/codecs/Command.js';
import { isInterfaceType } from '../../src/codecs/ContractType.js';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import { decodeAs } from '../../src/codecs/decodePayload.js';
import type { StandardSchema } from '../../src/codecs/StandardSchema.js';

const id = '#sandbox-assets:Main:Asset';
const integer = /^-?\d+$/;
const problemsOf = (schema: StandardSchema, argument: unknown): unknown => {
  const decoded = decodeAs(contractType(id, schema).decoder, 'createArgument', argument);
  return decoded.ok ? [] : decoded.problems;
};

/** The same template for three libraries: a serial becomes a bigint. */
const schemas = {
  zod: z.object({
    owner: z.string(),
    serial: z.string().regex(integer).transform(BigInt),
    lines: z.array(z.object({ sku: z.enum(['A', 'B']) })),
  }),
  valibot: v.object({
    owner: v.string(),
    serial: v.pipe(
      v.string(),
      v.regex(integer),
      v.transform((text) => BigInt(text)),
    ),
    lines: v.array(v.object({ sku: v.picklist(['A', 'B']) })),
  }),
  arktype: type({
    owner: 'string',
    serial: type(integer).pipe((text) => BigInt(text)),
    lines: type({ sku: "'A'|'B'" }).array(),
  }),
};
const wire = { owner: 'alice::1220ab', serial: '41', lines: [{ sku: 'A' }, { sku: 'B' }] };

describe.each(Object.entries(schemas))('a contract type with a schema of %s', (vendor, schema: StandardSchema) => {
  const Asset = contractType(id, schema, { choices: { Split: { argument: schema, result: schema } } });

  it('decodes payloads, arguments and results', () => {
    const decoded = { ok: true, result: { ...wire, serial: 41n } };
    expect(Asset.decoder.run(wire)).toEqual(decoded);
    expect(Asset.Split.argumentDecoder.run(wire)).toEqual(decoded);
    expect(Asset.Split.resultDecoder.run(wire)).toEqual(decoded);
    expect(interfaceType(id, schema).decoder.run(wire)).toEqual(decoded);
  });

  it('sends the input of commands as it is', () => {
    expect(create(Asset, wire)).toEqual({ CreateCommand: { templateId: id, createArguments: wire } });
    expect(exercise(Asset.Split, '00c1', wire)).toMatchObject({ ExerciseCommand: { choiceArgument: wire } });
  });

  it('is a template, or an interface', () => {
    expect(isInterfaceType(Asset)).toBe(false);
    expect(isInterfaceType(interfaceType(id, schema))).toBe(true);
  });

  it('says where and why a payload does not decode, without its values', () => {
    const secret = 'secret-7061';
    const problems = problemsOf(schema, { owner: 4711, serial: secret, lines: [{ sku: 'A' }, { sku: secret }] });
    expect(problems).toHaveLength(3);
    expect(problems).toEqual(
      expect.arrayContaining([
        { path: 'createArgument.owner', expected: expect.stringMatching(/^(a )?string$/) },
        { path: 'createArgument.serial', expected: expect.stringContaining(integer.source) },
        { path: 'createArgument.lines.1.sku', expected: expect.stringMatching(/"A".*"B"/) },
      ]),
    );
    expect(JSON.stringify(problems)).not.toMatch(/secret|4711/);
    expect(vendor).toBe(schema['~standard'].vendor);
  });
});

describe('the problems of a schema', () => {
  it.each([
    ['zod: missing', z.object({ owner: z.string() }), {}, 'owner', 'string'],
    ['zod: length', z.object({ memo: z.string().min(3) }), { memo: 'x7' }, 'memo', 'string to have >=3 characters'],
    ['zod: format', z.object({ mail: z.email() }), { mail: 'x7' }, 'mail', 'a valid email address'],
    ['zod: union', z.union([z.string(), z.number()]), { x7: 1 }, '', 'a valid input'],
    ['zod: own message', z.string().refine(() => false, 'a party id'), 'x7', '', 'a party id'],
    ['valibot: missing', v.object({ owner: v.string() }), {}, 'owner', '"owner"'],
    ['valibot: format', v.object({ mail: v.pipe(v.string(), v.email()) }), { mail: 'x7' }, 'mail', 'a valid email'],
    [
      'valibot: own message',
      v.pipe(
        v.string(),
        v.check(() => false, 'a party id'),
      ),
      'x7',
      '',
      'a party id',
    ],
    ['arktype: missing', type({ owner: 'string' }), {}, 'owner', 'a string'],
    ['arktype: format', type({ mail: 'string.email' }), { mail: 'x7' }, 'mail', 'an email address'],
  ] as const)('read like those of a codec: %s', (_, schema: StandardSchema, argument, path, expected) => {
    const key = path === '' ? 'createArgument' : `createArgument.${path}`;
    expect(problemsOf(schema, argument)).toEqual([{ path: key, expected }]);
  });

  it('cut a message of an unknown library before the value', () => {
    const saying = (message: string): StandardSchema => ({
      '~standard': { version: 1, vendor: 'own', validate: () => ({ issues: [{ message }] }) },
    });
    for (const message of ['Expected a party, but got x7', 'expected a party (was "x7")', 'a party; received: x7']) {
      expect(problemsOf(saying(message), 'x7')).toEqual([{ path: 'createArgument', expected: 'a party' }]);
    }
  });
});

describe('an asynchronous schema', () => {
  it('is refused at once if it says so', () => {
    const refusal = new TypeError('the schema is asynchronous: use a synchronous one');
    const schema = v.objectAsync({ owner: v.string() });
    expect(() => contractType(id, schema)).toThrow(refusal);
    expect(() => interfaceType(id, schema)).toThrow(refusal);
    const choices = { Split: { argument: schema } };
    expect(() => contractType(id, v.object({}), { choices })).toThrow(refusal);
  });

  it.each([
    ['is asynchronous', z.object({ owner: z.string().refine(() => Promise.resolve(true)) })],
    ['throws, so that zod tries it again as an asynchronous one', z.object({ owner: z.string().transform(BigInt) })],
  ])('decodes nothing, and says why, if it turns out that it %s', (_, schema) => {
    const expected = 'a synchronous result: the schema is asynchronous, or a transform in it throws';
    expect(problemsOf(schema, { owner: 'alice' })).toEqual([{ path: 'createArgument', expected }]);
  });
});
