import { describe, expect, it } from '@jest/globals';
import { at, get, listAt, post, sandboxWith } from './client.js';
import { anyParty, forParty } from './requests.js';
import { archive, assign, creations, unassign } from './snapshots.js';
import type { Sandbox } from '../../src/sandbox/index.js';

const eventsOf = (sandbox: Sandbox, contractId: string, eventFormat: unknown = anyParty) =>
  post(sandbox, '/v2/events/events-by-contract-id', { contractId, eventFormat });

describe('the events of a contract', () => {
  it('are its creation and its archive, both with the synchronizer of the creation', async () => {
    const sandbox = await sandboxWith();
    const [synchronizerId] = sandbox.synchronizers;
    sandbox.append(...creations('00aa'));
    const created = { createdEvent: { contractId: '00aa', offset: 1 }, synchronizerId };
    expect((await eventsOf(sandbox, '00aa')).json).toMatchObject({ created, archived: null });
    sandbox.append(unassign('00aa'), assign('00aa'), archive('00aa'));
    const archived = { archivedEvent: { contractId: '00aa', offset: 4 }, synchronizerId };
    expect((await eventsOf(sandbox, '00aa')).json).toMatchObject({ created, archived });
  });

  it('are both of one transaction if the contract is archived where it is created, also for a witness', async () => {
    const sandbox = await sandboxWith();
    const parties = { signatories: ['alice'], witnessParties: ['alice', 'dora'] };
    const created = { CreatedEvent: { contractId: '00aa', acsDelta: false, ...parties } };
    const used = { ExercisedEvent: { contractId: '00aa', choice: 'Look', consuming: false, nodeId: 1 } };
    const burnt = {
      ExercisedEvent: { contractId: '00aa', choice: 'Burn', nodeId: 2, witnessParties: ['alice', 'dora'] },
    };
    const divulged = { CreatedEvent: { contractId: '00bb', acsDelta: false, ...parties } };
    sandbox.append({ Transaction: { value: { events: [created, used, burnt, divulged] } } });
    for (const party of ['alice', 'dora']) {
      expect((await eventsOf(sandbox, '00aa', forParty(party))).json).toMatchObject({
        created: { createdEvent: { contractId: '00aa', witnessParties: [party] } },
        archived: { archivedEvent: { contractId: '00aa', offset: 1, nodeId: 2, witnessParties: [party] } },
      });
    }
    expect((await eventsOf(sandbox, '00bb', forParty('dora'))).status).toBe(404);
    sandbox.prune(1);
    expect((await eventsOf(sandbox, '00aa')).status).toBe(404);
  });

  it('are not found if unknown, assigned, invisible or pruned', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'), assign('00bb'), archive('00aa'));
    const found = [eventsOf(sandbox, '00ee'), eventsOf(sandbox, '00bb'), eventsOf(sandbox, '00aa', forParty('nobody'))];
    expect((await Promise.all(found)).map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await eventsOf(sandbox, '00aa')).status).toBe(200);
    sandbox.prune(3);
    expect((await eventsOf(sandbox, '00aa')).json).toMatchObject({ code: 'CONTRACT_EVENTS_NOT_FOUND' });
    expect((await eventsOf(sandbox, '00aa', null)).json).toMatchObject({ code: 'MISSING_FIELD' });
  });
});

describe('the connected synchronizers', () => {
  it('have a permission if a party is given', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    const read = async (query: string) => {
      const { json } = await get(sandbox, `/v2/state/connected-synchronizers${query}`);
      return listAt(json, 'connectedSynchronizers');
    };
    const [synchronizerId] = sandbox.synchronizers;
    const unspecified = {
      synchronizerAlias: 'sync1',
      synchronizerId,
      permission: 'PARTICIPANT_PERMISSION_UNSPECIFIED',
    };
    expect((await read(''))[0]).toEqual(unspecified);
    const permission = async (of = '') => at(await read(`?party=${encodeURIComponent(of)}`), 0, 'permission');
    expect(await permission(sandbox.parties[0])).toBe('PARTICIPANT_PERMISSION_SUBMISSION');
    expect(await permission(party)).toBe('PARTICIPANT_PERMISSION_CONFIRMATION');
    expect(await read('?party=nobody')).toEqual([]);
  });
});
