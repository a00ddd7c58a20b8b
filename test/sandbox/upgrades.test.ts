import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, eventsIn, failure, get, listAt, post, sandboxWith, stream } from './client.js';
import {
  acsDelta,
  archive,
  assetId,
  assign,
  byInterface,
  create,
  creation,
  forAny,
  ledgerEffects,
  list,
  outline,
  readUpdates,
  tail,
  unassign,
} from './requests.js';

const offerId = '#sandbox-assets:Main:Offer';

const lockable = '#locks:Locks:Lockable';

const eventFormat = forAny(byInterface(lockable));

const selection = { updateFormat: { includeTransactions: acsDelta(eventFormat), includeReassignments: eventFormat } };

async function sandboxWithInterface(): Promise<Sandbox> {
  const sandbox = await sandboxWith();
  sandbox.uploadPackage('locks', { interfaces: ['Locks:Lockable'] });
  return sandbox;
}

const packages = async (sandbox: Sandbox): Promise<readonly unknown[]> =>
  listAt((await get(sandbox, '/v2/packages')).json, 'packageIds');

const offer = (contractId: string) => creation({ contractId, templateId: offerId, createArgument: { price: '2.0' } });

const viewOf = (createArgument: unknown) => ({ locked: at(createArgument, 'price') });

describe('the upload of a version in which a template implements an interface', () => {
  it('shows the earlier contracts by that interface, in updates and in snapshots', async () => {
    const sandbox = await sandboxWithInterface();
    sandbox.append(
      offer('00aa'),
      offer('00bb'),
      archive('00bb'),
      creation({ contractId: '00cc', templateId: assetId }),
    );
    expect((await readUpdates(sandbox, selection)).json).toEqual([]);
    const before = await packages(sandbox);

    const id = sandbox.addInterface(offerId, lockable, viewOf);

    expect(new Set(await packages(sandbox))).toEqual(new Set([...before, id]));
    expect(before).not.toContain(id);
    const updates = await readUpdates(sandbox, selection);
    const view = { viewValue: { locked: '2.0' }, implementationPackageId: id, viewStatus: { code: 0 } };
    expect(eventsIn(updates, 'Transaction')).toMatchObject([
      { CreatedEvent: { contractId: '00aa', interfaceViews: [view] } },
      { CreatedEvent: { contractId: '00bb', interfaceViews: [view] } },
      { ArchivedEvent: { contractId: '00bb', implementedInterfaces: [expect.stringMatching(/:Locks:Lockable$/)] } },
    ]);
    expect(outline((await list(sandbox, { eventFormat })).json)).toEqual([expect.stringContaining('00aa')]);
  });

  it('keeps the template ids of earlier contracts, and gives later ones the id of the version', async () => {
    const sandbox = await sandboxWithInterface();
    const [party = ''] = sandbox.parties;
    const createOffer = (commandId: string) => {
      const price = { seller: party, buyer: party, price: '1.0', kind: { tag: 'Fixed', value: {} } };
      const commands = [create(offerId, price)];
      return post(sandbox, '/v2/commands/submit-and-wait', { commandId, userId: 'me', actAs: [party], commands });
    };
    await createOffer('before');
    const id = sandbox.addInterface(offerId, lockable);
    expect((await createOffer('after')).status).toBe(200);
    const [first, second] = eventsIn(await readUpdates(sandbox, selection), 'Transaction');
    expect(at(first, 'CreatedEvent', 'templateId')).not.toBe(`${id}:Main:Offer`);
    expect(at(second, 'CreatedEvent')).toMatchObject({
      templateId: `${id}:Main:Offer`,
      packageName: 'sandbox-assets',
      interfaceViews: [{ viewValue: {}, implementationPackageId: id }],
    });
    const both = { updateFormat: { includeTransactions: ledgerEffects(forAny()) } };
    expect(eventsIn(await readUpdates(sandbox, both), 'Transaction')).toHaveLength(2);
  });

  it('shows reassignments of earlier contracts, and reaches streams that are open', async () => {
    const sandbox = await sandboxWithInterface();
    sandbox.append(offer('00aa'));
    const client = await stream(sandbox, { ...tail, ...selection, beginExclusive: 1 });
    await get(sandbox);
    sandbox.addInterface(offerId, lockable, viewOf);
    sandbox.append(unassign('00aa'), assign('00aa'));
    expect((await client.received(2)).map((message) => at(message, 'update', 'Reassignment', 'value'))).toMatchObject([
      { events: [{ JsUnassignedEvent: { value: { contractId: '00aa' } } }] },
      { events: [{ JsAssignmentEvent: { createdEvent: { interfaceViews: [{ viewValue: { locked: '2.0' } }] } } }] },
    ]);
  });

  it('stays with the participant that got it, also after a restore', async () => {
    const first = await sandboxWithInterface();
    const second = await sandboxWith({ replicaOf: first });
    first.append(offer('00aa'));
    first.addInterface(offerId, lockable);
    expect(second.updates).toHaveLength(1);
    expect((await readUpdates(second, selection)).json).toEqual([]);
    first.restore(0, { readAgain: true });
    expect(listAt((await readUpdates(first, selection)).json)).toHaveLength(1);
    const third = await sandboxWith({ replicaOf: first });
    expect(listAt((await readUpdates(third, selection)).json)).toHaveLength(1);
    first.uploadPackage('more', { templates: ['Main:More'] });
    expect(
      await readUpdates(third, { updateFormat: { includeTransactions: acsDelta(forAny(byInterface('#more:A:B'))) } }),
    ).toMatchObject(failure(404, 'PACKAGE_NAMES_NOT_FOUND'));
  });
});
