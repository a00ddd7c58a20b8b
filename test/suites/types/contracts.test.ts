import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { EMPTY, map, type Observable } from 'rxjs';
import type { ContractId, Party } from '@daml/types';
import { type Command, create, createAndExercise, exercise } from '../../../src/codecs/Command.js';
import type {
  ArgumentOf,
  ChoiceType,
  ContractType,
  CreatableType,
  PayloadOf,
  ResultOf,
} from '../../../src/codecs/ContractType.js';
import { contractType, interfaceType } from '../../../src/codecs/TemplateType.js';
import type { ArchivedEvent, CreatedEvent, TransactionEvent } from '../../../src/codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../../../src/codecs/Reassignment.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { Contract, ContractOf, UndecodedContract } from '../../../src/contracts/Contract.js';
import type {
  AssignedEventOf,
  CreatedEventOf,
  ExercisedEventOf,
  UndecodedEvent,
} from '../../../src/operators/ContractEvent.js';
import { ofEvent } from '../../../src/operators/ofVariant.js';
import { ofTemplate } from '../../../src/operators/ofTemplate.js';
import type { EventOf } from '../../../src/operators/toEvents.js';
import type { Inventory as Former } from '../../fixtures/codegen34/lib/index.js';
import type { Inventory } from '../../fixtures/codegen35/lib/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

/** A record without fields. */
type Unit = Readonly<Record<string, never>>;

declare const inventory: typeof Inventory;
declare const former: typeof Former;
type Crate = Inventory.Crate;

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }), {
  choices: {
    Transfer: { argument: t.type({ newOwner: t.string }), result: t.string },
    Settle: { argument: t.type({}) },
  },
});
const Holding = interfaceType('#holdings:Holding:Holding', t.type({ owner: t.string }), {
  choices: { Lock: { argument: t.type({ until: t.string }), result: t.null } },
});

describe('a contract type', () => {
  it('is a template or an interface of the code generator, of 3.5 and of 3.4 in one program (pitfall 43)', () => {
    expectTypeOf<typeof Inventory.Crate>().toExtend<CreatableType<Crate>>();
    expectTypeOf<typeof Former.Crate>().toExtend<CreatableType<Former.Crate>>();
    expectTypeOf<typeof Inventory.Transferable>().toExtend<ContractType<Inventory.Transferable>>();
    expectTypeOf<typeof Former.Transferable>().toExtend<ContractType<Former.Transferable>>();
    expectTypeOf<typeof Inventory.Transferable>().not.toExtend<CreatableType>();
    expectTypeOf<PayloadOf<typeof Inventory.Crate>>().toEqualTypeOf<Crate>();
    expectTypeOf<PayloadOf<typeof Former.Crate>>().toEqualTypeOf<Former.Crate>();
    expectTypeOf<PayloadOf<typeof Inventory.Transferable>['holder']>().toEqualTypeOf<Party>();
    expectTypeOf<readonly ContractType[]>().toExtend<readonly ContractType[]>();
    expectTypeOf<[typeof Inventory.Crate, typeof Former.Crate, typeof Iou]>().toExtend<readonly ContractType[]>();
  });

  it('has choices, of the code generator or of codecs', () => {
    expectTypeOf<typeof Inventory.Crate.Split>().toExtend<ChoiceType<Inventory.Split>>();
    expectTypeOf<ArgumentOf<typeof Inventory.Crate.Split>>().toEqualTypeOf<Inventory.Split>();
    expectTypeOf<ResultOf<typeof Inventory.Crate.Split>>().toEqualTypeOf<ContractId<Crate>[]>();
    expectTypeOf<ArgumentOf<typeof Former.Transferable.Transfer>>().toEqualTypeOf<Former.Transfer>();

    expectTypeOf(Iou.Transfer).toEqualTypeOf<ChoiceType<{ newOwner: string }, string>>();
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- what io-ts says
    expectTypeOf(Iou.Settle).toEqualTypeOf<ChoiceType<{}>>();
    expectTypeOf(Iou.Archive).toEqualTypeOf<ChoiceType<Unit, Unit>>();
    expectTypeOf(Holding.Lock).toEqualTypeOf<ChoiceType<{ until: string }, null>>();
    // @ts-expect-error -- no such choice
    expect(Iou.Burn).toBeUndefined();
    // @ts-expect-error -- no choices
    expect(contractType('#finance:Main:Note', t.string).Burn).toBeUndefined();
  });

  it('made of codecs has their types', () => {
    expectTypeOf<PayloadOf<typeof Iou>>().toEqualTypeOf<{ owner: string; amount: string }>();
    expectTypeOf(Iou.templateId).toEqualTypeOf<'#finance:Main:Iou'>();
    expectTypeOf<PayloadOf<typeof Holding>>().toEqualTypeOf<{ owner: string }>();
    expectTypeOf(Holding).not.toExtend<CreatableType>();
  });
});

describe('a contract of a query', () => {
  type Contracts = ContractOf<{ iou: typeof Iou; crate: typeof Inventory.Crate; former: typeof Former.Crate }>;

  it('narrows by type to the payload', () => {
    const payload = (contract: Contracts): void => {
      if (contract.type === 'iou') {
        expectTypeOf(contract).toEqualTypeOf<Contract<'iou', { owner: string; amount: string }>>();
        expectTypeOf(contract.payload.amount).toBeString();
      } else if (contract.type === 'crate') {
        expectTypeOf(contract.payload).toEqualTypeOf<Crate>();
      } else if (contract.type === 'former') {
        expectTypeOf(contract.payload).toEqualTypeOf<Former.Crate>();
      } else {
        expectTypeOf(contract).toEqualTypeOf<
          UndecodedContract<'iou'> | UndecodedContract<'crate'> | UndecodedContract<'former'>
        >();
      }
    };
    expect(payload).toBeInstanceOf(Function);
  });

  it('narrows by tag, and has no payload before', () => {
    const payload = (contract: Contracts): void => {
      // @ts-expect-error -- it may be undecoded
      expect(Object.keys(contract.payload)).toBeDefined();
      if (contract._tag === 'Contract') {
        expectTypeOf(contract.type).toEqualTypeOf<'iou' | 'crate' | 'former'>();
      } else {
        expectTypeOf(contract.expectedType).toEqualTypeOf<'iou' | 'crate' | 'former'>();
      }
    };
    expect(payload).toBeInstanceOf(Function);
  });
});

describe('the properties of a contract', () => {
  type Contracts = ContractOf<{ iou: typeof Iou }>;

  it('are declared for both kinds, because both have them: `in` tells nothing', () => {
    const compiles = (contract: Contracts): void => {
      // @ts-expect-error -- a contract that decodes has the property too
      if ('problems' in contract) expect(contract.problems.length).toBe(1);
      // @ts-expect-error -- and one that does not has this one
      if ('payload' in contract) expect(Object.keys(contract.payload)).toBeDefined();
      if (contract.problems !== undefined) expectTypeOf(contract).toEqualTypeOf<UndecodedContract<'iou'>>();
      expectTypeOf(contract.expectedType).toEqualTypeOf<'iou' | undefined>();
      expectTypeOf(contract.viewStatus?.code).toEqualTypeOf<number | undefined>();
    };
    expect(compiles).toBeInstanceOf(Function);
  });

  it('are those of a spread and of a clone, too', () => {
    const compiles = (contract: Contracts): void => {
      const row = { ...contract, isSelected: false };
      if (row.type === 'iou') expectTypeOf(row.payload.amount).toBeString();
      else expectTypeOf(row.problems).toEqualTypeOf<UndecodedContract['problems']>();
      expectTypeOf(row.contractId).toBeString();
      expectTypeOf(structuredClone(contract)).toEqualTypeOf<Contracts>();
    };
    expect(compiles).toBeInstanceOf(Function);
  });
});

describe('a command', () => {
  /** Compiled only. */
  const compiles = (cid: ContractId<Crate>, crate: Crate): Command[] => [
    create(Iou, { owner: 'alice', amount: '1.0' }),
    create(inventory.Crate, crate),
    create(former.Crate, { ...crate, labels: crate.labels }),
    exercise(Iou.Transfer, '00ab', { newOwner: 'bob' }),
    exercise(Iou.Archive, '00ab', {}),
    exercise(Holding.Lock, '00ab', { until: 'later' }),
    exercise(inventory.Crate.Split, cid, { counts: ['1'] }),
    exercise(inventory.Crate.Archive, cid, {}),
    exercise(inventory.Transferable.Transfer, cid, { to: 'bob' }),
    exercise(former.Transferable.Transfer, cid, { to: 'bob' }),
    createAndExercise(Iou, { owner: 'alice', amount: '1.0' }, Iou.Transfer, { newOwner: 'bob' }),
    // @ts-expect-error -- a field is missing
    create(Iou, { owner: 'alice' }),
    // @ts-expect-error -- an Int and a Decimal are strings
    create(Iou, { owner: 'alice', amount: 1 }),
    // @ts-expect-error -- no such field
    create(Iou, { owner: 'alice', amount: '1.0', color: 'red' }),
    // @ts-expect-error -- the payload of another template
    create(inventory.Crate, { owner: 'alice', amount: '1.0' }),
    // @ts-expect-error -- of no such grade
    create(inventory.Crate, { ...crate, grade: 'Frozen' }),
    // @ts-expect-error -- an interface is not created
    create(Holding, { owner: 'alice' }),
    // @ts-expect-error -- nor one of the code generator
    create(inventory.Transferable, { holder: 'alice' }),
    // @ts-expect-error -- the argument of another choice
    exercise(Iou.Transfer, '00ab', { to: 'bob' }),
    // @ts-expect-error -- no argument
    exercise(Iou.Transfer, '00ab'),
    // @ts-expect-error -- it must be a list
    exercise(inventory.Crate.Split, cid, { counts: '1' }),
    // @ts-expect-error -- Archive has no argument
    exercise(Iou.Archive, '00ab', { newOwner: 'bob' }),
    // @ts-expect-error -- a template is no choice
    exercise(Iou, '00ab', {}),
    // @ts-expect-error -- the wrong argument
    createAndExercise(Iou, { owner: 'alice', amount: '1.0' }, Iou.Transfer, {}),
  ];

  it('is checked by the compiler', () => {
    expect(compiles).toBeInstanceOf(Function);
  });
});

describe('the events of a type', () => {
  /** Compiled only. */
  const compiles = (events$: Observable<EventOf<Update>>, ofTransactions$: Observable<TransactionEvent>): void => {
    expectTypeOf(events$.pipe(ofTemplate(Iou))).toEqualTypeOf<
      Observable<
        | CreatedEventOf<typeof Iou>
        | ExercisedEventOf<typeof Iou>
        | AssignedEventOf<typeof Iou>
        | ArchivedEvent
        | UnassignedEvent
      >
    >();
    expectTypeOf(ofTransactions$.pipe(ofEvent('ArchivedEvent'), ofTemplate(Iou))).toEqualTypeOf<
      Observable<ArchivedEvent>
    >();
    ofTransactions$.pipe(ofTemplate(inventory.Crate)).subscribe((event) => {
      if (event._tag === 'CreatedEvent') {
        expectTypeOf(event.payload).toEqualTypeOf<Crate>();
        expectTypeOf(event.type).toEqualTypeOf<'#inventory:Inventory:Crate'>();
        expectTypeOf(event).toExtend<CreatedEvent>();
      }
    });
    events$.pipe(ofTemplate(Iou), ofEvent('AssignedEvent')).subscribe((event) => {
      expectTypeOf(event.createdEvent.payload).toEqualTypeOf<{ owner: string; amount: string }>();
      expectTypeOf(event).toExtend<AssignedEvent>();
    });
    events$.pipe(ofEvent('CreatedEvent'), ofTemplate(Iou, inventory.Transferable)).subscribe((event) => {
      if (event.type === '#finance:Main:Iou') {
        expectTypeOf(event.payload).toEqualTypeOf<{ owner: string; amount: string }>();
      } else {
        expectTypeOf(event.payload.holder).toEqualTypeOf<Party>();
      }
      if (event.type === Iou.templateId) expectTypeOf(event.payload.amount).toBeString();
    });
    events$.pipe(ofTemplate(Iou, { onUndecodable: 'emit' })).subscribe((event) => {
      if (event._tag === 'UndecodedEvent') {
        expectTypeOf(event).toEqualTypeOf<UndecodedEvent<'#finance:Main:Iou'>>();
      }
    });
    // @ts-expect-error -- no such policy
    void events$.pipe(ofTemplate(Iou, { onUndecodable: 'drop' }));
    // @ts-expect-error -- types and templates by name do not mix
    void events$.pipe(ofTemplate(Iou, 'Main:Iou'));
    // @ts-expect-error -- events are decoded with types only
    void events$.pipe(ofTemplate('Main:Iou', { onUndecodable: 'emit' }));
  };
  /** Compiled only. */
  const exercised = (events$: Observable<TransactionEvent>): void => {
    events$.pipe(ofEvent('ExercisedEvent'), ofTemplate(Iou)).subscribe((event) => {
      expectTypeOf(event.choice).toEqualTypeOf<'Transfer' | 'Settle' | 'Archive' | undefined>();
      // @ts-expect-error -- of which choice?
      expect(event.argument).toBeDefined();
      switch (event.choice) {
        case 'Transfer':
          expectTypeOf(event.argument).toEqualTypeOf<{ newOwner: string }>();
          expectTypeOf(event.result).toBeString();
          break;
        case 'Settle':
          expectTypeOf(event.result).toBeUnknown();
          break;
        case 'Archive':
          expectTypeOf(event.argument).toEqualTypeOf<Unit>();
          break;
        default:
          // @ts-expect-error -- a choice that the type does not have
          expect(event.argument).toBeDefined();
          expectTypeOf(event.otherChoice).toBeString();
          expectTypeOf(event.choiceArgument).toBeUnknown();
      }
    });
    events$.pipe(ofTemplate(inventory.Crate, inventory.Transferable)).subscribe((event) => {
      if (event._tag !== 'ExercisedEvent') return;
      if (event.choice === 'Split') {
        expectTypeOf(event.argument).toEqualTypeOf<Inventory.Split>();
        expectTypeOf(event.result).toEqualTypeOf<ContractId<Crate>[]>();
      }
      if (event.choice === 'Transfer') expectTypeOf(event.argument).toEqualTypeOf<Inventory.Transfer>();
    });
  };

  const none$: Observable<TransactionEvent> = EMPTY;
  /** An annotated field must not change the inference of the operator. */
  class Service {
    readonly created$: Observable<CreatedEventOf<typeof Iou>> = none$.pipe(ofEvent('CreatedEvent'), ofTemplate(Iou));
    readonly crates$: Observable<CreatedEventOf<typeof Inventory.Crate>> = none$.pipe(
      ofTemplate(inventory.Crate),
      ofEvent('CreatedEvent'),
    );
    readonly owners$: Observable<string> = none$.pipe(
      ofTemplate(Iou),
      ofEvent('CreatedEvent'),
      map(({ payload }) => payload.owner),
    );
    // @ts-expect-error -- the events of another type
    readonly wrong$: Observable<CreatedEventOf<typeof Inventory.Crate>> = none$.pipe(
      ofEvent('CreatedEvent'),
      ofTemplate(Iou),
    );
  }

  it('are typed', () => {
    expect(Service).toBeInstanceOf(Function);
    expect(compiles).toBeInstanceOf(Function);
    expect(exercised).toBeInstanceOf(Function);
  });
});
