import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, eventsIn, failure, listAt, post, type Reply, sandboxWith } from './client.js';
import { withParties } from './commands.js';
import {
  acsDelta,
  anyParty,
  archive,
  assetId,
  assign,
  byInterface,
  creation,
  flatsPath,
  forAny,
  forParty,
  ledgerEffects,
  prepare,
  readUpdates,
  template,
  transaction,
  unassign,
  updatesPath,
} from './requests.js';

const holding = '#api:Api:Holding';
const view = {
  interfaceId: holding,
  viewStatus: { code: 0, message: '', details: [] },
  viewValue: { amount: '1' },
  implementationPackageId: 'p',
};

/** Alice signs an asset that bob observes and dora witnesses, and an offer. Alice archives the asset. */
async function filled(): Promise<Sandbox> {
  const sandbox = await sandboxWith();
  const asset = {
    contractId: '00aa',
    templateId: '#assets:Main:Asset',
    createArgument: { owner: 'alice' },
    signatories: ['alice'],
    observers: ['bob'],
    witnessParties: ['alice', 'bob', 'dora'],
    interfaceViews: [view],
  };
  const offer = { contractId: '00bb', templateId: '#assets:Main:Offer', signatories: ['alice'] };
  sandbox.append(transaction({ CreatedEvent: asset }, { CreatedEvent: offer }), archive('00aa'));
  return sandbox;
}

const events = async (sandbox: Sandbox, includeTransactions: unknown): Promise<readonly unknown[]> =>
  eventsIn(await readUpdates(sandbox, { updateFormat: { includeTransactions } }), 'Transaction');

describe('the events of a transaction', () => {
  it('are created and archived events in the ACS-delta shape, exercised ones in the ledger-effects shape', async () => {
    const sandbox = await filled();
    expect(await events(sandbox, acsDelta(anyParty))).toMatchObject([
      { CreatedEvent: {} },
      { CreatedEvent: {} },
      { ArchivedEvent: {} },
    ]);
    const effects = await events(sandbox, ledgerEffects(anyParty));
    expect(effects).toMatchObject([
      // a filter for any party shows all witnesses
      { CreatedEvent: { witnessParties: ['alice', 'bob', 'dora'] } },
      { CreatedEvent: {} },
      { ExercisedEvent: { contractId: '00aa', choice: 'Archive', consuming: true, acsDelta: true } },
    ]);
  });

  it('are those whose stakeholders are among the requested parties, and only these are witnesses', async () => {
    const sandbox = await filled();
    expect(await events(sandbox, acsDelta(forParty('bob')))).toMatchObject([
      { CreatedEvent: { contractId: '00aa', witnessParties: ['bob'], signatories: ['alice'] } },
      { ArchivedEvent: { contractId: '00aa', witnessParties: ['bob'] } },
    ]);
    expect(await events(sandbox, acsDelta(forParty('dora')))).toEqual([]);
    expect(await events(sandbox, ledgerEffects(forParty('dora')))).toMatchObject([
      { CreatedEvent: { contractId: '00aa', witnessParties: ['dora'] } },
    ]);
  });

  it('are those of the requested template, with a blob if requested', async () => {
    const sandbox = await filled();
    const read = (...filter: Parameters<typeof template>) =>
      events(sandbox, acsDelta(forParty('alice', template(...filter))));
    expect(await read('#assets:Main:Offer')).toMatchObject([
      { CreatedEvent: { contractId: '00bb', createdEventBlob: '', packageName: 'assets' } },
    ]);
    expect(at(await read('#assets:Main:Offer', true), 0, 'CreatedEvent', 'createdEventBlob')).toBe('ALs=');
    sandbox.uploadPackage('other', { templates: ['Main:Offer'] });
    expect(await read('#other:Main:Offer')).toEqual([]);
  });

  it('are those of templates with the requested interface, and have arguments and views', async () => {
    const sandbox = await filled();
    const read = (includeView: boolean) =>
      events(sandbox, acsDelta(forParty('alice', byInterface(holding, includeView))));
    expect(await read(true)).toMatchObject([
      { CreatedEvent: { contractId: '00aa', createArgument: {}, interfaceViews: [{ viewValue: { amount: '1' } }] } },
      { ArchivedEvent: { contractId: '00aa', implementedInterfaces: [expect.stringMatching(/:Api:Holding$/)] } },
    ]);
    expect(at(await read(false), 0, 'CreatedEvent', 'interfaceViews')).toEqual([]);
  });

  it('name the interfaces of an archive or a consuming exercise that are requested with their views', async () => {
    const sandbox = await filled();
    sandbox.append(
      transaction(
        { CreatedEvent: { contractId: '00cc', interfaceViews: [view] } },
        { ExercisedEvent: { contractId: '00cc', choice: 'Look', consuming: false } },
        { ExercisedEvent: { contractId: '00cc', choice: 'Burn' } },
      ),
    );
    const wanted = expect.stringMatching(/:Api:Holding$/);
    for (const shape of [acsDelta, ledgerEffects]) {
      const named = async (format: object) =>
        (await events(sandbox, shape(format))).flatMap(
          (event) => at(Object.values(Object(event) as object)[0], 'implementedInterfaces') ?? [],
        );
      expect(await named(forAny(byInterface(holding)))).toEqual([wanted, wanted]);
      expect(await named(forAny(byInterface(holding, false)))).toEqual([]);
      expect(await named(anyParty)).toEqual([]);
    }
  });

  it('add up over the filters of a party', async () => {
    const both = forParty('alice', template('#assets:Main:Asset'), byInterface(holding));
    const [asset] = await events(await filled(), acsDelta(both));
    expect(asset).toMatchObject({
      CreatedEvent: { createArgument: { owner: 'alice' }, interfaceViews: [{ viewValue: { amount: '1' } }] },
    });
  });

  it('omit contracts that are archived in the transaction of their creation, except in the ledger-effects shape', async () => {
    const sandbox = await sandboxWith();
    const exercise = { ExercisedEvent: { contractId: '00cc', choice: 'Archive' } };
    sandbox.append(transaction({ CreatedEvent: { contractId: '00cc', acsDelta: false } }, exercise));
    expect(await events(sandbox, acsDelta(anyParty))).toEqual([]);
    expect(await events(sandbox, ledgerEffects(anyParty))).toMatchObject([
      { CreatedEvent: { acsDelta: false } },
      { ExercisedEvent: { acsDelta: false } },
    ]);
  });
});

describe('reassignments', () => {
  it('are those of contracts whose stakeholders are among the requested parties', async () => {
    const sandbox = await filled();
    sandbox.append(unassign('00bb'), assign('00dd', { signatories: ['bob'] }));
    const read = async (includeReassignments: unknown) =>
      eventsIn(await readUpdates(sandbox, { updateFormat: { includeReassignments } }), 'Reassignment');
    expect(await read(forParty('alice', template('#assets:Main:Offer')))).toMatchObject([
      { JsUnassignedEvent: { value: { contractId: '00bb', witnessParties: ['alice'], packageName: 'assets' } } },
    ]);
    expect(await read(forParty('bob'))).toMatchObject([
      { JsAssignmentEvent: { createdEvent: { contractId: '00dd', witnessParties: ['bob'] } } },
    ]);
  });
});

describe('topology transactions', () => {
  const revoked = (partyId: string) => ({
    event: { ParticipantAuthorizationRevoked: { value: { partyId, participantId: 'participant' } } },
  });

  it('are those of the requested parties, or all, or those of the parties of a legacy filter', async () => {
    const sandbox = await sandboxWith();
    sandbox.append({ TopologyTransaction: { value: { events: [revoked('alice'), revoked('bob')] } } });
    const read = async (parties: readonly string[]) => {
      const includeTopologyEvents = { includeParticipantAuthorizationEvents: { parties } };
      return eventsIn(await readUpdates(sandbox, { updateFormat: { includeTopologyEvents } }), 'TopologyTransaction');
    };
    expect(await read(['bob'])).toEqual([revoked('bob')]);
    expect(await read([])).toHaveLength(2);
    expect(await read(['carol'])).toEqual([]);
    const readLegacy = async (party: string) =>
      listAt((await post(sandbox, flatsPath, { endInclusive: 1, filter: forParty(party) })).json);
    expect(await readLegacy('bob')).toHaveLength(1);
    expect(await readLegacy('carol')).toHaveLength(0);
  });
});

/** The answer to a request with these filters. */
const ask = (sandbox: Sandbox, ...filters: readonly object[]): Promise<Reply> =>
  post(sandbox, `${updatesPath}?stream_idle_timeout_ms=1`, {
    beginExclusive: 0,
    updateFormat: { includeTransactions: acsDelta(forParty('alice', ...filters)) },
  });

const isKnown = async (sandbox: Sandbox, ...filters: readonly object[]): Promise<boolean> =>
  (await ask(sandbox, ...filters)).status === 200;

const noTemplate = 'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME';
const noInterface = 'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME';

describe('a filter', () => {
  it.each<[string, string, object, string]>([
    ['package', 'PACKAGE_NAMES_NOT_FOUND', template('#unknown:Main:Asset'), '[unknown]'],
    ['package of an interface', 'PACKAGE_NAMES_NOT_FOUND', byInterface('#unknown:Main:Asset'), '[unknown]'],
    ['template', noTemplate, template('#sandbox-assets:Main:Unknown'), '[(sandbox-assets,Main:Unknown)]'],
    [
      'template with the name of an interface',
      noTemplate,
      template('#sandbox-api:Api:Holding'),
      '[(sandbox-api,Api:Holding)]',
    ],
    ['interface', noInterface, byInterface('#sandbox-api:Api:Unknown'), '[(sandbox-api,Api:Unknown)]'],
    ['interface with the name of a template', noInterface, byInterface(assetId), '[(sandbox-assets,Main:Asset)]'],
  ])('for an unknown %s is answered with 404, in the words of a participant', async (_, code, filter, names) => {
    const cause = {
      PACKAGE_NAMES_NOT_FOUND:
        'The following package names do not match upgradable packages uploaded on this participant',
      [noTemplate]:
        'The following package-name/template qualified-name pairs do not reference any template-id uploaded on this participant',
      [noInterface]:
        'The following package-name/interface qualified-name pairs do not reference any interface-id uploaded on this participant',
    }[code];
    expect(await ask(await sandboxWith(), filter)).toMatchObject(
      failure(404, code, { cause: `${cause}: ${names}.`, resources: [], errorCategory: 11, grpcCodeValue: 5 }),
    );
  });

  it('for any party, and of reassignments, is checked too', async () => {
    const sandbox = await sandboxWith();
    const format = forAny(template('#unknown:Main:Asset'));
    for (const updateFormat of [{ includeTransactions: acsDelta(format) }, { includeReassignments: format }])
      expect((await post(sandbox, updatesPath, { beginExclusive: 0, updateFormat })).status).toBe(404);
  });

  it('for several unknown names is answered with those of the first kind of fault, in brackets', async () => {
    const filters = [
      template('#one:Main:Asset'),
      template('#sandbox-assets:Main:Unknown'),
      byInterface('#two:Api:Holding'),
    ];
    const { json } = await ask(await sandboxWith(), ...filters);
    expect(json).toMatchObject({ code: 'PACKAGE_NAMES_NOT_FOUND', cause: expect.stringContaining('[one, two]') });
  });

  it('for an unknown name is checked after the offsets', async () => {
    const updateFormat = { includeReassignments: forParty('alice', template('#unknown:Main:Asset')) };
    const reply = await post(await sandboxWith(), updatesPath, { beginExclusive: 5, updateFormat });
    expect(reply).toMatchObject(failure(400, 'OFFSET_AFTER_LEDGER_END'));
  });

  it('may have a package id in 3.4, which must be known as well', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    const packageId = sandbox.uploadPackage('assets', { templates: ['Main:Asset'], interfaces: ['Main:Holding'] });
    const known = [template(`${packageId}:Main:Asset`), byInterface(`${packageId}:Main:Holding`)];
    expect(await isKnown(sandbox, ...known, template('#assets:Main:Asset'))).toBe(true);
    const [templateId, interfaceId] = [`${packageId}:Main:Holding`, `${'c'.repeat(64)}:Main:Holding`];
    const noTemplates = `Templates do not exist: [${templateId}].`;
    const resources = [['ErrorResource(TEMPLATE_ID)', templateId]];
    expect(await ask(sandbox, byInterface(interfaceId), template(templateId))).toMatchObject(
      failure(404, 'TEMPLATES_OR_INTERFACES_NOT_FOUND', {
        cause: `${noTemplates} Interfaces do not exist: [${interfaceId}].`,
        resources: [...resources, ['ErrorResource(INTERFACE_ID)', interfaceId]],
      }),
    );
    expect((await ask(sandbox, template(templateId))).json).toMatchObject({ cause: noTemplates, resources });
  });
});

describe('the known names', () => {
  it('are those of generated traffic from the start', async () => {
    const sandbox = await sandboxWith();
    const names = [assetId, '#sandbox-assets:Main:Offer', '#sandbox-tasks:Tasks.Model:Task'];
    const filters = [...names.map((name) => template(name)), byInterface('#sandbox-api:Api:Holding')];
    expect(await isKnown(sandbox, ...filters)).toBe(true);
    sandbox.generate(100);
    expect(listAt((await ask(sandbox, ...filters)).json)).toEqual([]);
  });

  it('are those of appended updates, also after a restore', async () => {
    const sandbox = await sandboxWith();
    const filters = [template('#assets:Main:Asset'), byInterface(holding)];
    expect(await isKnown(sandbox, ...filters)).toBe(false);
    sandbox.append(creation({ templateId: '#assets:Main:Asset', interfaceViews: [view] }));
    expect(await isKnown(sandbox, ...filters)).toBe(true);
    sandbox.restore(0);
    expect(await isKnown(sandbox, ...filters)).toBe(true);
  });

  it('are those of prepared commands', async () => {
    const { sandbox, eve } = await withParties();
    expect(await isKnown(sandbox, template('#assets:Main:Asset'))).toBe(false);
    expect((await prepare(sandbox, eve.party)).status).toBe(200);
    expect(await isKnown(sandbox, template('#assets:Main:Asset'))).toBe(true);
  });

  it('are those of uploaded packages, which may be uploaded in parts', async () => {
    const sandbox = await sandboxWith();
    const packageId = sandbox.uploadPackage('assets');
    expect(await ask(sandbox, template('#assets:Main:Asset'))).toMatchObject(failure(404, noTemplate));
    expect(sandbox.uploadPackage('assets', { templates: ['Main:Asset'] })).toBe(packageId);
    expect(sandbox.uploadPackage('assets', { interfaces: ['Main:Holding'] })).toBe(packageId);
    // an interface that nothing implements is known
    const reply = await ask(sandbox, template('#assets:Main:Asset'), byInterface('#assets:Main:Holding'));
    expect(reply).toMatchObject({ status: 200, json: [] });
    sandbox.append(creation({ templateId: '#assets:Main:Asset', signatories: ['alice'] }));
    const [created] = eventsIn(await ask(sandbox, template('#assets:Main:Asset')), 'Transaction');
    expect(created).toMatchObject({ CreatedEvent: { templateId: `${packageId}:Main:Asset` } });
  });

  it.each([
    ['', {}],
    ['#assets', {}],
    ['a:b', {}],
    ['assets', { templates: ['Asset'] }],
    ['assets', { interfaces: ['a:b:c'] }],
  ])('cannot be %j with %j', async (name, entities) => {
    const sandbox = await sandboxWith();
    expect(() => sandbox.uploadPackage(name, entities)).toThrow(TypeError);
  });
});
