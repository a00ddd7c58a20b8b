import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { contractType, interfaceType } from '../../../src/index.js';
import { createSandbox, interfaceInstance, template } from '../../../src/sandbox/index.js';
import { Inventory } from '../../helpers/inventory.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const Holding = interfaceType('#api:Api:Holding', t.type({ holder: t.string }), {
  choices: { Lock: { argument: t.type({ until: t.string }), result: t.boolean } },
});
const Iou = contractType('#bank:Main:Iou', t.type({ issuer: t.string, owner: t.string, amount: t.number }), {
  choices: {
    Give: { argument: t.type({ to: t.string }), result: t.string },
    Check: { argument: t.type({}), result: t.type({ amount: t.number }) },
    Note: { argument: t.type({ text: t.string }) },
  },
});

const compiles = (make: () => unknown): void => {
  expect(make).not.toThrow();
};

const signatories = ({ payload }: { readonly payload: { readonly issuer: string } }) => [payload.issuer];

describe('template', () => {
  it('has the payload, the arguments and the results of its type', () => {
    const iou = template(Iou, {
      signatories: ({ payload }) => [payload.issuer],
      observers: (contract) => {
        expectTypeOf(contract.payload).toEqualTypeOf<{ issuer: string; owner: string; amount: number }>();
        return [contract.payload.owner];
      },
      ensure: ({ payload }) => payload.amount > 0,
      interfaces: [
        interfaceInstance(Holding, {
          view: ({ payload }) => ({ holder: payload.owner }),
          choices: {
            Lock: {
              controllers: ({ payload }) => [payload.owner],
              exercise: ({ payload }, { until }) => until > payload.owner,
            },
          },
        }),
      ],
      choices: {
        Give: {
          controllers: ({ payload }) => [payload.owner],
          exercise: ({ contractId, payload }, { to }, ledger) => {
            expectTypeOf(ledger.fetch(Iou, contractId).payload.amount).toEqualTypeOf<number>();
            expectTypeOf(ledger.fetch(Holding, contractId).payload.holder).toEqualTypeOf<string>();
            expectTypeOf(ledger.exercise(Iou, contractId, 'Check', {})).toEqualTypeOf<{ amount: number }>();
            expectTypeOf(ledger.exercise(Iou, contractId, Iou.Check, {})).toEqualTypeOf<{ amount: number }>();
            expectTypeOf(ledger.exercise(Holding, contractId, 'Lock', { until: 'noon' })).toEqualTypeOf<boolean>();
            ledger.exercise(Iou, contractId, 'Archive', {});
            return ledger.create(Iou, { ...payload, owner: to });
          },
        },
        Check: {
          consuming: false,
          controllers: ({ payload }) => [payload.owner],
          exercise: ({ payload }) => ({ amount: payload.amount }),
        },
        // a choice without a type of its result
        Note: { controllers: ({ signatories: all }, { text }) => [...all, text], exercise: () => undefined },
      },
    });
    expect(createSandbox({ templates: [iou] }).updates).toEqual([]);
  });

  it('does not compile with others', () => {
    // @ts-expect-error -- signatories are required
    compiles(() => template(Iou, {}));
    // @ts-expect-error -- there is no such field
    compiles(() => template(Iou, { signatories, ensure: ({ payload }) => payload.owned !== '' }));
    // @ts-expect-error -- parties are texts
    compiles(() => template(Iou, { signatories: ({ payload }) => [payload.amount] }));
    // @ts-expect-error -- there is no such choice
    compiles(() => template(Iou, { signatories, choices: { Take: { controllers: signatories, exercise: () => '' } } }));
    const archive = { controllers: signatories, exercise: () => ({}) };
    // @ts-expect-error -- every template has Archive
    compiles(() => template(Iou, { signatories, choices: { Archive: archive } }));
    // @ts-expect-error -- the result is a text
    compiles(() => template(Iou, { signatories, choices: { Give: { controllers: signatories, exercise: () => 7 } } }));
    // @ts-expect-error -- the interface has no such view
    compiles(() => interfaceInstance(Holding, { view: () => ({ owner: '' }) }));
    // @ts-expect-error -- a type is no template
    compiles(() => (): unknown => createSandbox({ templates: [Iou] }));
    compiles(() =>
      template(Iou, {
        signatories,
        choices: {
          Give: {
            controllers: signatories,
            exercise: ({ contractId, payload }, { to }, ledger) => {
              // @ts-expect-error -- the amount is missing
              ledger.create(Iou, { issuer: payload.issuer, owner: to });
              // @ts-expect-error -- the argument is missing
              ledger.exercise(Iou, contractId, 'Give', {});
              // @ts-expect-error -- there is no such choice
              ledger.exercise(Iou, contractId, 'Take', {});
              // @ts-expect-error -- a contract is not created by a number
              ledger.create(Iou, 7);
              return contractId;
            },
          },
        },
      }),
    );
  });

  it('has JSON if only its id is known', () => {
    template('#bank:Main:Iou', {
      signatories: ({ payload }) => [String(payload['issuer'])],
      choices: {
        Give: {
          controllers: (_contract, argument) => [String(argument['to'])],
          exercise: ({ payload }, { to }, ledger) => ledger.create('#bank:Main:Iou', { ...payload, owner: to }),
        },
      },
    });
  });

  it('takes the types of generated code', () => {
    const { Crate } = Inventory;
    const crate = template(Crate, {
      signatories: ({ payload }) => [payload.holder],
      interfaces: [
        interfaceInstance(Inventory.Transferable, {
          view: ({ payload }) => ({ holder: payload.holder }),
          choices: {
            Transfer: {
              controllers: ({ payload }) => [payload.holder],
              exercise: ({ payload }, { to }, ledger) => ledger.create(Crate, { ...payload, holder: to }),
            },
          },
        }),
      ],
      choices: {
        Split: {
          controllers: ({ payload }) => [payload.holder],
          exercise: ({ payload }, { counts }, ledger) =>
            counts.map((count) => ledger.create(Crate, { ...payload, count })),
        },
      },
    });
    expect(crate.templateId).toBe('#inventory:Inventory:Crate');
  });
});
