import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { type } from 'arktype';
import * as t from 'io-ts';
import * as v from 'valibot';
import { z } from 'zod';
import type { ContractType } from '../../../../src/codecs/ContractType.js';
import { contractType } from '../../../../src/codecs/TemplateType.js';
import { decodeAs } from '../../../../src/codecs/decodePayload.js';
import { optional } from '../../../../src/codecs/optional.js';
import type { Line, Row } from '../report.js';

const id = '#hostile:Main:Payload';
const short = (text: string): boolean => text.length < 5;
const notA = (input: unknown): string => `not a memo: ${String(input)}`;

/** The same template, decoded by each library; the memo has a check whose message quotes it. */
const types: Readonly<Record<string, ContractType>> = {
  'io-ts': contractType(
    id,
    t.type({ memo: t.string, tag: optional(t.string), lines: t.array(t.type({ sku: t.string, count: t.string })) }),
  ),
  zod: contractType(
    id,
    z.object({
      memo: z.string().refine(short, { error: ({ input }) => notA(input) }),
      lines: z.array(z.object({ sku: z.string(), count: z.string() })),
    }),
  ),
  valibot: contractType(
    id,
    v.object({
      memo: v.pipe(
        v.string(),
        v.check(short, ({ input }) => notA(input)),
      ),
      lines: v.array(v.object({ sku: v.string(), count: v.string() })),
    }),
  ),
  arktype: contractType(
    id,
    type({
      memo: type('string').narrow((memo, context) => short(memo) || context.mustBe(notA(memo))),
      lines: type({ sku: 'string', count: 'string' }).array(),
    }),
  ),
};

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

/** Payloads that a counterparty can send, by their size. */
const payloads: Readonly<Record<string, (size: number) => unknown>> = {
  blanks: (size) => ({ memo: ' '.repeat(size * 10), lines: [] }),
  words: (size) => ({ memo: 'to be or not '.repeat(size), lines: [] }),
  'long arrays': (size) => ({ memo: 'a', lines: Array.from({ length: size }, () => ({ sku: 'a', count: '1' })) }),
  'deep nesting': (size) => ({ memo: nested(size / 50), lines: [] }),
  'huge numbers': (size) => ({ memo: 'a', lines: [{ sku: 'a', count: '9'.repeat(size * 10) }] }),
  problems: (size) => ({ memo: 'a', lines: Array.from({ length: size }, (_, count) => ({ sku: 'a', count })) }),
  'absent fields': (size) => ({ memo: 'a', lines: Array.from({ length: size }, () => ({ sku: 'a' })) }),
};

/** The payload of generated code has fields of its own. */
const generated = (): Readonly<Record<string, ContractType>> => {
  const debug = console.debug;
  console.debug = () => undefined; // each template reports itself
  const require = createRequire(join(process.cwd(), 'package.json'));
  const { Inventory } = require('./test/fixtures/codegen35/lib/index.js') as { Inventory: { Crate: ContractType } };
  console.debug = debug;
  return { 'code generator': Inventory.Crate };
};

/** In nanoseconds per byte: the best of some runs. */
function timePerByte({ decoder }: ContractType, payload: unknown, runs: number): number {
  const bytes = JSON.stringify(payload).length;
  let best = Infinity;
  for (let i = 0; i < runs; i += 1) {
    const before = performance.now();
    decodeAs(decoder, 'createArgument', payload);
    best = Math.min(best, performance.now() - before);
  }
  return (best * 1e6) / bytes;
}

/** Decoding is linear: a byte of a payload that is eight times as large takes no longer. */
export const hostile: Line = {
  id: 'hostile',
  about: 'payloads of a hostile counterparty',
  measure: ({ sets, scale }) => {
    const size = 100_000 * scale;
    const rows = Object.entries({ ...types, ...generated() }).flatMap(([library, decoder]) =>
      Object.entries(payloads).map(([name, payloadOf]): Row => {
        timePerByte(decoder, payloadOf(size / 8), 3);
        const small = timePerByte(decoder, payloadOf(size / 8), sets);
        const large = timePerByte(decoder, payloadOf(size), sets);
        return {
          id: `hostile-${library}-${name}`.replaceAll(' ', '-'),
          figure: `${library}, ${name}: time per byte / of an eighth of the size`,
          ratios: [large / small],
          note: `${large.toFixed(1)} ns per byte`,
        };
      }),
    );
    return Promise.resolve(rows);
  },
};
