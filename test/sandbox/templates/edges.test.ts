import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { type Command, contractType, create, exercise, interfaceType } from '../../../src/index.js';
import { createSandbox, interfaceInstance, template, type TemplateLedger } from '../../../src/sandbox/index.js';
import { at, failure, listAt, textAt } from '../client.js';
import { acsDelta, anyParty, byInterface, forAny, ledgerEffects } from '../requests.js';
import { type Answer, ask } from './market.js';

const Odd = interfaceType('#edges-api:Api:Odd', t.type({ value: t.string }));

const choice = { argument: t.type({}), result: t.unknown };

const Edge = contractType('#edges:Main:Edge', t.type({ owners: t.array(t.string), watchers: t.array(t.string) }), {
  choices: {
    Look: { argument: t.type({ by: t.array(t.string), at: t.array(t.string) }), result: t.unknown },
    Nest: choice,
    CatchAndReturn: choice,
    CatchAndThrow: choice,
    Leak: choice,
    Use: choice,
    Later: choice,
    UseLater: choice,
    Count: { argument: t.type({}), result: t.number },
    Take: { argument: t.type({}), result: t.string },
    Find: { argument: t.type({}), result: t.array(t.string) },
  },
});

/** The choice as the code generator has it, with an encoder of its result. */
const Encoded = Object.assign(
  { ...Edge },
  { Count: { ...Edge.Count, resultEncode: (count: number) => `count ${count}` } },
);

const leaked: TemplateLedger[] = [];

const owners = ({ payload }: { readonly payload: { readonly owners: string[] } }) => payload.owners;

const body = <R>(exerciseBody: (id: string, ledger: TemplateLedger, all: string[]) => R) => ({
  consuming: false,
  controllers: owners,
  exercise: (
    contract: { readonly contractId: string; readonly payload: { readonly owners: string[] } },
    _: unknown,
    ledger: TemplateLedger,
  ) => exerciseBody(contract.contractId, ledger, contract.payload.owners),
});

const edge = template(Encoded, {
  signatories: owners,
  observers: ({ payload }) => payload.watchers,
  key: () => 'the only key',
  interfaces: [
    interfaceInstance(Odd, {
      view: () => {
        throw new Error('no view');
      },
    }),
  ],
  choices: {
    Look: { consuming: false, controllers: (_contract, { by }) => by, exercise: () => ({}) },
    Find: body((id, ledger) => {
      const before = ledger.lookupByKey(Edge, 'the only key') ?? 'none';
      ledger.archive(id);
      return [before, ledger.lookupByKey(Edge, 'the only key') ?? 'none'];
    }),
    Nest: body((id, ledger, all) => {
      const made = ledger.create(Edge, { owners: all, watchers: [] });
      return ledger.exercise(Edge, id, 'Look', { by: all, at: [made] });
    }),
    CatchAndReturn: body((id, ledger) => {
      try {
        return ledger.exercise(Edge, id, 'Look', { by: [], at: [] });
      } catch {
        return {};
      }
    }),
    CatchAndThrow: body((id, ledger) => {
      try {
        return ledger.exercise(Edge, id, 'Look', { by: [], at: [] });
      } catch {
        throw new Error('another one');
      }
    }),
    Leak: body((_id, ledger) => {
      leaked.push(ledger);
      return {};
    }),
    Use: body((_id, _ledger, all) => leaked.pop()?.create(Edge, { owners: all, watchers: [] }) ?? {}),
    Later: body(() => Promise.resolve({})),
    UseLater: body(async (_id, ledger, all) => {
      await Promise.resolve();
      return ledger.create(Edge, { owners: all, watchers: [] });
    }),
    Count: body(() => 42),
    Take: { controllers: owners, exercise: ({ contractId }) => contractId },
  },
});

function edges() {
  const sandbox = createSandbox({ templates: [edge], confirmationMs: 0 });
  const [ann, bea, cy] = ['ann', 'bea', 'cy'].map((hint) => sandbox.hostedParty(hint)) as [string, string, string];
  let ids = 0;
  const submit = (commands: readonly Command[], transactionFormat: unknown = ledgerEffects(anyParty)): Answer => {
    const request = { userId: 'app', commandId: `cmd-${(ids += 1)}`, actAs: [ann, bea], commands };
    return ask(sandbox, '/v2/commands/submit-and-wait-for-transaction', { commands: request, transactionFormat });
  };
  const made = create(Edge, { owners: [ann], watchers: [bea, cy] });
  const id = textAt(submit([made]).json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId');
  const on = (type: Parameters<typeof exercise>[0]): Answer => submit([exercise(type, id, {})]);
  return { sandbox, ann, bea, cy, id, made, submit, on };
}

const eventsOf = ({ json }: Answer): readonly unknown[] => listAt(json, 'transaction', 'events');

describe('the edges of templates', () => {
  it('hide a choice that archives nothing from the observers who do not exercise it', () => {
    const { ann, bea, id, submit } = edges();
    const answer = submit([exercise(Edge.Look, id, { by: [bea], at: [] })]);
    expect(eventsOf(answer)).toMatchObject([{ ExercisedEvent: { actingParties: [bea], witnessParties: [ann, bea] } }]);
    expect(answer.status).toBe(200);
  });

  it('are seen by all their observers', () => {
    const { cy, ann, bea, made, submit } = edges();
    expect(eventsOf(submit([made]))).toMatchObject([
      { CreatedEvent: { observers: [bea, cy], witnessParties: [ann, bea, cy] } },
    ]);
  });

  it('refuse a choice without controllers, and a contract without signatories', () => {
    const { id, submit } = edges();
    const refusal = (cause: string) =>
      failure(400, 'DAML_AUTHORIZATION_ERROR', { cause: expect.stringContaining(cause) });
    expect(submit([exercise(Edge.Look, id, { by: [], at: [] })])).toMatchObject(refusal('has no controllers'));
    expect(submit([create(Edge, { owners: [], watchers: [] })])).toMatchObject(refusal('has no signatories'));
  });

  it('give the ids of created contracts their suffix in arguments, too', () => {
    const { on } = edges();
    const [, created, looked] = eventsOf(on(Edge.Nest));
    const made = textAt(created, 'CreatedEvent', 'contractId');
    expect(at(looked, 'ExercisedEvent', 'choiceArgument', 'at')).toEqual([made]);
    expect(made).toMatch(/ca1112/);
  });

  it('have no archive of a contract that was never active', () => {
    const { made, submit } = edges();
    const { CreateCommand } = made as Extract<Command, { readonly CreateCommand: unknown }>;
    const command = { CreateAndExerciseCommand: { ...CreateCommand, choice: 'Take', choiceArgument: {} } };
    expect(eventsOf(submit([command], acsDelta(anyParty)))).toEqual([]);
  });

  it('reject a submission although a choice has caught the error, with the first error', () => {
    const { sandbox, on } = edges();
    const before = sandbox.updates.length;
    for (const caught of [Edge.CatchAndReturn, Edge.CatchAndThrow])
      expect(on(caught)).toMatchObject(failure(400, 'DAML_AUTHORIZATION_ERROR'));
    expect(sandbox.updates).toHaveLength(before);
  });

  it('take the ledger from a choice that is over, and refuse one that is asynchronous', async () => {
    const { id, submit, on } = edges();
    const refusal = failure(400, 'INTERPRETATION_USER_ERROR', { cause: expect.stringContaining('synchronous') });
    expect(submit([exercise(Edge.Leak, id, {}), exercise(Edge.Use, id, {})])).toMatchObject(refusal);
    expect(on(Edge.Later)).toMatchObject(refusal);
    expect(on(Edge.UseLater)).toMatchObject(refusal);
    // a rejection that nothing handles fails the test
    await new Promise(setImmediate);
  });

  it('encode a result as its type does', () => {
    expect(eventsOf(edges().on(Edge.Count))).toMatchObject([{ ExercisedEvent: { exerciseResult: 'count 42' } }]);
  });

  it('find by a key first what the transaction has created, newest first, and never what it has consumed', () => {
    const { id, made, submit } = edges();
    const templateId = Edge.templateId;
    const byKey = {
      ExerciseByKeyCommand: { templateId, contractKey: 'the only key', choice: 'Take', choiceArgument: {} },
    };
    const events = eventsOf(submit([made, made, byKey, byKey, byKey]));
    const createdIds = events.flatMap((event) => at(event, 'CreatedEvent', 'contractId') ?? []);
    const used = events.flatMap((event) => at(event, 'ExercisedEvent', 'contractId') ?? []);
    expect(used).toEqual([...createdIds.reverse(), id]);
    expect(submit([byKey])).toMatchObject(failure(404, 'CONTRACT_KEY_NOT_FOUND'));
    submit([made]);
    expect(submit([byKey, byKey])).toMatchObject(failure(404, 'CONTRACT_KEY_NOT_FOUND'));
  });

  it('look up a key without an error, and without a contract that is consumed', () => {
    const { id, on } = edges();
    const results = (answer: Answer) => eventsOf(answer).map((event) => at(event, 'ExercisedEvent', 'exerciseResult'));
    // before and after the contract is archived
    expect(results(on(Edge.Find))[0]).toEqual([id, 'none']);
  });

  it('commit a contract whose view fails', () => {
    const { made, submit } = edges();
    const format = ledgerEffects(forAny(byInterface(Odd.templateId)));
    expect(eventsOf(submit([made], format))).toMatchObject([
      { CreatedEvent: { interfaceViews: [{ viewStatus: { code: 9, message: 'Error: no view' }, viewValue: null }] } },
    ]);
  });
});
