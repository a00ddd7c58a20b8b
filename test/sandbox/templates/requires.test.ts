import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { type Command, contractType, create, exercise, interfaceType } from '../../../src/index.js';
import { createSandbox, interfaceInstance, template } from '../../../src/sandbox/index.js';
import { at, failure, listAt, textAt } from '../client.js';
import { anyParty, byInterface, forAny, ledgerEffects } from '../requests.js';
import { type Answer, ask } from './market.js';

const Holding = interfaceType('#holdings:Api:Holding', t.type({ holder: t.string }), {
  choices: { Describe: { argument: t.type({}), result: t.string } },
});

/** It requires Holding. */
const Lockable = interfaceType('#locks:Api:Lockable', t.type({ isLocked: t.boolean }), {
  choices: { Check: { argument: t.type({}), result: t.type({ holder: t.string, said: t.string }) } },
});

const Coin = contractType('#coins:Main:Coin', t.type({ owner: t.string }));

interface Owned {
  readonly payload: { readonly owner: string };
}

const controllers = ({ payload }: Owned) => [payload.owner];

const holding = interfaceInstance(Holding, {
  view: ({ payload }: Owned) => ({ holder: payload.owner }),
  choices: {
    Describe: { consuming: false, controllers, exercise: ({ payload }: Owned) => `a coin of ${payload.owner}` },
  },
});

/** A choice that uses its contract as one of the required interface. */
const lockable = interfaceInstance(Lockable, {
  requires: [Holding],
  view: ({ payload }: Owned) => ({ isLocked: payload.owner === '' }),
  choices: {
    Check: {
      consuming: false,
      controllers,
      exercise: ({ contractId }, _argument, ledger) => ({
        holder: ledger.fetch(Holding, contractId).payload.holder,
        said: ledger.exercise(Holding, contractId, 'Describe', {}),
      }),
    },
  },
});

/** The same interface, by a template that does not say what the interface requires. */
const silent = interfaceInstance(Lockable, { view: () => ({ isLocked: true }) });

const signatories = controllers;

const coin = template(Coin, { signatories, interfaces: [lockable, holding] });

function coins() {
  const sandbox = createSandbox({ templates: [coin], confirmationMs: 0 });
  const owner = sandbox.hostedParty('owner');
  let ids = 0;
  const submit = (command: Command, transactionFormat: unknown = ledgerEffects(anyParty)): Answer => {
    const commands = { userId: 'app', commandId: `cmd-${(ids += 1)}`, actAs: [owner], commands: [command] };
    return ask(sandbox, '/v2/commands/submit-and-wait-for-transaction', { commands, transactionFormat });
  };
  const made = submit(create(Coin, { owner }), ledgerEffects(forAny(byInterface(Holding.templateId))));
  return {
    sandbox,
    owner,
    submit,
    made,
    id: textAt(made.json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId'),
  };
}

const eventsOf = ({ json }: Answer): readonly unknown[] => listAt(json, 'transaction', 'events');

describe('an interface that requires another one', () => {
  it('shows its contracts by both, each with its view', () => {
    const { sandbox, owner, made } = coins();
    const views = (...ids: readonly string[]) => {
      const eventFormat = forAny(...ids.map((id) => byInterface(id)));
      const { json } = ask(sandbox, '/v2/state/active-contracts', { activeAtOffset: sandbox.ledgerEnd, eventFormat });
      const [entry] = listAt(json);
      const created = at(entry, 'contractEntry', 'JsActiveContract', 'createdEvent');
      return listAt(created, 'interfaceViews').map((view) => at(view, 'viewValue'));
    };
    expect(eventsOf(made)).toMatchObject([{ CreatedEvent: { interfaceViews: [{ viewValue: { holder: owner } }] } }]);
    expect(views(Holding.templateId)).toEqual([{ holder: owner }]);
    expect(views(Lockable.templateId, Holding.templateId)).toEqual([{ isLocked: false }, { holder: owner }]);
  });

  it('has its own choices, which use the contract by the required one', () => {
    const { owner, id, submit } = coins();
    const said = `a coin of ${owner}`;
    expect(eventsOf(submit(exercise(Lockable.Check, id, {})))).toMatchObject([
      {
        ExercisedEvent: {
          interfaceId: expect.stringMatching(/:Api:Lockable$/),
          exerciseResult: { holder: owner, said },
          lastDescendantNodeId: 2,
        },
      },
      { ExercisedEvent: { interfaceId: expect.stringMatching(/:Api:Holding$/), choice: 'Describe', nodeId: 2 } },
    ]);
    expect(eventsOf(submit(exercise(Holding.Describe, id, {})))).toMatchObject([
      { ExercisedEvent: { exerciseResult: said } },
    ]);
    const ofRequired = { ...Holding.Describe, template: () => Lockable };
    expect(submit(exercise(ofRequired, id, {}))).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
  });

  it('is refused at the definition of a template that does not implement the other one', () => {
    const refusal =
      'The template #coins:Main:Coin implements #locks:Api:Lockable, which requires #holdings:Api:Holding: ' +
      'add an interfaceInstance of #holdings:Api:Holding';
    expect(() => template(Coin, { signatories, interfaces: [lockable] })).toThrow(new TypeError(refusal));
    expect(() => template(Coin, { signatories, interfaces: [holding] })).not.toThrow();
  });

  it('is required of all templates of a sandbox, if one of them says so', () => {
    const Other = contractType('#coins:Main:Other', t.type({ owner: t.string }));
    const other = template(Other, { signatories, interfaces: [silent] });
    expect(() => createSandbox({ templates: [other] })).not.toThrow();
    for (const templates of [
      [coin, other],
      [other, coin],
    ])
      expect(() => createSandbox({ templates })).toThrow(
        /^The template #coins:Main:Other implements #locks:Api:Lockable, which requires #holdings:Api:Holding/,
      );
  });
});
