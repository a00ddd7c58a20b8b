import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { acsDelta, anyParty, forParty, ledgerEffects, readUpdates } from './requests.js';
import { at, eventsIn, listAt, post, sandboxWith } from './client.js';

const holding = '#api:Api:Holding';
const view = { interfaceId: holding, viewStatus: { code: 0, message: '', details: [] }, viewValue: { amount: '1' } };
const template = (templateId: string, includeCreatedEventBlob = false) => ({
  TemplateFilter: { value: { templateId, includeCreatedEventBlob } },
});
const byInterface = (includeInterfaceView: boolean) => ({
  InterfaceFilter: { value: { interfaceId: holding, includeInterfaceView, includeCreatedEventBlob: false } },
});

/** Alice signs an asset that bob observes and dora witnesses, and an offer. Alice archives the asset. */
async function filled(): Promise<Sandbox> {
  const sandbox = await sandboxWith();
  const parties = { signatories: ['alice'], observers: ['bob'], witnessParties: ['alice', 'bob', 'dora'] };
  const asset = {
    contractId: '00aa',
    templateId: '#assets:Main:Asset',
    createArgument: { owner: 'alice' },
    ...parties,
  };
  const interfaceViews = [{ ...view, implementationPackageId: 'p' }];
  const offer = { contractId: '00bb', templateId: '#assets:Main:Offer', signatories: ['alice'] };
  sandbox.append(
    { Transaction: { value: { events: [{ CreatedEvent: { ...asset, interfaceViews } }, { CreatedEvent: offer }] } } },
    { Transaction: { value: { events: [{ ArchivedEvent: { contractId: '00aa' } }] } } },
  );
  return sandbox;
}

const events = async (sandbox: Sandbox, includeTransactions: unknown): Promise<readonly unknown[]> =>
  eventsIn(await readUpdates(sandbox, { updateFormat: { includeTransactions } }), 'Transaction');

describe('the events of a transaction', () => {
  it('are created and archived events in the ACS-delta shape', async () => {
    const found = await events(await filled(), acsDelta(anyParty));
    expect(found.flatMap((event) => Object.keys(Object(event) as object))).toEqual([
      'CreatedEvent',
      'CreatedEvent',
      'ArchivedEvent',
    ]);
  });

  it('are created and exercised events in the ledger-effects shape', async () => {
    const [, , last] = await events(await filled(), ledgerEffects(anyParty));
    expect(last).toMatchObject({
      ExercisedEvent: { contractId: '00aa', choice: 'Archive', consuming: true, acsDelta: true },
    });
  });

  it('are those whose stakeholders are among the requested parties, and only these are witnesses', async () => {
    const sandbox = await filled();
    const found = await events(sandbox, acsDelta(forParty('bob')));
    expect(found).toMatchObject([
      { CreatedEvent: { contractId: '00aa', witnessParties: ['bob'], signatories: ['alice'] } },
      { ArchivedEvent: { contractId: '00aa', witnessParties: ['bob'] } },
    ]);
    expect(await events(sandbox, acsDelta(forParty('dora')))).toEqual([]);
    expect(await events(sandbox, ledgerEffects(forParty('dora')))).toMatchObject([
      { CreatedEvent: { contractId: '00aa', witnessParties: ['dora'] } },
    ]);
  });

  it('have all witnesses for a filter for any party', async () => {
    const [first] = await events(await filled(), ledgerEffects(anyParty));
    expect(at(first, 'CreatedEvent', 'witnessParties')).toEqual(['alice', 'bob', 'dora']);
  });

  it('are those of the requested template, with a blob if requested', async () => {
    const sandbox = await filled();
    const found = await events(sandbox, acsDelta(forParty('alice', template('#assets:Main:Offer'))));
    expect(found).toMatchObject([
      { CreatedEvent: { contractId: '00bb', createdEventBlob: '', packageName: 'assets' } },
    ]);
    const [blob] = await events(sandbox, acsDelta(forParty('alice', template('#assets:Main:Offer', true))));
    expect(at(blob, 'CreatedEvent', 'createdEventBlob')).toBe('ALs=');
    sandbox.uploadPackage('other', { templates: ['Main:Offer'] });
    expect(await events(sandbox, acsDelta(forParty('alice', template('#other:Main:Offer'))))).toEqual([]);
  });

  it('are those of templates with the requested interface, and have arguments and views', async () => {
    const sandbox = await filled();
    const found = await events(sandbox, acsDelta(forParty('alice', byInterface(true))));
    expect(found).toMatchObject([
      { CreatedEvent: { contractId: '00aa', createArgument: {}, interfaceViews: [{ viewValue: { amount: '1' } }] } },
      { ArchivedEvent: { contractId: '00aa', implementedInterfaces: [expect.stringMatching(/:Api:Holding$/)] } },
    ]);
    const [unseen] = await events(sandbox, acsDelta(forParty('alice', byInterface(false))));
    expect(unseen).toMatchObject({ CreatedEvent: { interfaceViews: [] } });
  });

  it('name the interfaces of an archive or a consuming exercise that are requested with their views', async () => {
    const sandbox = await filled();
    sandbox.append({
      Transaction: {
        value: {
          events: [
            { CreatedEvent: { contractId: '00cc', interfaceViews: [{ ...view, implementationPackageId: 'p' }] } },
            { ExercisedEvent: { contractId: '00cc', choice: 'Look', consuming: false } },
            { ExercisedEvent: { contractId: '00cc', choice: 'Burn' } },
          ],
        },
      },
    });
    const named = async (shape: typeof acsDelta, format: object) =>
      (await events(sandbox, shape(format))).flatMap(
        (event) => at(event, 'ArchivedEvent', 'implementedInterfaces') ?? exercised(event),
      );
    const exercised = (event: unknown) => at(event, 'ExercisedEvent', 'implementedInterfaces') ?? [];
    const any = (...cumulative: readonly object[]) => ({
      filtersByParty: {},
      filtersForAnyParty: { cumulative: cumulative.map((identifierFilter) => ({ identifierFilter })) },
    });
    const wanted = expect.stringMatching(/:Api:Holding$/);
    for (const shape of [acsDelta, ledgerEffects]) {
      expect(await named(shape, any(byInterface(true)))).toEqual([wanted, wanted]);
      expect(await named(shape, any(byInterface(false)))).toEqual([]);
      expect(await named(shape, anyParty)).toEqual([]);
    }
  });

  it('add up over the filters of a party', async () => {
    const both = forParty('alice', template('#assets:Main:Asset'), byInterface(true));
    const [asset] = await events(await filled(), acsDelta(both));
    expect(asset).toMatchObject({
      CreatedEvent: { createArgument: { owner: 'alice' }, interfaceViews: [{ viewValue: { amount: '1' } }] },
    });
  });

  it('omit contracts that are archived in the transaction of their creation, except in the ledger-effects shape', async () => {
    const sandbox = await sandboxWith();
    const transient = { contractId: '00cc', acsDelta: false };
    const exercise = { ExercisedEvent: { contractId: '00cc', choice: 'Archive' } };
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: transient }, exercise] } } });
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
    sandbox.append(
      { Reassignment: { value: { events: [{ JsUnassignedEvent: { value: { contractId: '00bb' } } }] } } },
      {
        Reassignment: {
          value: { events: [{ JsAssignmentEvent: { createdEvent: { contractId: '00dd', signatories: ['bob'] } } }] },
        },
      },
    );
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
  it('are those of the requested parties, or all', async () => {
    const sandbox = await sandboxWith();
    const revoked = (partyId: string) => ({
      event: { ParticipantAuthorizationRevoked: { value: { partyId, participantId: 'participant' } } },
    });
    sandbox.append({ TopologyTransaction: { value: { events: [revoked('alice'), revoked('bob')] } } });
    const read = async (parties: readonly string[]) => {
      const includeTopologyEvents = { includeParticipantAuthorizationEvents: { parties } };
      return eventsIn(await readUpdates(sandbox, { updateFormat: { includeTopologyEvents } }), 'TopologyTransaction');
    };
    expect(await read(['bob'])).toEqual([revoked('bob')]);
    expect(await read([])).toHaveLength(2);
    expect(await read(['carol'])).toEqual([]);
  });

  it('are those of the parties of a legacy filter', async () => {
    const sandbox = await filled();
    const value = { partyId: 'bob', participantId: 'p', participantPermission: 'PARTICIPANT_PERMISSION_SUBMISSION' };
    sandbox.append({
      TopologyTransaction: { value: { events: [{ event: { ParticipantAuthorizationAdded: { value } } }] } },
    });
    const read = async (party: string) => {
      const body = { beginExclusive: 2, endInclusive: 3, filter: forParty(party) };
      return listAt((await post(sandbox, '/v2/updates/flats', body)).json);
    };
    expect(await read('bob')).toHaveLength(1);
    expect(await read('alice')).toHaveLength(0);
  });
});
