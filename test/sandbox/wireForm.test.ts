import { describe, expect, it } from '@jest/globals';
import type { SandboxProfile } from '../../src/sandbox/index.js';
import { acsDelta, anyParty, creation, everything, forParty, readUpdates } from './requests.js';
import { at, get, listAt, post, sandboxWith } from './client.js';

async function served(profile: SandboxProfile, generated = 300) {
  const sandbox = await sandboxWith({ profile, maxListElements: 1000 });
  sandbox.generate(generated);
  return listAt((await readUpdates(sandbox)).json).map((element) => at(element, 'update'));
}

/** The contents of the updates of a variant. */
const valuesOf = (updates: readonly unknown[], variant: string): readonly unknown[] =>
  updates.map((update) => at(update, variant, 'value')).filter((value) => value !== undefined);

const eventsOf = (updates: readonly unknown[], variant: string): readonly unknown[] =>
  valuesOf(updates, variant).flatMap((value) => listAt(value, 'events'));

const keys = (value: unknown) => Object.keys(Object(value) as object).sort();

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
    expect(transaction).toMatchObject({ traceContext: null, externalTransactionHash: null });
    expect(at(transaction, 'paidTrafficCost')).toBe(is33 ? undefined : null);
    expect(created).toMatchObject({ contractKey: null, createdEventBlob: '', interfaceViews: [] });
    expect(keys(transaction).includes('transactionHash')).toBe(hasHash);
    expect(keys(created).includes('contractKeyHash')).toBe(hasKeyHash);
    expect(keys(created).filter((key) => key !== 'contractKeyHash')).toEqual([
      ...(is33 ? [] : ['acsDelta']),
      'contractId',
      'contractKey',
      'createArgument',
      'createdAt',
      'createdEventBlob',
      'interfaceViews',
      'nodeId',
      'observers',
      'offset',
      'packageName',
      ...(is33 ? [] : ['representativePackageId']),
      'signatories',
      'templateId',
      'witnessParties',
    ]);
  });

  it('has record times of no, three or six fraction digits', async () => {
    const times = (await served('3.5')).flatMap((update) =>
      at(Object.values(Object(update) as object)[0], 'value', 'recordTime'),
    );
    for (const pattern of [/:\d\dZ$/, /\.\d{3}Z$/, /\.\d{6}Z$/]) {
      expect(times.some((time) => pattern.test(String(time)))).toBe(true);
    }
  });

  it('has its command id and cost for its submitters only', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(40, { variants: ['Transaction'] });
    const read = async (party: string) => {
      const updateFormat = { includeTransactions: acsDelta(forParty(party)) };
      return listAt((await readUpdates(sandbox, { updateFormat })).json).map((element) =>
        at(element, 'update', 'Transaction', 'value'),
      );
    };
    const all = (await Promise.all(sandbox.parties.map(read))).flat();
    const foreign = all.filter((transaction) => at(transaction, 'commandId') === '');
    expect(foreign.length).toBeGreaterThan(0);
    expect(foreign.length).toBeLessThan(all.length);
    expect(new Set(foreign.map((transaction) => at(transaction, 'paidTrafficCost')))).toEqual(new Set([null]));
  });
});

describe('one-ofs on the wire', () => {
  it('wrap their content as each kind does', async () => {
    const updates = await served('3.5');
    const moves = eventsOf(updates, 'Reassignment');
    const offsetOf = (move: unknown) =>
      at(move, 'JsUnassignedEvent', 'value', 'offset') ?? at(move, 'JsAssignmentEvent', 'createdEvent', 'offset');
    expect(moves.length).toBeGreaterThan(0);
    for (const move of moves) expect(typeof offsetOf(move)).toBe('number');
    const topology = eventsOf(updates, 'TopologyTransaction');
    expect(topology.length).toBeGreaterThan(0);
    for (const event of topology) expect(keys(at(event, 'event'))[0]).toMatch(/^ParticipantAuthorization/);
  });

  it('have no onboarding before 3.5', async () => {
    const text = async (profile: SandboxProfile) => JSON.stringify(await served(profile));
    expect(await text('3.5')).toContain('ParticipantAuthorizationOnboarding');
    expect(await text('3.4')).not.toContain('ParticipantAuthorizationOnboarding');
    expect(await text('3.3')).not.toContain('ParticipantAuthorizationOnboarding');
  });

  it('have former names and no envelopes of topology events in 3.3', async () => {
    const updates = await served('3.3');
    const reassignments = valuesOf(updates, 'Reassignment');
    expect(reassignments.length).toBeGreaterThan(0);
    expect(new Set(reassignments.map((value) => at(value, 'synchronizerId')))).toEqual(new Set([undefined]));
    const moves = eventsOf(updates, 'Reassignment').map(
      (move) => at(move, 'JsUnassignedEvent', 'value') ?? at(move, 'JsAssignmentEvent'),
    );
    for (const move of moves) {
      expect(at(move, 'unassignId')).toMatch(/^00/);
      expect(at(move, 'reassignmentId')).toBeUndefined();
    }
    const topology = eventsOf(updates, 'TopologyTransaction');
    const permissions = topology.map((event) => at(Object.values(Object(event) as object)[0], 'participantPermission'));
    expect(new Set(permissions)).toEqual(new Set([undefined, 1, 2, 3]));
    const exercises = eventsOf(updates, 'Transaction').flatMap((event) => at(event, 'ExercisedEvent') ?? []);
    for (const exercise of exercises) expect(keys(exercise)).not.toContain('acsDelta');
  });
});

describe('the state endpoints', () => {
  it('return the ledger end, since 3.6 with the record times of the requested synchronizers', async () => {
    const sandbox = await sandboxWith();
    expect((await get(sandbox, '/v2/state/ledger-end')).text).toBe('{"offset":0}');
    sandbox.append(creation());
    const [synchronizerId = '', other = ''] = sandbox.synchronizers;
    const ids = [other, synchronizerId].map((id) => `synchronizer_id=${encodeURIComponent(id)}`);
    const requested = `/v2/state/ledger-end?${ids.join('&')}`;
    expect((await get(sandbox, requested)).text).toBe('{"offset":1}');
    for (const profile of ['3.6', '3.7'] as const) {
      sandbox.configure({ profile });
      const timesAt = async (path: string) => at((await get(sandbox, path)).json, 'synchronizerTimes');
      expect(await timesAt('/v2/state/ledger-end')).toEqual([]);
      expect(await timesAt(requested)).toEqual([{ synchronizerId, recordTime: '2026-01-01T00:00:01Z' }]);
    }
  });

  it('return the pruned offset, the version and the health of the service', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    sandbox.advance(9);
    sandbox.prune(4);
    expect((await get(sandbox, '/v2/state/latest-pruned-offsets')).json).toEqual({
      participantPrunedUpToInclusive: 4,
      allDivulgedContractsPrunedUpToInclusive: 4,
    });
    expect((await get(sandbox, '/v2/version')).json).toMatchObject({
      version: expect.stringMatching(/^3\.4\./),
      features: { offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: { seconds: 75, nanos: 0 } } },
    });
    expect(await get(sandbox, '/livez')).toMatchObject({ status: 200, text: '' });
  });
});

describe('looking up one update', () => {
  it('finds it by offset and by id', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), {
      Transaction: { value: { offset: 7, updateId: '1220ab', events: [{ CreatedEvent: {} }] } },
    });
    const expected = { update: { Transaction: { value: { offset: 7, updateId: '1220ab' } } } };
    const byOffset = { offset: 7, updateFormat: everything };
    const byId = { updateId: '1220ab', updateFormat: everything };
    expect((await post(sandbox, '/v2/updates/update-by-offset', byOffset)).json).toMatchObject(expected);
    expect((await post(sandbox, '/v2/updates/update-by-id', byId)).json).toMatchObject(expected);
  });

  it('returns the same error for unknown, pruned and invisible updates', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation());
    sandbox.prune(1);
    const notFound = { status: 404, json: { code: 'UPDATE_NOT_FOUND', errorCategory: 11, grpcCodeValue: 5 } };
    for (const offset of [1, 5]) {
      const body = { offset, updateFormat: everything };
      expect(await post(sandbox, '/v2/updates/update-by-offset', body)).toMatchObject(notFound);
    }
    const invisible = { offset: 2, updateFormat: { includeReassignments: anyParty } };
    expect(await post(sandbox, '/v2/updates/update-by-offset', invisible)).toMatchObject(notFound);
    const unknown = { updateId: '1220ff', updateFormat: everything };
    expect(await post(sandbox, '/v2/updates/update-by-id', unknown)).toMatchObject(notFound);
  });
});
