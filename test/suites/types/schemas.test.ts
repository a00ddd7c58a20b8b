import { describe, expect, it } from '@jest/globals';
import { type as ark } from 'arktype';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import * as v from 'valibot';
import { z } from 'zod';
import {
  type ArgumentOf,
  type ChoiceType,
  contractType,
  create,
  createAndExercise,
  type CreatableType,
  exercise,
  interfaceType,
  type PayloadOf,
  type ResultOf,
} from '../../../src/index.js';
import type { ContractOf } from '../../../src/contracts/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const integer = /^\d+$/;
const zod = z.object({ owner: z.string(), serial: z.string().regex(integer).transform(BigInt) });
const valibot = v.object({
  owner: v.string(),
  serial: v.pipe(
    v.string(),
    v.regex(integer),
    v.transform((text) => BigInt(text)),
  ),
});
const arktype = ark({ owner: 'string', serial: ark(integer).pipe((text) => BigInt(text)) });

const Zod = contractType('#a:Main:Zod', zod, {
  choices: {
    Split: { argument: zod, result: z.array(z.string()) },
    Tag: { argument: t.type({ tag: t.string }) },
  },
});
const Valibot = contractType('#a:Main:Valibot', valibot, { choices: { Split: { argument: valibot } } });
const Arktype = contractType('#a:Main:Arktype', arktype);
const View = interfaceType('#a:Main:View', zod);

interface Wire {
  owner: string;
  serial: string;
}
interface Read {
  owner: string;
  serial: bigint;
}
const wire = { owner: 'alice::1220ab', serial: '7' };
const read = { ...wire, serial: 7n };

describe('a contract type with a schema', () => {
  it('has payloads of its output', () => {
    expectTypeOf<PayloadOf<typeof Zod>>().toEqualTypeOf<Read>();
    expectTypeOf<PayloadOf<typeof Valibot>>().toEqualTypeOf<Read>();
    expectTypeOf<PayloadOf<typeof Arktype>>().toEqualTypeOf<Read>();
    expectTypeOf<PayloadOf<typeof View>>().toEqualTypeOf<Read>();
    expectTypeOf(Zod.templateId).toEqualTypeOf<'#a:Main:Zod'>();
    expect(View.templateId).toBe('#a:Main:View');
    const serial = (contract: ContractOf<{ zod: typeof Zod; valibot: typeof Valibot }>): bigint | undefined =>
      contract._tag === 'Contract' ? contract.payload.serial : undefined;
    expect(serial).toBeDefined();
  });

  it('creates from its input', () => {
    expectTypeOf(Zod).toExtend<CreatableType<Read, Wire>>();
    expectTypeOf<Parameters<typeof create<typeof Zod>>[1]>().toEqualTypeOf<Wire>();
    expectTypeOf<Parameters<typeof create<typeof Valibot>>[1]>().toEqualTypeOf<Wire>();
    expectTypeOf<Parameters<typeof create<typeof Arktype>>[1]>().toEqualTypeOf<Wire>();
    create(Zod, wire);
    // @ts-expect-error -- the output, which is no JSON of the ledger
    create(Zod, read);
    // @ts-expect-error -- the serial is missing
    create(Valibot, { owner: 'alice::1220ab' });
    // @ts-expect-error -- the output
    create(Arktype, read);
  });

  it('has choices that decode to the output and are exercised with the input', () => {
    expectTypeOf(Zod.Split).toEqualTypeOf<ChoiceType<Read, string[], Wire>>();
    expectTypeOf<ArgumentOf<typeof Zod.Split>>().toEqualTypeOf<Read>();
    expectTypeOf<ResultOf<typeof Zod.Split>>().toEqualTypeOf<string[]>();
    expectTypeOf<ResultOf<typeof Valibot.Split>>().toBeUnknown();
    expectTypeOf(Zod.Tag).toEqualTypeOf<ChoiceType<{ tag: string }>>();
    exercise(Zod.Split, '00c1', wire);
    createAndExercise(Valibot, wire, Valibot.Split, wire);
    // @ts-expect-error -- the output
    exercise(Zod.Split, '00c1', read);
    // @ts-expect-error -- the output
    createAndExercise(Valibot, read, Valibot.Split, wire);
    // @ts-expect-error -- the output
    createAndExercise(Valibot, wire, Valibot.Split, read);
  });

  it('takes nothing else', () => {
    // @ts-expect-error -- neither a codec nor a schema
    expect(() => contractType('#a:Main:T', { parse: (u: unknown) => u })).toBeDefined();
  });
});
