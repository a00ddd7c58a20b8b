import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom } from 'rxjs';
import { type Command, contractType, create, createLedger, exercise, interfaceType } from '../../../src/index.js';
import { createSandbox, interfaceInstance, type Sandbox, template } from '../../../src/sandbox/index.js';
import { preparedTransactionVerifier } from '../../../src/verify/index.js';
import { at, failure, listAt, textAt } from '../client.js';
import { acsDelta, anyParty, byInterface, forAny, ledgerEffects, template as byTemplate } from '../requests.js';
import { type Answer, ask } from './market.js';

const Holding = interfaceType('#holdings:Api:Holding', t.type({ holder: t.string, note: t.string }), {
  choices: { Describe: { argument: t.type({}), result: t.string } },
});

const give = { Give: { argument: t.type({ to: t.string }), result: t.string } };

/** Version 1.0.0. */
const Coin = contractType('#coins:Main:Coin', t.type({ issuer: t.string, owner: t.string }), { choices: give });

/** Version 1.1.0: with one more field, one more choice and an interface. */
const Noted = contractType(
  '#coins:Main:Coin',
  t.type({ issuer: t.string, owner: t.string, note: t.union([t.string, t.null]) }),
  { choices: { ...give, Annotate: { argument: t.type({ note: t.string }), result: t.string } } },
);

interface Owned {
  readonly payload: { readonly issuer: string; readonly owner: string };
}

const parties = {
  signatories: ({ payload }: Owned) => [payload.issuer],
  observers: ({ payload }: Owned) => [payload.owner],
};

const controllers = ({ payload }: Owned) => [payload.owner];

const coin = template(Coin, {
  ...parties,
  choices: {
    Give: { controllers, exercise: ({ payload }, { to }, ledger) => ledger.create(Coin, { ...payload, owner: to }) },
  },
});

const noted = template(Noted, {
  packageVersion: '1.1.0',
  newFields: ['note'],
  ...parties,
  interfaces: [
    interfaceInstance(Holding, {
      view: ({ payload }) => ({ holder: payload.owner, note: payload.note ?? 'none' }),
      choices: {
        Describe: { consuming: false, controllers, exercise: ({ payload }) => `note: ${String(payload.note)}` },
      },
    }),
  ],
  choices: {
    Give: { controllers, exercise: ({ payload }, { to }, ledger) => ledger.create(Noted, { ...payload, owner: to }) },
    Annotate: {
      controllers,
      exercise: ({ payload }, { note }, ledger) => {
        ledger.create(Noted, { ...payload, note });
        return `was ${String(payload.note)}`;
      },
    },
  },
});

/** A sandbox with version 1.0.0 and an old coin, into which version 1.1.0 is uploaded. */
function upgraded(newer = noted) {
  const sandbox = createSandbox({ templates: [coin], confirmationMs: 0 });
  const [issuer, alice, bob] = ['issuer', 'alice', 'bob'].map((hint) => sandbox.hostedParty(hint)) as [
    string,
    string,
    string,
  ];
  const terms = { issuer, owner: alice };
  const made = submit(sandbox, issuer, create(Coin, terms));
  const former = packageIn(made, 'CreatedEvent');
  const [latest = ''] = sandbox.uploadTemplates(newer);
  return { sandbox, issuer, alice, bob, terms, former, latest, old: createdIn(made) };
}

let commandIds = 0;

function submit(sandbox: Sandbox, party: string, command: Command, fields: object = {}): Answer {
  const { transactionFormat = ledgerEffects(anyParty), ...others } = fields as { readonly transactionFormat?: unknown };
  const commands = {
    userId: 'app',
    commandId: `cmd-${(commandIds += 1)}`,
    actAs: [party],
    commands: [command],
    ...others,
  };
  return ask(sandbox, '/v2/commands/submit-and-wait-for-transaction', { commands, transactionFormat });
}

const eventsOf = ({ json }: Answer): readonly unknown[] => listAt(json, 'transaction', 'events');

const createdIn = (answer: Answer): string => textAt(eventsOf(answer).at(-1), 'CreatedEvent', 'contractId');

/** The package of the template of the first event of a kind. */
const packageIn = (answer: Answer, kind: string): string =>
  textAt(
    eventsOf(answer).find((event) => at(event, kind) !== undefined),
    kind,
    'templateId',
  ).slice(0, 64);

const prefer = (...ids: readonly string[]) => ({ packageIdSelectionPreference: ids });

/** The created events in a snapshot. */
const activeBy = (sandbox: Sandbox, filter: object): readonly unknown[] =>
  listAt(
    ask(sandbox, '/v2/state/active-contracts', {
      activeAtOffset: sandbox.ledgerEnd,
      eventFormat: forAny(filter),
    }).json,
  ).map((entry) => at(entry, 'contractEntry', 'JsActiveContract', 'createdEvent'));

describe('a contract of an earlier version of its package', () => {
  it('is used as one of the newest version, with null in the new field', () => {
    const { sandbox, issuer, alice, former, latest, old } = upgraded();
    const answer = submit(sandbox, alice, exercise(Noted.Annotate, old, { note: 'mine' }));
    expect(eventsOf(answer)).toMatchObject([
      {
        ExercisedEvent: {
          templateId: `${latest}:Main:Coin`,
          packageName: 'coins',
          contractId: old,
          exerciseResult: 'was null',
        },
      },
      {
        CreatedEvent: {
          templateId: `${latest}:Main:Coin`,
          representativePackageId: latest,
          createArgument: { issuer, owner: alice, note: 'mine' },
        },
      },
    ]);
    expect(latest).not.toBe(former);
  });

  it('keeps its template id in its created event, and has that of the version used in its archive', () => {
    const { sandbox, issuer, former, latest, old } = upgraded();
    const archived = submit(sandbox, issuer, exercise(Coin.Archive, old, {}), {
      transactionFormat: acsDelta(anyParty),
    });
    // as in the recording exercise-archive-old-after-upload
    expect(eventsOf(archived)).toMatchObject([
      { ArchivedEvent: { contractId: old, templateId: `${latest}:Main:Coin`, packageName: 'coins' } },
    ]);
    const { json } = ask(sandbox, '/v2/events/events-by-contract-id', { contractId: old, eventFormat: anyParty });
    expect(at(json, 'created', 'createdEvent', 'templateId')).toBe(`${former}:Main:Coin`);
  });

  it('is used as one of the version that the command names, or prefers', () => {
    const { sandbox, alice, bob, former, old } = upgraded();
    const preferred = submit(sandbox, alice, exercise(Coin.Give, old, { to: alice }), prefer(former));
    // what the body of the earlier version creates is of that version, too
    expect(eventsOf(preferred)).toMatchObject([
      { ExercisedEvent: { templateId: `${former}:Main:Coin` } },
      { CreatedEvent: { templateId: `${former}:Main:Coin` } },
    ]);
    const named: Command = {
      ExerciseCommand: {
        templateId: `${former}:Main:Coin`,
        contractId: createdIn(preferred),
        choice: 'Give',
        choiceArgument: { to: bob },
      },
    };
    expect(packageIn(submit(sandbox, alice, named), 'ExercisedEvent')).toBe(former);
    const unknown = exercise(Noted.Annotate, old, { note: 'mine' });
    expect(submit(sandbox, alice, unknown, prefer(former))).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
  });

  it('is found by the package name together with those of the newest version, and by a new interface', () => {
    const { sandbox, issuer, alice, terms, former, latest, old } = upgraded();
    submit(sandbox, issuer, create(Noted, { ...terms, note: 'new' }));
    const templateIds = activeBy(sandbox, byTemplate(Coin.templateId)).map((created) => at(created, 'templateId'));
    expect(templateIds).toEqual([`${former}:Main:Coin`, `${latest}:Main:Coin`]);
    const view = (note: string) => ({
      viewValue: { holder: alice, note },
      viewStatus: { code: 0 },
      implementationPackageId: latest,
    });
    expect(activeBy(sandbox, byInterface(Holding.templateId))).toMatchObject([
      { contractId: old, templateId: `${former}:Main:Coin`, interfaceViews: [view('none')] },
      { templateId: `${latest}:Main:Coin`, interfaceViews: [view('new')] },
    ]);
  });

  it('has the choices of an interface that the newest version implements, and not by the earlier one', () => {
    const { sandbox, alice, former, latest, old } = upgraded();
    const describeIt = exercise(Holding.Describe, old, {});
    expect(eventsOf(submit(sandbox, alice, describeIt))).toMatchObject([
      { ExercisedEvent: { templateId: `${latest}:Main:Coin`, exerciseResult: 'note: null' } },
    ]);
    expect(submit(sandbox, alice, describeIt, prefer(former))).toMatchObject(
      failure(400, 'CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE'),
    );
  });
});

describe('a contract of the newest version of its package', () => {
  it('is used as one of an earlier version, unless a new field is set', () => {
    const { sandbox, issuer, alice, bob, terms, former, latest } = upgraded();
    const empty = createdIn(submit(sandbox, issuer, create(Noted, { ...terms, note: null })));
    const filled = createdIn(submit(sandbox, issuer, create(Noted, { ...terms, note: 'mine' })));
    const asFormer = (id: string) => submit(sandbox, alice, exercise(Coin.Give, id, { to: bob }), prefer(former));
    const given = asFormer(empty);
    expect(packageIn(given, 'ExercisedEvent')).toBe(former);
    expect(at(eventsOf(given).at(-1), 'CreatedEvent', 'createArgument')).toEqual({ issuer, owner: bob });
    const end = sandbox.ledgerEnd;
    expect(asFormer(filled)).toMatchObject(
      failure(400, 'INTERPRETATION_UPGRADE_ERROR_TRANSLATION_FAILED', {
        errorCategory: 8,
        cause: expect.stringMatching(/\("note"\) with a value of Some may not be dropped during downgrading/),
        resources: [
          ['ErrorResource(CONTRACT_ID)', filled],
          ['ErrorResource(TEMPLATE_ID)', `${latest}:Main:Coin`],
          ['ErrorResource(TEMPLATE_ID)', `${former}:Main:Coin`],
        ],
      }),
    );
    expect(sandbox.ledgerEnd).toBe(end);
    const archive = exercise(Coin.Archive, filled, {});
    expect(submit(sandbox, issuer, archive, prefer(former))).toMatchObject({ status: 400 });
    expect(submit(sandbox, issuer, archive)).toMatchObject({ status: 200 });
  });

  it('is created by the package name, unless the command names or prefers an earlier one', () => {
    const { sandbox, issuer, terms, former, latest } = upgraded();
    const versionOf = (command: Command, fields: object = {}) =>
      packageIn(submit(sandbox, issuer, command, fields), 'CreatedEvent');
    expect(versionOf(create(Coin, terms))).toBe(latest);
    expect(versionOf(create(Coin, terms), prefer(former))).toBe(former);
    const named = (createArguments: unknown) => ({
      CreateCommand: { templateId: `${former}:Main:Coin`, createArguments },
    });
    expect(versionOf(named(terms), prefer(latest))).toBe(former);
    expect(submit(sandbox, issuer, named({ ...terms, note: 'new' }))).toMatchObject(
      failure(400, 'INVALID_ARGUMENT', { cause: expect.stringContaining('Unexpected fields: note') }),
    );
  });
});

describe('a version of a package', () => {
  it('must agree with the stakeholders of earlier contracts, and accept them', () => {
    const versions = {
      signatories: { ...parties, signatories: controllers },
      observers: { ...parties, observers: () => [] },
    };
    for (const [what, body] of Object.entries(versions)) {
      const { sandbox, issuer, old } = upgraded(template(Coin, { packageVersion: '1.1.0', ...body }));
      expect(submit(sandbox, issuer, exercise(Coin.Archive, old, {}))).toMatchObject(
        failure(400, 'INTERPRETATION_UPGRADE_ERROR_VALIDATION_FAILED', {
          cause: expect.stringContaining(`${what} mismatch`),
        }),
      );
    }
    const strict = upgraded(template(Coin, { packageVersion: '1.1.0', ...parties, ensure: () => false }));
    expect(submit(strict.sandbox, strict.issuer, exercise(Coin.Archive, strict.old, {}))).toMatchObject(
      failure(400, 'TEMPLATE_PRECONDITION_VIOLATED'),
    );
  });

  it('has the templates of the version before it that it does not define', () => {
    const Purse = contractType('#coins:Main:Purse', t.type({ issuer: t.string, owner: t.string }), {
      choices: { Mint: { argument: t.type({}), result: t.string } },
    });
    const purse = template(Purse, {
      ...parties,
      choices: {
        Mint: { controllers, exercise: ({ payload }, _argument, ledger) => ledger.create(Coin, payload) },
      },
    });
    const sandbox = createSandbox({ templates: [noted, purse, coin], confirmationMs: 0 });
    const party = sandbox.hostedParty('party');
    const made = submit(sandbox, party, create(Purse, { issuer: party, owner: party }));
    const [exercised, created] = eventsOf(submit(sandbox, party, exercise(Purse.Mint, createdIn(made), {})));
    expect(textAt(exercised, 'ExercisedEvent', 'templateId')).toBe(`${packageIn(made, 'CreatedEvent')}:Main:Purse`);
    expect(textAt(created, 'CreatedEvent', 'templateId')).toBe(`${packageIn(made, 'CreatedEvent')}:Main:Coin`);
    expect(sandbox.uploadTemplates(template(Purse, { packageVersion: '1.1', ...parties }))).toHaveLength(1);
  });

  it('adds its fields to those of the versions before it', () => {
    const { sandbox, issuer, alice, terms, former, latest, old } = upgraded();
    const third = template('#coins:Main:Coin', {
      packageVersion: '1.10.0',
      newFields: ['tag'],
      signatories: ({ payload }) => [String(payload['issuer'])],
      observers: ({ payload }) => [String(payload['owner'])],
      choices: {
        Show: { controllers: ({ payload }) => [String(payload['owner'])], exercise: ({ payload }) => ({ ...payload }) },
      },
    });
    const [newest] = sandbox.uploadTemplates(third);
    const show = (contractId: string): Command => ({
      ExerciseCommand: { templateId: '#coins:Main:Coin', contractId, choice: 'Show', choiceArgument: {} },
    });
    const made = submit(sandbox, issuer, create(Noted, { ...terms, note: 'mine' }), prefer(latest));
    const shown = eventsOf(submit(sandbox, alice, show(createdIn(made))));
    expect(shown).toMatchObject([
      { ExercisedEvent: { templateId: `${newest}:Main:Coin`, exerciseResult: { ...terms, note: 'mine' } } },
    ]);
    const tagged: Command = {
      CreateCommand: { templateId: '#coins:Main:Coin', createArguments: { ...terms, note: null, tag: 'red' } },
    };
    const taggedId = createdIn(submit(sandbox, issuer, tagged));
    for (const version of [former, latest])
      expect(submit(sandbox, alice, exercise(Coin.Give, taggedId, { to: alice }), prefer(version))).toMatchObject(
        failure(400, 'INTERPRETATION_UPGRADE_ERROR_TRANSLATION_FAILED'),
      );
    expect(submit(sandbox, alice, show(old))).toMatchObject({ status: 200 });
  });

  it('is defined once, and has a number', () => {
    expect(() => createSandbox({ templates: [coin, noted, noted] })).toThrow(
      new TypeError('The template #coins:Main:Coin is defined twice in version 1.1.0'),
    );
    expect(() => template(Coin, { packageVersion: 'next', ...parties })).toThrow(
      new TypeError("'next' is not a version of a package"),
    );
  });

  it('is known to replicas that begin later', () => {
    const { sandbox, alice, bob, latest, old } = upgraded();
    const replica = createSandbox({ replicaOf: sandbox, confirmationMs: 0 });
    expect(packageIn(submit(replica, alice, exercise(Noted.Give, old, { to: bob })), 'ExercisedEvent')).toBe(latest);
    expect(activeBy(replica, byInterface(Holding.templateId))).toHaveLength(1);
  });

  it('is that of a signed transaction, at its execution, too', async () => {
    const { sandbox, issuer, former, latest } = upgraded();
    const { party, sign } = sandbox.externalParty('carol');
    const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port });
    const signer = { party, sign: (hash: Uint8Array) => Promise.resolve(sign(Buffer.from(hash).toString('base64'))) };
    const verify = preparedTransactionVerifier();
    for (const packageIdSelectionPreference of [[], [former]]) {
      const made = submit(sandbox, issuer, create(Coin, { issuer, owner: party }), prefer(former));
      const commands = [exercise(Coin.Give, createdIn(made), { to: party })];
      const request = { commandId: createdIn(made), actAs: [party], commands, packageIdSelectionPreference };
      const { events } = await firstValueFrom(ledger.submit(request, signer, { verify }));
      const used = packageIdSelectionPreference[0] ?? latest;
      expect(events).toMatchObject([{ templateId: `${used}:Main:Coin` }, { templateId: `${used}:Main:Coin` }]);
    }
  });
});
