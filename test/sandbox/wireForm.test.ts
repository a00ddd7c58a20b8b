import { describe, expect, it } from '@jest/globals';
import type { Sandbox, SandboxProfile } from '../../src/sandbox/index.js';
import { at, failure, get, keys, listAt, post, sandboxWith } from './client.js';
import {
  acsDelta,
  anyParty,
  archive,
  assign,
  creation,
  creations,
  forParty,
  readUpdates,
  transaction,
  unassign,
} from './requests.js';

async function served(profile: SandboxProfile) {
  const sandbox = await sandboxWith({ profile, maxListElements: 1000 });
  sandbox.generate(300);
  return listAt((await readUpdates(sandbox)).json).map((element) => at(element, 'update'));
}

/** The contents of the updates of a variant. */
const valuesOf = (updates: readonly unknown[], variant: string): readonly unknown[] =>
  updates.map((update) => at(update, variant, 'value')).filter((value) => value !== undefined);

const eventsOf = (updates: readonly unknown[], variant: string): readonly unknown[] =>
  valuesOf(updates, variant).flatMap((value) => listAt(value, 'events'));

describe('a transaction on the wire', () => {
  it.each([
    ['3.3', false, false],
    ['3.4', false, false],
    ['3.5', true, false],
    ['3.6', true, true],
    ['3.7', true, true],
  ] as const)('has the fields of %s, absent ones as null', async (profile, hasKeyHash, hasHash) => {
    const sandbox = await sandboxWith({ profile });
    sandbox.append(creation());
    const transaction = at((await readUpdates(sandbox)).json, 0, 'update', 'Transaction', 'value');
    const created = at(transaction, 'events', 0, 'CreatedEvent');
    const is33 = profile === '3.3';
    expect(transaction).toMatchObject({ traceContext: { tracestate: null }, externalTransactionHash: null });
    expect(at(transaction, 'paidTrafficCost')).toBe(is33 ? undefined : null);
    expect(created).toMatchObject({ contractKey: null, createdEventBlob: '', interfaceViews: [] });
    expect(keys(transaction).includes('transactionHash')).toBe(hasHash);
    const common = `contractId contractKey createArgument createdAt createdEventBlob interfaceViews nodeId observers
      offset packageName signatories templateId witnessParties`.split(/\s+/);
    const later = [
      ...(is33 ? [] : ['acsDelta', 'representativePackageId']),
      ...(hasKeyHash ? ['contractKeyHash'] : []),
    ];
    expect(keys(created).toSorted()).toEqual([...common, ...later].sort());
  });

  it('has its command id and cost for its submitters only', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(40, { variants: ['Transaction'] });
    const read = async (party: string) => {
      const updateFormat = { includeTransactions: acsDelta(forParty(party)) };
      const { json } = await readUpdates(sandbox, { updateFormat });
      return listAt(json).map((element) => at(element, 'update', 'Transaction', 'value'));
    };
    const all = (await Promise.all(sandbox.parties.map(read))).flat();
    const foreign = all.filter((value) => at(value, 'commandId') === '');
    expect(foreign.length).toBeGreaterThan(0);
    expect(foreign.length).toBeLessThan(all.length);
    expect(new Set(foreign.map((value) => at(value, 'paidTrafficCost')))).toEqual(new Set([null]));
  });
});

describe('updates on the wire', () => {
  it('have record times of no, three or six fraction digits, and wrap one-ofs as each kind does', async () => {
    const updates = await served('3.5');
    const times = updates.map((update) => at(update, ...keys(update), 'value', 'recordTime'));
    for (const pattern of [/:\d\dZ$/, /\.\d{3}Z$/, /\.\d{6}Z$/])
      expect(times.some((time) => pattern.test(String(time)))).toBe(true);
    const moves = eventsOf(updates, 'Reassignment');
    expect(moves.length).toBeGreaterThan(0);
    for (const move of moves) {
      const unassigned = at(move, 'JsUnassignedEvent', 'value', 'offset');
      expect(typeof (unassigned ?? at(move, 'JsAssignmentEvent', 'createdEvent', 'offset'))).toBe('number');
    }
    const topology = eventsOf(updates, 'TopologyTransaction');
    expect(topology.length).toBeGreaterThan(0);
    for (const event of topology) expect(keys(at(event, 'event'))[0]).toMatch(/^ParticipantAuthorization/);
  });

  it('have no onboarding before 3.5, and former names and no envelopes of topology events in 3.3', async () => {
    const onboarding = 'ParticipantAuthorizationOnboarding';
    const updates = await served('3.3');
    expect(JSON.stringify(await served('3.5'))).toContain(onboarding);
    for (const earlier of [updates, await served('3.4')]) expect(JSON.stringify(earlier)).not.toContain(onboarding);
    const reassignments = valuesOf(updates, 'Reassignment');
    expect(reassignments.length).toBeGreaterThan(0);
    expect(new Set(reassignments.map((value) => at(value, 'synchronizerId')))).toEqual(new Set([undefined]));
    for (const move of eventsOf(updates, 'Reassignment')) {
      const fields = at(move, 'JsUnassignedEvent', 'value') ?? at(move, 'JsAssignmentEvent');
      expect([at(fields, 'unassignId'), at(fields, 'reassignmentId')]).toEqual([
        expect.stringMatching(/^00/),
        undefined,
      ]);
    }
    const topology = eventsOf(updates, 'TopologyTransaction');
    const permissions = topology.map((event) => at(event, ...keys(event), 'participantPermission'));
    expect(new Set(permissions)).toEqual(new Set([undefined, 1, 2, 3]));
    for (const event of eventsOf(updates, 'Transaction'))
      expect(keys(at(event, 'ExercisedEvent'))).not.toContain('acsDelta');
  });
});

describe('the state endpoints', () => {
  it('return the ledger end, since 3.6 with the record times of the requested synchronizers', async () => {
    const sandbox = await sandboxWith();
    expect((await get(sandbox)).text).toBe('{"offset":0}');
    sandbox.append(creation());
    const [synchronizerId = '', other = ''] = sandbox.synchronizers;
    const ids = [other, synchronizerId].map((id) => `synchronizer_id=${encodeURIComponent(id)}`);
    const requested = `/v2/state/ledger-end?${ids.join('&')}`;
    expect((await get(sandbox, requested)).text).toBe('{"offset":1}');
    sandbox.configure({ profile: '3.6' });
    const timesAt = async (path?: string) => at((await get(sandbox, path)).json, 'synchronizerTimes');
    expect(await timesAt()).toEqual([]);
    expect(await timesAt(requested)).toEqual([{ synchronizerId, recordTime: '2026-01-01T00:00:01Z' }]);
  });

  it('return the pruned offset, the version and the health of the service', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    sandbox.advance(9);
    sandbox.prune(4);
    expect((await get(sandbox, '/v2/state/latest-pruned-offsets')).json).toEqual({
      participantPrunedUpToInclusive: 4,
      allDivulgedContractsPrunedUpToInclusive: 4,
    });
    const offsetCheckpoint = { maxOffsetCheckpointEmissionDelay: { seconds: 75, nanos: 0 } };
    const version = { version: expect.stringMatching(/^3\.4\./), features: { offsetCheckpoint } };
    expect((await get(sandbox, '/v2/version')).json).toMatchObject(version);
    expect(await get(sandbox, '/livez')).toMatchObject({ status: 200, text: '' });
  });

  it('return the synchronizers, with a permission if a party is given', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    const read = async (of?: string) => {
      const query = of === undefined ? '' : `?party=${encodeURIComponent(of)}`;
      const { json } = await get(sandbox, `/v2/state/connected-synchronizers${query}`);
      return listAt(json, 'connectedSynchronizers');
    };
    const permission = 'PARTICIPANT_PERMISSION_UNSPECIFIED';
    const first = { synchronizerAlias: 'sync1', synchronizerId: sandbox.synchronizers[0], permission };
    expect((await read())[0]).toEqual(first);
    expect(at(await read(sandbox.parties[0]), 0, 'permission')).toBe('PARTICIPANT_PERMISSION_SUBMISSION');
    expect(at(await read(party), 0, 'permission')).toBe('PARTICIPANT_PERMISSION_CONFIRMATION');
    expect(await read('nobody')).toEqual([]);
  });
});

describe('the events of a contract', () => {
  const read = (sandbox: Sandbox, contractId: string, eventFormat: unknown = anyParty) =>
    post(sandbox, '/v2/events/events-by-contract-id', { contractId, eventFormat });

  it('are its creation and its archive, both with the synchronizer of the creation', async () => {
    const sandbox = await sandboxWith();
    const [synchronizerId] = sandbox.synchronizers;
    sandbox.append(...creations('00aa'));
    const created = { createdEvent: { contractId: '00aa', offset: 1 }, synchronizerId };
    expect((await read(sandbox, '00aa')).json).toMatchObject({ created, archived: null });
    sandbox.append(unassign('00aa'), assign('00aa'), archive('00aa'));
    const archived = { archivedEvent: { contractId: '00aa', offset: 4 }, synchronizerId };
    expect((await read(sandbox, '00aa')).json).toMatchObject({ created, archived });
  });

  it('are both of one transaction if the contract is archived where it is created, also for a witness', async () => {
    const sandbox = await sandboxWith();
    const witnessParties = ['alice', 'dora'];
    const created = (contractId: string) => ({
      CreatedEvent: { contractId, acsDelta: false, signatories: ['alice'], witnessParties },
    });
    const used = { ExercisedEvent: { contractId: '00aa', choice: 'Look', consuming: false, nodeId: 1 } };
    const burnt = { ExercisedEvent: { contractId: '00aa', choice: 'Burn', nodeId: 2, witnessParties } };
    sandbox.append(transaction(created('00aa'), used, burnt, created('00bb')));
    for (const party of witnessParties) {
      const seen = { contractId: '00aa', witnessParties: [party] };
      expect((await read(sandbox, '00aa', forParty(party))).json).toMatchObject({
        created: { createdEvent: seen },
        archived: { archivedEvent: { ...seen, offset: 1, nodeId: 2 } },
      });
    }
    expect((await read(sandbox, '00bb', forParty('dora'))).status).toBe(404);
    sandbox.prune(1);
    expect((await read(sandbox, '00aa')).status).toBe(404);
  });

  it('are not found if unknown, assigned, invisible or pruned', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'), assign('00bb'), archive('00aa'));
    const notFound = failure(404, 'CONTRACT_EVENTS_NOT_FOUND');
    for (const [id, format] of [['00ee'], ['00bb'], ['00aa', forParty('nobody')]] as const)
      expect(await read(sandbox, id, format)).toMatchObject(notFound);
    expect((await read(sandbox, '00aa')).status).toBe(200);
    sandbox.prune(3);
    expect(await read(sandbox, '00aa')).toMatchObject(notFound);
    expect(await read(sandbox, '00aa', null)).toMatchObject(failure(400, 'MISSING_FIELD'));
  });
});
