import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { listAt, post, type Reply, sandboxWith } from './client.js';
import {
  acsDelta,
  createCommand,
  creation,
  forParty,
  prepareBody,
  preparePath,
  readUpdates,
  withParty,
} from './requests.js';
import { stream } from './webSockets.js';

const template = (templateId: string) => ({ TemplateFilter: { value: { templateId } } });
const byInterface = (interfaceId: string) => ({
  InterfaceFilter: { value: { interfaceId, includeInterfaceView: true } },
});

const alice = 'alice::1220aa';
const bodyWith = (...filters: readonly object[]) => ({
  beginExclusive: 0,
  updateFormat: { includeTransactions: acsDelta(forParty(alice, ...filters)) },
});

/** The answer to a request with these filters. */
const ask = (sandbox: Sandbox, ...filters: readonly object[]): Promise<Reply> =>
  post(sandbox, '/v2/updates?stream_idle_timeout_ms=1', bodyWith(...filters));

const isKnown = async (sandbox: Sandbox, ...filters: readonly object[]): Promise<boolean> =>
  (await ask(sandbox, ...filters)).status === 200;

describe('a filter', () => {
  it.each<[string, string, object]>([
    ['package', 'PACKAGE_NAMES_NOT_FOUND', template('#unknown:Main:Asset')],
    ['package of an interface', 'PACKAGE_NAMES_NOT_FOUND', byInterface('#unknown:Main:Asset')],
    ['template', 'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', template('#sandbox-assets:Main:Unknown')],
    [
      'template with the name of an interface',
      'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
      template('#sandbox-api:Api:Holding'),
    ],
    ['interface', 'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', byInterface('#sandbox-api:Api:Unknown')],
    [
      'interface with the name of a template',
      'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
      byInterface('#sandbox-assets:Main:Asset'),
    ],
  ])('for an unknown %s is answered with 404', async (_, code, filter) => {
    const sandbox = await sandboxWith();
    const error = { code, errorCategory: 11, grpcCodeValue: 5 };
    expect(await ask(sandbox, template('#sandbox-assets:Main:Asset'), filter)).toMatchObject({
      status: 404,
      json: error,
    });
    const socket = await stream(sandbox, bodyWith(filter));
    expect(await socket.closed).toBe(1000);
    expect(socket.messages).toMatchObject([error]);
  });

  it('is checked in all formats of a request, also in that for reassignments and for any party', async () => {
    const sandbox = await sandboxWith();
    const filters = { cumulative: [{ identifierFilter: template('#unknown:Main:Asset') }] };
    const eventFormat = { filtersByParty: {}, filtersForAnyParty: filters };
    for (const updateFormat of [{ includeTransactions: acsDelta(eventFormat) }, { includeReassignments: eventFormat }])
      expect(await post(sandbox, '/v2/updates', { beginExclusive: 0, updateFormat })).toMatchObject({ status: 404 });
  });

  it('is checked in the look-up of one update, also of one that is unknown', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation({ signatories: [alice] }));
    const updateFormat = { includeReassignments: forParty(alice, template('#unknown:Main:Asset')) };
    const error = { status: 404, json: { code: 'PACKAGE_NAMES_NOT_FOUND' } };
    for (const offset of [1, 2])
      expect(await post(sandbox, '/v2/updates/update-by-offset', { offset, updateFormat })).toMatchObject(error);
    const byId = { updateId: '1220ff', updateFormat };
    expect(await post(sandbox, '/v2/updates/update-by-id', byId)).toMatchObject(error);
  });

  it.each([
    [
      'package',
      template('#unknown:Main:Asset'),
      'The following package names do not match upgradable packages uploaded on this participant: [unknown].',
    ],
    [
      'template',
      template('#sandbox-assets:Main:Unknown'),
      'The following package-name/template qualified-name pairs do not reference any template-id uploaded on this ' +
        'participant: [(sandbox-assets,Main:Unknown)].',
    ],
    [
      'interface',
      byInterface('#sandbox-api:Api:Unknown'),
      'The following package-name/interface qualified-name pairs do not reference any interface-id uploaded on this ' +
        'participant: [(sandbox-api,Api:Unknown)].',
    ],
  ])('for an unknown %s is answered in the words of a participant', async (_, filter, cause) => {
    expect(await ask(await sandboxWith(), filter)).toMatchObject({ json: { cause, resources: [] } });
  });

  it('for several unknown names is answered with those of the first kind of fault, in brackets', async () => {
    const sandbox = await sandboxWith();
    const { json } = await ask(
      sandbox,
      template('#one:Main:Asset'),
      template('#sandbox-assets:Main:Unknown'),
      byInterface('#two:Api:Holding'),
    );
    expect(json).toMatchObject({ code: 'PACKAGE_NAMES_NOT_FOUND', cause: expect.stringContaining('[one, two]') });
  });

  it('for an unknown name is checked after the offsets, and only at the start of a stream', async () => {
    const sandbox = await sandboxWith();
    const late = { ...bodyWith(template('#unknown:Main:Asset')), beginExclusive: 5 };
    expect(await post(sandbox, '/v2/updates', late)).toMatchObject({ json: { code: 'OFFSET_AFTER_LEDGER_END' } });
  });

  it('may have a package id in 3.4, which must be known as well', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    const packageId = sandbox.uploadPackage('assets', { templates: ['Main:Asset'], interfaces: ['Main:Holding'] });
    expect(await isKnown(sandbox, template(`${packageId}:Main:Asset`), byInterface(`${packageId}:Main:Holding`))).toBe(
      true,
    );
    expect(await isKnown(sandbox, template('#assets:Main:Asset'))).toBe(true);
    const [templateId, interfaceId] = [`${packageId}:Main:Holding`, `${'c'.repeat(64)}:Main:Holding`];
    expect(await ask(sandbox, byInterface(interfaceId), template(templateId))).toMatchObject({
      status: 404,
      json: {
        code: 'TEMPLATES_OR_INTERFACES_NOT_FOUND',
        cause: `Templates do not exist: [${templateId}]. Interfaces do not exist: [${interfaceId}].`,
        resources: [
          ['ErrorResource(TEMPLATE_ID)', templateId],
          ['ErrorResource(INTERFACE_ID)', interfaceId],
        ],
      },
    });
    expect(await ask(sandbox, template(templateId))).toMatchObject({
      json: {
        cause: `Templates do not exist: [${templateId}].`,
        resources: [['ErrorResource(TEMPLATE_ID)', templateId]],
      },
    });
  });
});

describe('the known names', () => {
  it('are those of generated traffic from the start', async () => {
    const sandbox = await sandboxWith();
    const names = ['#sandbox-assets:Main:Asset', '#sandbox-assets:Main:Offer', '#sandbox-tasks:Tasks.Model:Task'];
    const filters = [...names.map(template), byInterface('#sandbox-api:Api:Holding')];
    expect(await isKnown(sandbox, ...filters)).toBe(true);
    sandbox.generate(100);
    expect(listAt((await ask(sandbox, ...filters)).json)).toEqual([]);
  });

  it('are those of appended updates, also after a restore', async () => {
    const sandbox = await sandboxWith();
    const view = { interfaceId: '#api:Api:Holding', viewStatus: { code: 0, message: '', details: [] }, viewValue: {} };
    const filters = [template('#assets:Main:Asset'), byInterface('#api:Api:Holding')];
    expect(await isKnown(sandbox, ...filters)).toBe(false);
    sandbox.append(creation({ templateId: '#assets:Main:Asset', interfaceViews: [view] }));
    expect(await isKnown(sandbox, ...filters)).toBe(true);
    sandbox.restore(0);
    expect(await isKnown(sandbox, ...filters)).toBe(true);
  });

  it('are those of prepared commands', async () => {
    const { sandbox, eve } = await withParty();
    expect(await isKnown(sandbox, template('#assets:Main:Asset'))).toBe(false);
    expect(await post(sandbox, preparePath, prepareBody(eve.party, createCommand))).toMatchObject({ status: 200 });
    expect(await isKnown(sandbox, template('#assets:Main:Asset'))).toBe(true);
  });

  it('are those of uploaded packages, which may be uploaded in parts', async () => {
    const sandbox = await sandboxWith();
    const packageId = sandbox.uploadPackage('assets');
    expect(await ask(sandbox, template('#assets:Main:Asset'))).toMatchObject({
      json: { code: 'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME' },
    });
    expect(sandbox.uploadPackage('assets', { templates: ['Main:Asset'] })).toBe(packageId);
    expect(sandbox.uploadPackage('assets', { interfaces: ['Main:Holding'] })).toBe(packageId);
    const reply = await ask(sandbox, template('#assets:Main:Asset'), byInterface('#assets:Main:Holding'));
    // an interface that nothing implements is known
    expect(reply).toMatchObject({ status: 200, json: [] });
    sandbox.append(creation({ templateId: '#assets:Main:Asset', signatories: [alice] }));
    expect(listAt((await ask(sandbox, template('#assets:Main:Asset'))).json)).toMatchObject([
      { update: { Transaction: { value: { events: [{ CreatedEvent: { templateId: `${packageId}:Main:Asset` } }] } } } },
    ]);
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

describe('a party that the participant does not host', () => {
  it('gets nothing, and no error', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(50);
    const format = forParty('nobody::1220ff');
    const topology = { includeParticipantAuthorizationEvents: { parties: ['nobody::1220ff'] } };
    const updateFormat = {
      includeTransactions: acsDelta(format),
      includeReassignments: format,
      includeTopologyEvents: topology,
    };
    expect(await readUpdates(sandbox, { updateFormat })).toMatchObject({ status: 200, json: [] });
  });
});
