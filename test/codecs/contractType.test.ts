import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { create, createAndExercise, exercise } from '../../src/codecs/Command.js';
import { Command } from '../../src/codecs/Command.js';
import { type ContractType, isInterfaceType } from '../../src/codecs/ContractType.js';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import { decodePayload, matchType } from '../../src/codecs/decodePayload.js';
import { CreatedEvent } from '../../src/codecs/Event.js';
import type { Problem } from '../../src/codecs/Problem.js';
import { crate, crateCreated, Former, Inventory, packages, without } from '../helpers/inventory.js';
import { decode } from './support.js';

const Decimal = new t.Type<number, string, unknown>(
  'Decimal',
  t.number.is,
  (u, context) => (typeof u === 'string' ? t.success(Number(u)) : t.failure(u, context)),
  (value) => value.toFixed(1),
);
const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: Decimal }), {
  choices: {
    Transfer: { argument: t.type({ newOwner: t.string, part: Decimal }), result: Decimal },
    Settle: { argument: t.type({}) },
  },
});
const Holding = interfaceType('#holdings:Holding:Holding', t.type({ owner: t.string }), {
  choices: { Lock: { argument: t.type({ until: t.string }) } },
});

describe('contractType', () => {
  it('decodes and encodes with its codec', () => {
    expect(Iou.decoder.run({ owner: 'alice', amount: '10.0' })).toEqual({
      ok: true,
      result: { owner: 'alice', amount: 10 },
    });
    expect(Iou.encode({ owner: 'alice', amount: 10 })).toEqual({ owner: 'alice', amount: '10.0' });
    expect(Iou.templateId).toBe('#finance:Main:Iou');
  });

  it('says what does not decode, without values', () => {
    expect(Iou.decoder.run({ owner: 7, amount: { secret: 1 } })).toEqual({
      ok: false,
      error: {
        at: 'owner',
        message: 'expected string',
        problems: [
          { path: 'owner', expected: 'string' },
          { path: 'amount', expected: 'Decimal' },
        ],
      },
    });
  });

  it('has its choices as properties, with codecs', () => {
    expect(Iou.Transfer.choiceName).toBe('Transfer');
    expect(Iou.Transfer.template()).toBe(Iou);
    expect(Iou.Transfer.argumentEncode({ newOwner: 'bob', part: 2 })).toEqual({ newOwner: 'bob', part: '2.0' });
    expect(Iou.Transfer.argumentDecoder.run({ newOwner: 'bob', part: '2.0' })).toEqual({
      ok: true,
      result: { newOwner: 'bob', part: 2 },
    });
    expect(Iou.Transfer.resultDecoder.run('8.0')).toEqual({ ok: true, result: 8 });
    expect(Iou.Transfer.resultDecoder.run(null)).toMatchObject({ ok: false });
    expect(Iou.Settle.resultDecoder.run(['anything'])).toEqual({ ok: true, result: ['anything'] });
    expect(Iou.Archive.argumentDecoder.run({})).toEqual({ ok: true, result: {} });
  });

  it('decodes each payload once', () => {
    let decoded = 0;
    const counting = new t.Type<string, unknown>(
      'Counting',
      t.string.is,
      (u, context) => {
        decoded += 1;
        return typeof u === 'string' ? t.success(u) : t.failure(u, context);
      },
      t.identity,
    );
    const Note = contractType('#finance:Main:Note', counting);
    Note.decoder.run('x');
    Note.decoder.run(7);
    expect(decoded).toBe(2);
  });

  it.each(['', 'Iou', 'Main:Iou', '#finance:Main', '#:Main:Iou', 'a:b:c:d', '#finance:Main:Iou ', 7])(
    'throws for the template id %j synchronously',
    (id) => {
      const message = `'${id}' is not a template id: use #package-name:Module:Entity or package-id:Module:Entity`;
      expect(() => contractType(id as string, t.string)).toThrow(new TypeError(message));
      expect(() => interfaceType(id as string, t.string)).toThrow(new TypeError(message));
    },
  );

  it('throws for a package name without #, which is also a type error', () => {
    const mistake = new TypeError("'finance:Main:Iou' is not a template id: did you mean '#finance:Main:Iou'?");
    // @ts-expect-error -- did you mean '#finance:Main:Iou'?
    expect(() => contractType('finance:Main:Iou', t.string)).toThrow(mistake);
    // @ts-expect-error -- did you mean '#finance:Main:Iou'?
    expect(() => interfaceType('finance:Main:Iou', t.string)).toThrow(mistake);
    // a short id, as tests invent it
    // @ts-expect-error -- did you mean '#1220ab:Main:Iou'?
    expect(() => contractType('1220ab:Main:Iou', t.string)).toThrow(TypeError);
    const byId = '1220abcd1220abcd1220abcd1220abcd1220abcd1220abcd1220abcd1220abcd:Main:Iou';
    expectTypeOf(contractType(byId, t.string).templateId).toEqualTypeOf<typeof byId>();
  });

  it('makes templates, and interfaceType interfaces', () => {
    expect(isInterfaceType(Iou)).toBe(false);
    expect(isInterfaceType(Holding)).toBe(true);
  });
});

describe('a type of the code generator', () => {
  it('of 3.5 and of 3.4 is a template or an interface, though both have Archive (pitfall 43)', () => {
    expect([Inventory.Crate, Former.Crate].map(isInterfaceType)).toEqual([false, false]);
    expect([Inventory.Transferable, Former.Transferable].map(isInterfaceType)).toEqual([true, true]);
    expect('Archive' in Inventory.Transferable).toBe(true);
  });

  it('has the contracts of every version of the package, by its name', () => {
    const isCrate = matchType(Inventory.Crate);
    expect(isCrate(crateCreated())).toBe(true);
    expect(isCrate(crateCreated({ templateId: `${packages.former}:Inventory:Crate` }))).toBe(true);
    expect(isCrate(crateCreated({ packageName: 'inventory-fork' }))).toBe(false);
    expect(isCrate(crateCreated({ templateId: `${packages.current}:Old.Inventory:Crate` }))).toBe(false);
    expect(isCrate(crateCreated({ templateId: `${packages.current}:Inventory:BigCrate` }))).toBe(false);
  });

  it('with a package id has those of that version alone', () => {
    const isCrate = matchType({ ...Inventory.Crate, templateId: `${packages.former}:Inventory:Crate` });
    expect(isCrate(crateCreated())).toBe(false);
    expect(isCrate(crateCreated({ templateId: `${packages.former}:Inventory:Crate` }))).toBe(true);
  });

  it('decodes the contract of a template without a key, whose key is null on the wire (pitfall 38)', () => {
    const created = decode(CreatedEvent, { ...without('_tag', crateCreated()), contractKey: null });
    expect('contractKey' in created).toBe(false);
    for (const type of [Inventory.Crate, Former.Crate]) {
      expect(type.keyDecoder.run(created.contractKey).ok).toBe(true);
      expect(type.keyDecoder.run(null).ok).toBe(false);
      expect(decodePayload(type, created).ok).toBe(true);
    }
  });

  it('decodes an extra field of a later package, and keeps it in the event (pitfall 41)', () => {
    const created = crateCreated({ createArgument: { ...crate, ripeness: '3' } });
    const decoded = decodePayload(Inventory.Crate, created);
    expect(decoded).toMatchObject({ ok: true, payload: { holder: 'alice::1220dd', note: null } });
    expect(decoded.ok && Object.keys(decoded.payload)).not.toContain('ripeness');
    expect(decodePayload(Former.Crate, created).ok).toBe(true);
    expect(created.createArgument).toHaveProperty('ripeness');
  });

  it('decodes a missing Optional of an earlier package to null (pitfall 41)', () => {
    const decoded = decodePayload(Inventory.Crate, crateCreated({ createArgument: without('note', crate) }));
    expect(decoded.ok && decoded.payload.note).toBeNull();
  });

  it.each([
    ['enum value', { grade: 'Frozen' }, 'createArgument.grade'],
    ['variant', { packing: { tag: 'Vacuum', value: {} } }, 'createArgument.packing'],
    ['type of a field', { count: 7 }, 'createArgument.count'],
  ])('does not decode a new %s, and says so without the value (pitfall 41)', (_, fields, path) => {
    const decoded = decodePayload(Inventory.Crate, crateCreated({ createArgument: { ...crate, ...fields } }));
    if (decoded.ok) throw new Error('it decodes');
    expect(decoded.problems.map((problem) => problem.path)).toEqual([path]);
    expect(decoded.argument).toEqual({ ...crate, ...fields });
    expect(JSON.stringify(decoded.problems)).not.toMatch(/Frozen|Vacuum|7|got/);
  });

  it('does not decode absent arguments, which 3.3 sends for an interface filter alone', () => {
    expect(decodePayload(Inventory.Crate, without('createArgument', crateCreated()))).toEqual({
      ok: false,
      argument: null,
      problems: [{ path: 'createArgument', expected: 'an object' }],
    });
  });
});

describe('a decoder', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('a-secret');
      },
      { path: 'createArgument', expected: 'a value that its decoder accepts' },
    ],
    ['says nothing', () => ({ ok: false, error: {} }), { path: 'createArgument', expected: 'another value' }],
    [
      'says what it got',
      () => ({ ok: false, error: { at: 'input.a[0]', message: 'expected "x", got "a-secret"\nof a-secret' } }),
      { path: 'createArgument.a[0]', expected: '"x"' },
    ],
  ] satisfies [string, ContractType['decoder']['run'], Problem][])(
    'that %s has one problem, without the value',
    (_, run, problem) => {
      const type: ContractType & { encode: unknown } = { templateId: '#a:B:C', decoder: { run }, encode: undefined };
      expect(decodePayload(type, crateCreated())).toEqual({ ok: false, argument: crate, problems: [problem] });
    },
  );
});

describe('a contract of an interface', () => {
  const interfaceId = `${packages.api}:Inventory.Api:Transferable`;
  const viewed = (fields: Partial<CreatedEvent['interfaceViews'][number]>): CreatedEvent =>
    crateCreated({
      interfaceViews: [
        { interfaceId: `${packages.api}:Inventory.Api:Other`, viewStatus: { code: 0 }, viewValue: {} },
        { interfaceId, viewStatus: { code: 0 }, viewValue: { holder: 'bob' }, ...fields },
      ],
    });

  it.each<[string, ContractType]>([
    ['3.5', Inventory.Transferable],
    ['3.4', Former.Transferable],
    ['codecs', interfaceType('#inventory-api:Inventory.Api:Transferable', t.type({ holder: t.string }))],
  ])('has the view as its payload: %s', (_, type) => {
    expect(matchType(type)(viewed({}))).toBe(true);
    expect(matchType(type)(crateCreated())).toBe(false);
    expect(decodePayload(type, viewed({}))).toEqual({ ok: true, payload: { holder: 'bob' } });
    expect(decodePayload(type, viewed({ viewValue: { holder: 7 } }))).toMatchObject({
      ok: false,
      argument: { holder: 7 },
      problems: [{ path: 'viewValue.holder' }],
    });
  });

  it.each([9, -1])('has the status of a view that failed with code %i', (code) => {
    const viewStatus = { code, message: 'no vetted package' };
    expect(decodePayload(Inventory.Transferable, viewed({ viewStatus, viewValue: undefined }))).toEqual({
      ok: false,
      problems: [{ path: 'viewValue', expected: 'a view' }],
      viewStatus,
    });
  });
});

describe('a command', () => {
  const decoded = (type: typeof Inventory.Crate | typeof Former.Crate) => {
    const result = type.decoder.run(crate);
    if (!result.ok) throw new Error(result.error.message);
    return result.result;
  };

  it('creates a contract of codecs', () => {
    expect(create(Iou, { owner: 'alice', amount: 10 })).toEqual({
      CreateCommand: { templateId: '#finance:Main:Iou', createArguments: { owner: 'alice', amount: '10.0' } },
    });
  });

  it('creates a contract of the code generator, encoded and with the name of the package', () => {
    const command = create(Inventory.Crate, { ...decoded(Inventory.Crate), note: null });
    expect(command).toEqual({ CreateCommand: { templateId: '#inventory:Inventory:Crate', createArguments: crate } });
    expect(Command.is(command)).toBe(true);
    expect(create(Former.Crate, decoded(Former.Crate))).toEqual({
      CreateCommand: { templateId: '#inventory:Inventory:Crate', createArguments: without('note', crate) },
    });
  });

  it('exercises a choice of codecs', () => {
    expect(exercise(Iou.Transfer, '00ab', { newOwner: 'bob', part: 2 })).toEqual({
      ExerciseCommand: {
        templateId: '#finance:Main:Iou',
        contractId: '00ab',
        choice: 'Transfer',
        choiceArgument: { newOwner: 'bob', part: '2.0' },
      },
    });
    expect(exercise(Iou.Archive, '00ab', {})).toMatchObject({
      ExerciseCommand: { choice: 'Archive', choiceArgument: {} },
    });
  });

  it('exercises a choice of the code generator, one of an interface with its id', () => {
    const commands = [
      exercise(Inventory.Crate.Split, '00ab', { counts: ['1', '2'] }),
      exercise(Inventory.Transferable.Transfer, '00ab', { to: 'bob' }),
      exercise(Former.Transferable.Transfer, '00ab', { to: 'bob' }),
      exercise(Holding.Lock, '00ab', { until: 'later' }),
    ];
    expect(commands).toMatchObject([
      {
        ExerciseCommand: {
          templateId: '#inventory:Inventory:Crate',
          choice: 'Split',
          choiceArgument: { counts: ['1', '2'] },
        },
      },
      { ExerciseCommand: { templateId: '#inventory-api:Inventory.Api:Transferable', choiceArgument: { to: 'bob' } } },
      { ExerciseCommand: { templateId: '#inventory-api:Inventory.Api:Transferable', choiceArgument: { to: 'bob' } } },
      { ExerciseCommand: { templateId: '#holdings:Holding:Holding', choice: 'Lock' } },
    ]);
    expect(commands.every(Command.is)).toBe(true);
  });

  it('creates a contract and exercises a choice of its template, not of an interface', () => {
    expect(createAndExercise(Iou, { owner: 'alice', amount: 10 }, Iou.Settle, {})).toEqual({
      CreateAndExerciseCommand: {
        templateId: '#finance:Main:Iou',
        createArguments: { owner: 'alice', amount: '10.0' },
        choice: 'Settle',
        choiceArgument: {},
      },
    });
    expect(() => createAndExercise(Iou, { owner: 'alice', amount: 10 }, Holding.Lock, { until: 'later' })).toThrow(
      new TypeError('Lock is not a choice of #finance:Main:Iou'),
    );
  });
});
