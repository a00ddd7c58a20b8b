import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { lastValueFrom, of, toArray } from 'rxjs';
import type { ContractType } from '../../src/codecs/ContractType.js';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { InterfaceView } from '../../src/codecs/Event.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofTemplate } from '../../src/operators/ofTemplate.js';
import type { EventOf } from '../../src/operators/toEvents.js';
import { without } from '../helpers/inventory.js';
import { observe } from '../helpers/observe.js';
import {
  added,
  archived,
  assigned,
  created,
  exercised,
  formerUnassigned,
  unassigned,
  unknownEvent,
  emits,
} from './samples.js';

const Bond = contractType('#finance:Finance.Bonds:Bond', t.type({ owner: t.string }), {
  choices: { Transfer: { argument: t.type({ newOwner: t.string }), result: t.string } },
});
const Thing = contractType('#other:Other:Thing', t.type({ size: t.string }), {
  choices: { Transfer: { argument: t.type({ to: t.string }) } },
});
const Holding = interfaceType('#holdings:Holding:Holding', t.type({ holder: t.string }), {
  choices: { Transfer: { argument: t.type({ holder: t.string }) }, Lock: { argument: t.type({}), result: t.null } },
});

const type = '#finance:Finance.Bonds:Bond';
const owner = 'alice::1220dd';
const thing = { templateId: '1220f0:Other:Thing', packageName: 'other' };
const interfaceId = '1220f5:Holding:Holding';
const view: InterfaceView = { interfaceId, viewStatus: { code: 0 }, viewValue: { holder: 'bob' } };
const transfer = { choiceArgument: { newOwner: 'bob' }, exerciseResult: '00c2' };

/** The values for some events, with undecoded ones. */
const valuesFor = (types: readonly [ContractType, ...ContractType[]], ...events: readonly EventOf<Update>[]) =>
  lastValueFrom(of(...events).pipe(ofTemplate(...types, { onUndecodable: 'emit' }), toArray()));

const BOND = 'Finance.Bonds:Bond';

describe('ofTemplate with ids', () => {
  it.each([
    '',
    'Bond',
    ':',
    'Bonds:',
    ':Bond',
    'Finance/Bonds:Bond',
    'Finance..Bonds:Bond',
    '.Bonds:Bond',
    '1Bonds:Bond',
    '#finance:Bond',
    '#:Bonds:Bond',
    '#fin ance:Bonds:Bond',
    ':Bonds:Bond',
    '1220f0:Bonds:',
    '1220f0:Finance:Bonds:Bond',
    ' Bonds:Bond',
    'Bonds:Bond\n',
  ])('throws for %j synchronously', (malformed) => {
    expect(() => ofTemplate(BOND, malformed)).toThrow(
      new TypeError(`'${malformed}' is not a template id: use #package-name:Module:Entity or package-id:Module:Entity`),
    );
    expect(() => ofTemplate(malformed)).toThrow(TypeError);
  });

  it.each(['finance:Finance.Bonds:Bond', `${'1220f0'.repeat(10)}:Bonds:Bond`])(
    'throws for %s, whose package is neither a name with # nor an id',
    (id) => {
      expect(() => ofTemplate(id)).toThrow(new TypeError(`'${id}' is not a template id: did you mean '#${id}'?`));
    },
  );

  it('throws for ids mixed with types', () => {
    const mixed: readonly unknown[] = [BOND, contractType(`#finance:${BOND}`, t.unknown)];
    expect(() => Reflect.apply(ofTemplate, undefined, mixed) as unknown).toThrow(
      new TypeError('ofTemplate takes ids of templates or types, not both'),
    );
  });
});

describe('ofTemplate with types', () => {
  it('passes the events of the types, decoded, in their order', () => {
    const values: Record<string, EventOf<Update>> = {
      c: created(),
      a: archived(),
      x: exercised(transfer),
      u: unassigned(),
      s: assigned(),
      C: created({ ...thing, createArgument: { size: '1' } }),
      A: archived(thing),
      X: exercised({ ...thing, choiceArgument: { to: 'bob' } }),
      U: unassigned(thing),
      S: assigned({ createdEvent: created({ ...thing, createArgument: { size: '1' } }) }),
      k: unknownEvent,
      t: added,
      f: formerUnassigned,
    };
    const as = {
      c: { ...created(), type, payload: { owner } },
      a: archived(),
      x: { ...exercised(transfer), type, argument: { newOwner: 'bob' }, result: '00c2' },
      u: unassigned(),
      s: { ...assigned(), createdEvent: { ...assigned().createdEvent, type, payload: { owner } } },
    };
    const from = '--c-C-a-A-x-X-u-U-s-S-k-t-f--|';
    emits(ofTemplate(Bond), values, { from, to: '--c---a---x---u---s----------|', as });
  });

  it('tells several types apart by their template id', async () => {
    const values = await valuesFor(
      [Bond, Thing],
      created(),
      created({ ...thing, createArgument: { size: '1' } }),
      exercised(transfer),
      exercised({ ...thing, choiceArgument: { to: 'bob' } }),
    );
    expect(values).toMatchObject([
      { type, payload: { owner } },
      { type: Thing.templateId, payload: { size: '1' } },
      { type, argument: { newOwner: 'bob' } },
      { type: Thing.templateId, argument: { to: 'bob' } },
    ]);
  });

  it('passes the same object where nothing is decoded', async () => {
    const event = archived();
    expect((await valuesFor([Bond], event))[0]).toBe(event);
  });

  it('gives a contract that matches several types the first of them', async () => {
    const event = created({ interfaceViews: [view] });
    expect(await valuesFor([Bond, Holding], event)).toMatchObject([{ type, payload: { owner } }]);
    expect(await valuesFor([Holding, Bond], event)).toMatchObject([
      { type: '#holdings:Holding:Holding', payload: { holder: 'bob' } },
    ]);
  });

  it('passes the events of an interface by what they say of it', async () => {
    const implementedInterfaces = ['1220f5:Other:Other', interfaceId];
    const events = [
      created({ interfaceViews: [view] }),
      assigned({ createdEvent: created({ interfaceViews: [view] }) }),
      archived({ implementedInterfaces }),
      exercised({ choice: 'Lock', interfaceId, choiceArgument: {} }),
      exercised({ choice: 'Archive', implementedInterfaces }),
    ];
    expect(await valuesFor([Holding], ...events)).toMatchObject([
      { _tag: 'CreatedEvent', payload: { holder: 'bob' } },
      { _tag: 'AssignedEvent', createdEvent: { payload: { holder: 'bob' } } },
      { _tag: 'ArchivedEvent' },
      // the wire's null is absent in the event
      { _tag: 'ExercisedEvent', choice: 'Lock', result: null },
      { _tag: 'ExercisedEvent', choice: 'Archive', argument: {} },
    ]);
    const others = [created(), assigned(), archived(), exercised(), unassigned()];
    expect(await valuesFor([Holding], ...others)).toEqual([]);
  });

  it('passes an exercise as one of the type that has its choice', async () => {
    const event = exercised({ interfaceId, choiceArgument: { holder: 'bob' } });
    expect(await valuesFor([Bond, Holding], event)).toMatchObject([
      { type: '#holdings:Holding:Holding', choice: 'Transfer', argument: { holder: 'bob' } },
    ]);
  });

  it('passes an exercise of a choice that the type does not have, with another name for its choice', async () => {
    expect(await valuesFor([Bond], exercised({ interfaceId }), exercised({ choice: 'Split' }))).toEqual([
      { ...without('choice', exercised({ interfaceId })), type, otherChoice: 'Transfer' },
      { ...without('choice', exercised({ choice: 'Split' })), type, otherChoice: 'Split' },
    ]);
  });

  it('decodes archivals by choice, of a template and through an interface', async () => {
    const archive = { choice: 'Archive', choiceArgument: {}, exerciseResult: {} };
    expect(await valuesFor([Bond], exercised(archive), exercised({ ...archive, interfaceId }))).toMatchObject([
      { type, choice: 'Archive', argument: {}, result: {} },
      { type, choice: 'Archive', argument: {}, result: {} },
    ]);
  });

  it('takes a type that is no more than an id and a decoder for a template, and one with Archive for an interface', async () => {
    const decoder: ContractType['decoder'] = { run: (json) => ({ ok: true, result: json }) };
    const minimal: ContractType = { templateId: Bond.templateId, decoder };
    expect(await valuesFor([minimal], created({ createArgument: { owner } }), created(thing))).toMatchObject([
      { type: Bond.templateId, payload: { owner } },
    ]);
    const minimalInterface = { templateId: Holding.templateId, decoder, Archive: Holding.Archive };
    expect(await valuesFor([minimalInterface], created(), created({ interfaceViews: [view] }))).toMatchObject([
      { payload: { holder: 'bob' } },
    ]);
  });

  it('throws for an invalid type synchronously', () => {
    const { decoder } = Bond;
    expect(() => ofTemplate({ templateId: 'Main:Iou', decoder })).toThrow(TypeError);
    expect(() => ofTemplate(Bond, { templateId: '', decoder })).toThrow(TypeError);
    // @ts-expect-error -- at least one
    expect(() => ofTemplate({ onUndecodable: 'emit' })).toThrow(TypeError);
    const Other = interfaceType('#other:Holding:Holding', t.type({ holder: t.string }));
    expect(() => ofTemplate(Holding, Bond, Other)).toThrow(/^the interfaces .* cannot be distinguished/);
  });
});

describe('ofTemplate with types, of what does not decode,', () => {
  const secret = 'a-secret';
  const assignment = assigned({ createdEvent: created({ offset: 5, createArgument: { secret } }) });
  const exercise = exercised({ choiceArgument: { newOwner: { secret } }, exerciseResult: { secret } });
  const undecodable: readonly (readonly [string, EventOf<Update>, number, readonly string[]])[] = [
    ['a creation', created({ createArgument: { owner: { secret } } }), 1, ['createArgument.owner']],
    ['arguments of 3.3, which are absent', without('createArgument', created()), 1, ['createArgument']],
    ['an assignment', assignment, 5, ['createArgument.owner']],
    ['an exercise', exercise, 3, ['choiceArgument.newOwner', 'exerciseResult']],
  ];

  it.each(undecodable)('errors for %s, without values', (_, event, offset, paths) => {
    const { values, error } = observe(of(created(), event, created()).pipe(ofTemplate(Bond)));
    expect(values).toHaveLength(1);
    expect(error).toMatchObject({ _tag: 'DecodeError', path: type, offset, problems: paths.map((path) => ({ path })) });
    expect(String(error)).not.toContain(secret);
  });

  it.each(undecodable)('emits an UndecodedEvent in place of %s, and goes on', async (_, event, __, paths) => {
    const [before, undecoded, after] = await valuesFor([Bond], created(), event, created());
    expect(before).toMatchObject({ _tag: 'CreatedEvent' });
    expect(undecoded).toMatchObject({ _tag: 'UndecodedEvent', type, event, problems: paths.map((path) => ({ path })) });
    expect(after).toMatchObject({ _tag: 'CreatedEvent' });
  });
});
