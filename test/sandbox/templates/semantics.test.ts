import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type Command, create, createAndExercise, exercise } from '../../../src/index.js';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { at, failure, listAt, textAt } from '../client.js';
import { anyParty, byInterface, forAny, forParty, ledgerEffects, wildcard } from '../requests.js';
import { type Answer, ask, Asset, market, Offer, Transferable } from './market.js';

const submitPath = '/v2/commands/submit-and-wait-for-transaction';

let commandIds = 0;

/** Submits commands, and returns the answer. */
function submit(sandbox: Sandbox, actAs: readonly string[], commands: readonly Command[], fields: object = {}): Answer {
  const { transactionFormat = ledgerEffects(anyParty), ...others } = fields as { readonly transactionFormat?: unknown };
  const body = { userId: 'app', commandId: `cmd-${(commandIds += 1)}`, actAs, commands, ...others };
  return ask(sandbox, submitPath, { commands: body, transactionFormat });
}

const eventsOf = ({ json }: Answer): readonly unknown[] => listAt(json, 'transaction', 'events');

/** The id of the contract that the last event creates. */
function createdIn(answer: Answer): string {
  expect(answer).toMatchObject({ status: 200 });
  return textAt(eventsOf(answer).at(-1), 'CreatedEvent', 'contractId');
}

const assetOf = (issuer: string, owner: string, fields: object = {}) =>
  create(Asset, { issuer, owner, amount: '10.5000000000', serial: '7', ...fields });

/** A market in which Alice has an asset, and offers it to Bob. */
function offered() {
  const parties = market();
  const { sandbox, issuer, alice, bob } = parties;
  const assetId = createdIn(submit(sandbox, [issuer], [assetOf(issuer, alice)]));
  const offerId = createdIn(submit(sandbox, [alice], [create(Offer, { seller: alice, buyer: bob, assetId })]));
  return { ...parties, assetId, offerId };
}

/** What shows a contract to a submission whose parties do not see it. */
function disclosed(sandbox: Sandbox, party: string, contractId: string): object {
  const body = { contractId, eventFormat: forParty(party, wildcard(true)) };
  const { json } = ask(sandbox, '/v2/events/events-by-contract-id', body);
  const createdEventBlob = textAt(json, 'created', 'createdEvent', 'createdEventBlob');
  return { disclosedContracts: [{ contractId, createdEventBlob }] };
}

/** The ids of the active contracts that a party sees. */
const activeFor = (sandbox: Sandbox, party: string): readonly string[] =>
  listAt(
    ask(sandbox, '/v2/state/active-contracts', {
      activeAtOffset: sandbox.ledgerEnd,
      eventFormat: forParty(party, wildcard()),
    }).json,
  ).map((entry) => textAt(entry, 'contractEntry', 'JsActiveContract', 'createdEvent', 'contractId'));

describe('a template', () => {
  it('has its signatories and observers, and is seen by them', () => {
    const { sandbox, issuer, alice, bob } = market();
    const answer = submit(sandbox, [issuer], [assetOf(issuer, alice, { note: 'hello' })]);
    expect(eventsOf(answer)).toMatchObject([
      {
        CreatedEvent: {
          templateId: expect.stringMatching(/^[0-9a-f]{64}:Assets:Asset$/),
          packageName: 'assets',
          createArgument: { issuer, owner: alice, amount: '10.5000000000', serial: '7', note: 'hello' },
          signatories: [issuer],
          observers: [alice],
          witnessParties: [issuer, alice],
        },
      },
    ]);
    const id = createdIn(answer);
    expect([issuer, alice, bob].map((party) => activeFor(sandbox, party))).toEqual([[id], [id], []]);
  });

  it('is not created without its signatories, against its precondition, or with other arguments', () => {
    const { sandbox, issuer, alice } = market();
    const refused = (command: Command, party = issuer): Answer => submit(sandbox, [party], [command]);
    expect(refused(assetOf(issuer, alice), alice)).toMatchObject(failure(400, 'DAML_AUTHORIZATION_ERROR'));
    expect(refused(assetOf(issuer, alice, { amount: '-1.0' }))).toMatchObject(
      failure(400, 'TEMPLATE_PRECONDITION_VIOLATED', { errorCategory: 8 }),
    );
    const { CreateCommand } = assetOf(issuer, alice) as Extract<Command, { readonly CreateCommand: unknown }>;
    const { amount, ...others } = Object(CreateCommand.createArguments) as Record<string, unknown>;
    const withArguments = (createArguments: unknown): Command => ({
      CreateCommand: { ...CreateCommand, createArguments },
    });
    expect(refused(withArguments(others))).toMatchObject(failure(400, 'COMMAND_PREPROCESSING_FAILED'));
    expect(refused(withArguments({ ...others, amount: { of: amount } }))).toMatchObject(
      failure(400, 'INVALID_ARGUMENT'),
    );
    expect(sandbox.updates).toEqual([]);
  });

  it('has its choices, and no others', () => {
    const { sandbox, issuer, alice, assetId } = offered();
    const touched = submit(sandbox, [alice], [exercise(Asset.Touch, assetId, { times: '3' })]);
    expect(eventsOf(touched)).toMatchObject([
      {
        ExercisedEvent: {
          choice: 'Touch',
          choiceArgument: { times: '3' },
          exerciseResult: '10',
          consuming: false,
          actingParties: [alice],
          // an observer of the contract does not learn of a choice that leaves it
          witnessParties: [issuer, alice],
          acsDelta: false,
          lastDescendantNodeId: 0,
        },
      },
    ]);
    expect(submit(sandbox, [issuer], [exercise(Asset.Touch, assetId, { times: '3' })])).toMatchObject(
      failure(400, 'DAML_AUTHORIZATION_ERROR'),
    );
    const unknown = {
      ExerciseCommand: { templateId: Asset.templateId, contractId: assetId, choice: 'Nope', choiceArgument: {} },
    };
    expect(submit(sandbox, [alice], [unknown])).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
    expect(submit(sandbox, [alice], [exercise(Asset.Archive, assetId, {})])).toMatchObject(
      failure(400, 'DAML_AUTHORIZATION_ERROR'),
    );
    expect(submit(sandbox, [issuer], [exercise(Asset.Archive, assetId, {})])).toMatchObject({ status: 200 });
    expect(submit(sandbox, [issuer], [exercise(Asset.Archive, assetId, {})])).toMatchObject(
      failure(404, 'CONTRACT_NOT_FOUND'),
    );
  });

  it('rejects the submission if a choice throws, and changes nothing', () => {
    const { sandbox, issuer, alice, assetId } = offered();
    const before = sandbox.updates.length;
    const commands = [assetOf(issuer, alice), exercise(Asset.Fail, assetId, { reason: 'because' })];
    expect(submit(sandbox, [issuer, alice], commands)).toMatchObject(
      failure(400, 'INTERPRETATION_USER_ERROR', {
        cause: 'Interpretation error: Error: User abort: because',
        resources: [['ErrorResource(EXCEPTION_TEXT)', 'because']],
        errorCategory: 9,
      }),
    );
    expect(sandbox.updates).toHaveLength(before);
  });
});

describe('a choice', () => {
  it('has the authority of its controllers and of the signatories of its contract', () => {
    const { sandbox, issuer, alice, bob, assetId, offerId } = offered();
    const accept = exercise(Offer.Accept, offerId, {});
    // Bob does not see the asset
    expect(submit(sandbox, [bob], [accept])).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
    const answer = submit(sandbox, [bob], [accept], disclosed(sandbox, alice, assetId));
    const bought = createdIn(answer);
    expect(eventsOf(answer)).toMatchObject([
      {
        ExercisedEvent: {
          nodeId: 0,
          choice: 'Accept',
          actingParties: [bob],
          witnessParties: [alice, bob],
          exerciseResult: { bought, at: expect.stringMatching(/Z$/) },
          lastDescendantNodeId: 2,
        },
      },
      {
        ExercisedEvent: {
          nodeId: 1,
          contractId: assetId,
          choice: 'Transfer',
          actingParties: [alice],
          // Bob learns of it, because it is a part of what he has exercised
          witnessParties: [alice, bob, issuer],
          exerciseResult: bought,
          lastDescendantNodeId: 2,
        },
      },
      { CreatedEvent: { nodeId: 2, observers: [bob], witnessParties: [alice, bob, issuer] } },
    ]);
    expect([issuer, alice, bob].map((party) => activeFor(sandbox, party))).toEqual([[bought], [], [bought]]);
  });

  it('finds what a party of readAs sees', () => {
    const { sandbox, alice, bob, offerId } = offered();
    const accept = exercise(Offer.Accept, offerId, {});
    expect(submit(sandbox, [bob], [accept], { readAs: [alice] })).toMatchObject({ status: 200 });
  });

  it('shows each party the nodes that it sees, and says which change its contracts', () => {
    const { sandbox, issuer, alice, bob, offerId } = offered();
    submit(sandbox, [bob], [exercise(Offer.Accept, offerId, {})], { readAs: [alice] });
    const seenBy = (party: string) => {
      const updateFormat = { includeTransactions: ledgerEffects(forParty(party, wildcard())) };
      const body = { beginExclusive: sandbox.ledgerEnd - 1, endInclusive: sandbox.ledgerEnd, updateFormat };
      const [update] = listAt(ask(sandbox, '/v2/updates', body).json);
      return listAt(update, 'update', 'Transaction', 'value', 'events').map((event) => {
        const [[kind, value] = ['', {}]] = Object.entries(Object(event) as object);
        return [kind, at(value, 'nodeId'), at(value, 'acsDelta'), at(value, 'witnessParties')];
      });
    };
    expect(seenBy(issuer)).toEqual([
      ['ExercisedEvent', 1, true, [issuer]],
      ['CreatedEvent', 2, true, [issuer]],
    ]);
    // Alice sees the new contract only because she sees what creates it
    expect(seenBy(alice)).toEqual([
      ['ExercisedEvent', 0, true, [alice]],
      ['ExercisedEvent', 1, true, [alice]],
      ['CreatedEvent', 2, false, [alice]],
    ]);
    // Bob is no stakeholder of the old contract
    expect(seenBy(bob)).toEqual([
      ['ExercisedEvent', 0, true, [bob]],
      ['ExercisedEvent', 1, false, [bob]],
      ['CreatedEvent', 2, true, [bob]],
    ]);
  });

  it('reads contracts, which are numbered and must be active', () => {
    const { sandbox, issuer, alice, bob, assetId, offerId } = offered();
    const inspect = exercise(Offer.Inspect, offerId, {});
    const answer = submit(sandbox, [bob], [inspect, inspect], { readAs: [alice] });
    expect(eventsOf(answer)).toMatchObject([
      { ExercisedEvent: { nodeId: 0, exerciseResult: '10.5000000000', lastDescendantNodeId: 1 } },
      { ExercisedEvent: { nodeId: 2, lastDescendantNodeId: 3 } },
    ]);
    // nobody who authorizes the choice is a stakeholder of the asset any more
    const moved = submit(sandbox, [alice], [exercise(Asset.Transfer, assetId, { newOwner: issuer })]);
    const other = create(Offer, { seller: alice, buyer: bob, assetId: createdIn(moved) });
    const foreign = createdIn(submit(sandbox, [alice], [other]));
    expect(submit(sandbox, [bob], [exercise(Offer.Inspect, foreign, {})], { readAs: [issuer] })).toMatchObject(
      failure(400, 'DAML_AUTHORIZATION_ERROR', { cause: expect.stringContaining('one of the stakeholders') }),
    );
    expect(submit(sandbox, [bob], [inspect], { readAs: [alice] })).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
  });

  it('is exercised on a contract of the same transaction, which is then never active', () => {
    const { sandbox, issuer, alice, bob } = market();
    const payload = { issuer, owner: alice, amount: '1.0', serial: '1' };
    const answer = submit(
      sandbox,
      [issuer, alice],
      [createAndExercise(Asset, payload, Asset.Transfer, { newOwner: bob })],
    );
    const [first] = eventsOf(answer);
    expect(eventsOf(answer)).toMatchObject([
      { CreatedEvent: { nodeId: 0, acsDelta: false, contractId: expect.stringMatching(/^00[0-9a-f]{64}ca1112/) } },
      { ExercisedEvent: { nodeId: 1, acsDelta: false, contractId: textAt(first, 'CreatedEvent', 'contractId') } },
      { CreatedEvent: { nodeId: 2, acsDelta: true } },
    ]);
    expect(activeFor(sandbox, issuer)).toEqual([createdIn(answer)]);
  });

  it('uses a contract once in a transaction', () => {
    const { sandbox, alice, bob, assetId } = offered();
    const transfer = exercise(Asset.Transfer, assetId, { newOwner: bob });
    expect(submit(sandbox, [alice], [transfer, transfer])).toMatchObject(failure(404, 'CONTRACT_NOT_ACTIVE'));
  });
});

describe('a key', () => {
  const byKey = (issuer: string, serial: string, newOwner: string): Command => ({
    ExerciseByKeyCommand: {
      templateId: Asset.templateId,
      contractKey: { serial, issuer },
      choice: 'Transfer',
      choiceArgument: { newOwner },
    },
  });

  it('is in the created event, and finds the contract', () => {
    const { sandbox, issuer, alice, bob, assetId } = offered();
    const answer = submit(sandbox, [alice], [byKey(issuer, '7', bob)]);
    expect(eventsOf(answer)).toMatchObject([
      { ExercisedEvent: { contractId: assetId, choice: 'Transfer' } },
      { CreatedEvent: { contractKey: { issuer, serial: '7' }, contractKeyHash: expect.stringMatching(/=$/) } },
    ]);
    expect(submit(sandbox, [bob], [byKey(issuer, '8', bob)])).toMatchObject(failure(404, 'CONTRACT_KEY_NOT_FOUND'));
    // Alice does not see the contract any more
    expect(submit(sandbox, [alice], [byKey(issuer, '7', bob)])).toMatchObject(failure(404, 'CONTRACT_KEY_NOT_FOUND'));
  });

  it('need not be unique: the newest contract is found', () => {
    const { sandbox, issuer, alice, bob, assetId } = offered();
    const second = createdIn(submit(sandbox, [issuer], [assetOf(issuer, alice)]));
    const third = submit(sandbox, [issuer, alice], [assetOf(issuer, alice), byKey(issuer, '7', bob)]);
    expect(eventsOf(third)).toMatchObject([{ CreatedEvent: { acsDelta: false } }, { ExercisedEvent: {} }, {}]);
    const used = [1, 2].map(() =>
      at(eventsOf(submit(sandbox, [alice], [byKey(issuer, '7', bob)]))[0], 'ExercisedEvent', 'contractId'),
    );
    expect(used).toEqual([second, assetId]);
  });
});

describe('an interface', () => {
  it('has views and choices', () => {
    const { sandbox, issuer, alice, bob, assetId } = offered();
    const interfaceFormat = ledgerEffects(forAny(byInterface(Transferable.templateId)));
    const hand = exercise(Transferable.Hand, assetId, { to: bob });
    const answer = submit(sandbox, [alice], [hand], { transactionFormat: interfaceFormat });
    const interfaceId = expect.stringMatching(/^[0-9a-f]{64}:Api:Transferable$/);
    expect(eventsOf(answer)).toMatchObject([
      {
        ExercisedEvent: {
          templateId: expect.stringMatching(/:Assets:Asset$/),
          interfaceId,
          choice: 'Hand',
          implementedInterfaces: [interfaceId],
          acsDelta: true,
        },
      },
      {
        CreatedEvent: {
          interfaceViews: [{ interfaceId, viewStatus: { code: 0 }, viewValue: { holder: bob, what: 'asset 7' } }],
          signatories: [issuer],
        },
      },
    ]);
  });

  it('is not that of a contract of another template, and has no other choices', () => {
    const { sandbox, alice, bob, offerId, assetId } = offered();
    expect(submit(sandbox, [alice], [exercise(Transferable.Hand, offerId, { to: bob })])).toMatchObject(
      failure(400, 'CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE'),
    );
    expect(submit(sandbox, [alice], [exercise(Offer.Accept, assetId, {})])).toMatchObject(
      failure(400, 'WRONGLY_TYPED_CONTRACT'),
    );
    const unknown = { ...Transferable.Hand, choiceName: 'Nope' };
    expect(submit(sandbox, [alice], [exercise(unknown, assetId, { to: bob })])).toMatchObject(
      failure(400, 'INVALID_ARGUMENT'),
    );
  });
});

describe('the recorded participant', () => {
  const recorded = (name: string): { readonly request: unknown; readonly response: unknown } =>
    JSON.parse(readFileSync(`test/fixtures/recorded35/${name}.json`, 'utf8')) as never;

  /** Replaces ids and times, which differ from ledger to ledger, and leaves out what depends on the network. */
  const comparable = (value: unknown, names: ReadonlyMap<string, string>): unknown =>
    JSON.parse(JSON.stringify(value), (key, part: unknown) => {
      if (['traceContext', 'paidTrafficCost', 'synchronizerId', 'updateId', 'offset', 'commandId'].includes(key))
        return 'any';
      if (['createdEventBlob', 'transactionHash', 'externalTransactionHash'].includes(key)) return 'any';
      // the template of the recording has no key
      if (['contractKey', 'contractKeyHash'].includes(key)) return 'any';
      if (key === 'witnessParties') return [...(part as readonly string[])].map((one) => names.get(one)).sort();
      if (typeof part !== 'string') return part;
      if (/^\d{4}-\d\d-\d\dT/.test(part)) return 'time';
      const named = names.get(part) ?? part.replace(/^[0-9a-f]{64}(?=:|$)/, 'hash');
      return /^00[0-9a-f]{100,}$/.test(named) ? 'contract' : named;
    });

  const party = (hint: string): string =>
    `${hint}x1::12208a69ee0e65ddf619f060b07f28fee94ce744b03aceeb17f28090a89a831b6478`;

  it.each(['submit-create-ledger-effects-blob', 'exercise-touch', 'exercise-touch-acs-delta', 'exercise-transfer'])(
    'answers as the sandbox does: %s',
    (name) => {
      const { sandbox, issuer, alice, bob } = market();
      const names = new Map([
        ...(['issuer', 'alice', 'bob'] as const).map((hint) => [party(hint), hint] as const),
        ...([
          [issuer, 'issuer'],
          [alice, 'alice'],
          [bob, 'bob'],
        ] as const),
      ]);
      const assetId = createdIn(submit(sandbox, [issuer], [assetOf(issuer, alice)]));
      const { request, response } = recorded(name);
      const own = new Map([
        [party('issuer'), issuer],
        [party('alice'), alice],
        [party('bob'), bob],
      ]);
      const text = JSON.stringify(at(request, 'body'))
        .replace(/00a4f5915c[0-9a-f]+/g, assetId)
        .replace('"10.5"', '"10.5000000000"')
        .replace(/\w+x1::[0-9a-f]+/g, (id) => own.get(id) ?? id);
      const { status, json } = ask(sandbox, submitPath, JSON.parse(text));
      expect({ status, body: comparable(json, names) }).toEqual({
        status: at(response, 'status'),
        body: comparable(at(response, 'body'), names),
      });
    },
  );
});
