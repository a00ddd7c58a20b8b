import { describe, expect, it } from '@jest/globals';
import { type Sandbox, startSandbox, type WireUpdate } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { until } from '../helpers/time.js';
import { at, endPath, failure, get, listAt, post, sandboxWith, textAt } from './client.js';
import {
  archive,
  assetId,
  create,
  creation,
  creations,
  everything,
  exercise,
  list,
  outline,
  readUpdates,
  tail,
  updatesPath,
} from './requests.js';

const participantPath = '/v2/parties/participant-id';

/** An update as it is on every participant. */
const sharedPart = (update: WireUpdate) => {
  const { updateId, synchronizerId, recordTime, events } = updateValue(update);
  const places = JSON.stringify(events, (key, value: unknown) => (key === 'offset' ? undefined : value));
  return { updateId, synchronizerId, recordTime, events: places };
};

const offsetsOf = ({ updates }: Sandbox): readonly number[] => updates.map((update) => updateValue(update).offset);

const idsOf = ({ updates }: Sandbox): readonly string[] => updates.map((update) => updateValue(update).updateId);

/** The updates of each synchronizer, in their order. */
const bySynchronizer = ({ updates, synchronizers }: Sandbox) =>
  synchronizers.map((id) => updates.map(sharedPart).filter(({ synchronizerId }) => synchronizerId === id));

/** Expects that two sandboxes have one history, each at its own offsets. */
function expectOneHistory(one: Sandbox, other: Sandbox): void {
  expect(bySynchronizer(other)).toEqual(bySynchronizer(one));
  for (const sandbox of [one, other]) {
    const own = offsetsOf(sandbox);
    expect(own).toEqual([...own].sort((a, b) => a - b));
    expect(new Set(own).size).toBe(own.length);
  }
}

const activeIn = async (sandbox: Sandbox): Promise<readonly string[]> => {
  const active = outline((await list(sandbox)).json);
  return [...active].sort();
};

describe('a sandbox that is started again', () => {
  it('is another participant, unless the option fixes its id', async () => {
    const [one, other, fixed] = await Promise.all([
      sandboxWith(),
      sandboxWith(),
      sandboxWith({ participantId: 'mine::1220ab' }),
    ]);
    expect(one.participantId).toMatch(/^participant1::1220[0-9a-f]{64}$/);
    expect(other.participantId).not.toBe(one.participantId);
    expect((await get(one, participantPath)).json).toEqual({ participantId: one.participantId });
    expect((await get(fixed, participantPath)).json).toEqual({ participantId: 'mine::1220ab' });
  });

  it('keeps its id when it restarts', async () => {
    const sandbox = await sandboxWith();
    const { participantId } = sandbox;
    await sandbox.restart({ profile: '3.6' });
    expect((await get(sandbox, participantPath)).json).toEqual({ participantId });
  });
});

describe('a replica', () => {
  it('serves the same history as another participant, at other offsets and in another order', async () => {
    const first = await sandboxWith();
    first.generate(300);
    const second = await sandboxWith({ replicaOf: first });
    expect(second.participantId).not.toBe(first.participantId);
    expectOneHistory(first, second);
    expect(offsetsOf(second)).not.toEqual(offsetsOf(first));
    expect(idsOf(second)).not.toEqual(idsOf(first));
    expect(second.synchronizers).toBe(first.synchronizers);
  });

  it('has the same contracts', async () => {
    const first = await sandboxWith({ maxListElements: 1000 });
    first.generate(300);
    const second = await sandboxWith({ replicaOf: first, maxListElements: 1000 });
    expect(await activeIn(second)).toEqual(await activeIn(first));
  });

  it('has the same offsets and order for the same seed', async () => {
    const first = await sandboxWith();
    first.generate(100);
    const [one, same, other] = [
      await sandboxWith({ replicaOf: first, replicaSeed: 5 }),
      await sandboxWith({ replicaOf: first, replicaSeed: 5 }),
      await sandboxWith({ replicaOf: first, replicaSeed: 6 }),
    ];
    expect([offsetsOf(same), idsOf(same)]).toEqual([offsetsOf(one), idsOf(one)]);
    expect(offsetsOf(other)).not.toEqual(offsetsOf(one));
  });

  it('shares what is committed later on any of them', async () => {
    const first = await sandboxWith();
    const [second, third] = [await sandboxWith({ replicaOf: first }), await sandboxWith({ replicaOf: first })];
    for (let round = 0; round < 5; round++) {
      for (const sandbox of [second, first, third]) {
        sandbox.generate(20);
        sandbox.append(creation());
      }
    }
    const fourth = await sandboxWith({ replicaOf: second });
    for (const other of [second, third, fourth]) expectOneHistory(first, other);
    expect(new Set(idsOf(first)).size).toBe(5 * 3 * 21);
  });

  it('interleaves the synchronizers in another way also if commits come one by one', async () => {
    const first = await sandboxWith();
    const second = await sandboxWith({ replicaOf: first });
    for (let round = 0; round < 60; round++) {
      first.append({ TopologyTransaction: { value: { synchronizerId: first.synchronizers[round % 2] ?? '' } } });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expectOneHistory(first, second);
    expect(idsOf(second)).not.toEqual(idsOf(first));
  });

  it('sends what it receives to open requests, and commits of submissions appear on both', async () => {
    const first = await sandboxWith();
    const second = await sandboxWith({ replicaOf: first });
    const party = first.hostedParty('alice');
    expect(second.parties).toContain(party);
    const begin = { ...tail, beginExclusive: second.ledgerEnd };
    const waiting = post(second, `${updatesPath}?limit=1&stream_idle_timeout_ms=10000`, begin);
    const commands = {
      commandId: 'cmd',
      userId: 'me',
      actAs: [party],
      commands: [create(assetId, { owner: party, amount: '1.0', serial: '1' })],
    };
    const { json } = await post(first, '/v2/commands/submit-and-wait', commands);
    const seen = at((await waiting).json, 0, 'update', 'Transaction', 'value');
    expect(seen).toMatchObject({ updateId: textAt(json, 'updateId'), commandId: '', paidTrafficCost: null });
    const contractId = textAt(seen, 'events', 0, 'CreatedEvent', 'contractId');
    const archival = { ...commands, commandId: 'archive', commands: [exercise(assetId, contractId)] };
    expect((await post(second, '/v2/commands/submit-and-wait', archival)).status).toBe(200);
    expect(first.updates).toHaveLength(2);
    expect(await post(first, '/v2/commands/submit-and-wait', { ...archival, commandId: 'again' })).toMatchObject(
      failure(404, 'CONTRACT_NOT_FOUND'),
    );
  });

  it('rejects a submission whose contract another participant has archived meanwhile', async () => {
    const first = await sandboxWith();
    const second = await sandboxWith({ replicaOf: first });
    const [alice = ''] = first.parties;
    first.append(creation({ contractId: '00aa', signatories: [alice], templateId: assetId }));
    expect(second.updates).toHaveLength(1);
    second.pause();
    first.append(archive('00aa'));
    const commands = { commandId: 'c', userId: 'me', actAs: [alice], commands: [exercise(assetId, '00aa')] };
    expect(await post(second, '/v2/commands/submit-and-wait', commands)).toMatchObject(
      failure(404, 'LOCAL_VERDICT_INACTIVE_CONTRACTS'),
    );
  });

  it('finds updates by their ids, at its own offsets', async () => {
    const first = await sandboxWith();
    first.generate(50);
    const second = await sandboxWith({ replicaOf: first });
    for (const update of second.updates) {
      const { updateId, offset, recordTime } = updateValue(update);
      const value = { updateId, offset, recordTime };
      const [byId, byOffset] = [
        await post(second, '/v2/updates/update-by-id', { updateId, updateFormat: everything }),
        await post(second, '/v2/updates/update-by-offset', { offset, updateFormat: everything }),
      ];
      // the shape of the request does not select a transaction that only exercises
      if (byId.status === 404) continue;
      expect(Object.values(Object(at(byId.json, 'update')) as object)).toMatchObject([{ value }]);
      expect(byOffset.json).toEqual(byId.json);
    }
  });

  it('stays when the first one is closed', async () => {
    const first = await startSandbox();
    first.generate(30);
    const second = await sandboxWith({ replicaOf: first });
    await first.close();
    first.append(creation());
    expect(second.updates).toHaveLength(30);
    second.generate(10);
    const third = await sandboxWith({ replicaOf: second });
    expectOneHistory(second, third);
    expect(third.updates).toHaveLength(40);
    expect((await get(second)).json).toEqual({ offset: second.ledgerEnd });
  });

  it('is pruned for itself', async () => {
    const first = await sandboxWith();
    first.append(...creations('00aa', '00bb'));
    const second = await sandboxWith({ replicaOf: first });
    second.prune(second.ledgerEnd);
    expect(await readUpdates(second)).toMatchObject(failure(400, 'PARTICIPANT_PRUNED_DATA_ACCESSED'));
    expect((await readUpdates(first)).status).toBe(200);
  });

  it('lags while it is paused', async () => {
    const first = await sandboxWith();
    const second = await sandboxWith({ replicaOf: first });
    second.pause();
    const end = second.ledgerEnd;
    first.append(...creations('00aa', '00bb', '00cc'));
    expect([second.ledgerEnd, second.unread]).toEqual([end, 3]);
    expect((await get(second)).json).toEqual({ offset: end });
    expect(second.resume(2)).toBeGreaterThan(end);
    expect([second.updates.length, second.unread]).toEqual([2, 1]);
    second.resume();
    first.append(creation());
    await until(() => second.unread === 0);
    expectOneHistory(first, second);
  });

  it('reads what came before its own commit, paused or not', async () => {
    const first = await sandboxWith();
    const second = await sandboxWith({ replicaOf: first });
    second.pause();
    first.append(...creations('00aa', '00bb'));
    second.append(archive('00aa'));
    expectOneHistory(first, second);
    expect(await activeIn(first)).toEqual(await activeIn(second));
  });

  it('has the record times that it has read in its ledger end and its checkpoints', async () => {
    const first = await sandboxWith({ profile: '3.6' });
    const second = await sandboxWith({ replicaOf: first, profile: '3.6', earlyCheckpointMs: 1, synchronizers: ['x'] });
    const [one = '', other = ''] = first.synchronizers;
    const topology = (synchronizerId: string, recordTime: string) => ({
      TopologyTransaction: { value: { synchronizerId, recordTime } },
    });
    first.append(topology(one, '2026-02-01T00:00:00Z'), topology(other, '2026-02-01T00:00:09Z'));
    expect(second.unread).toBe(0);
    second.pause();
    first.append(topology(one, '2026-02-02T00:00:00Z'));
    const times = (sandbox: Sandbox) =>
      get(sandbox, `${endPath}?synchronizer_id=${one}&synchronizer_id=${other}`).then(
        ({ json }) =>
          new Map(
            listAt(json, 'synchronizerTimes').map((time) => [at(time, 'synchronizerId'), at(time, 'recordTime')]),
          ),
      );
    const late = new Map([
      [one, '2026-02-01T00:00:00Z'],
      [other, '2026-02-01T00:00:09Z'],
    ]);
    expect(await times(second)).toEqual(late);
    expect(await times(first)).toEqual(new Map([...late, [one, '2026-02-02T00:00:00Z']]));
    const { json } = await post(second, `${updatesPath}?limit=1`, { ...tail, beginExclusive: second.ledgerEnd });
    const checkpoint = at(json, 0, 'update', 'OffsetCheckpoint', 'value');
    expect(checkpoint).toMatchObject({ offset: second.ledgerEnd });
    expect(
      new Map(
        listAt(checkpoint, 'synchronizerTimes').map((time) => [at(time, 'synchronizerId'), at(time, 'recordTime')]),
      ),
    ).toEqual(late);
  });

  it('refuses what is not a sandbox', async () => {
    const first = await sandboxWith();
    await expect(startSandbox({ replicaOf: { ...first } })).rejects.toThrow(TypeError);
    await expect(startSandbox({ replicaOf: first, replicaSeed: -1 })).rejects.toThrow(TypeError);
  });
});

describe('a restore that loses the rest', () => {
  it('ends the common history', async () => {
    const first = await sandboxWith();
    first.append(...creations('00aa', '00bb'));
    const second = await sandboxWith({ replicaOf: first });
    first.restore(1);
    first.append(creation());
    second.append(creation());
    expect([first.updates.length, second.updates.length]).toEqual([2, 3]);
    expect(idsOf(first)).not.toContain(idsOf(second)[2]);
  });
});

describe('a restore that reads the rest again', () => {
  it('has the same updates in the order of each synchronizer at other offsets', async () => {
    const sandbox = await sandboxWith({ maxListElements: 1000 });
    sandbox.generate(200);
    const backup = offsetsOf(sandbox)[99] ?? 0;
    const [before, offsetsBefore, end] = [bySynchronizer(sandbox), offsetsOf(sandbox), sandbox.ledgerEnd];
    const active = await activeIn(sandbox);
    sandbox.restore(backup, { readAgain: true });
    expect(bySynchronizer(sandbox)).toEqual(before);
    expect(offsetsOf(sandbox).slice(0, 100)).toEqual(offsetsBefore.slice(0, 100));
    expect(offsetsOf(sandbox).slice(100)).not.toEqual(offsetsBefore.slice(100));
    expect(sandbox.ledgerEnd).toBeGreaterThan(end);
    expect(await activeIn(sandbox)).toEqual(active);
    sandbox.generate(100);
    expect(new Set(idsOf(sandbox)).size).toBe(300);
  });

  it('keeps the offsets if that is asked for, or if there is one synchronizer', async () => {
    const one = await sandboxWith({ synchronizers: ['only::1220ab'] });
    const several = await sandboxWith();
    for (const [sandbox, options] of [[one, {}] as const, [several, { offsets: 'same' }] as const]) {
      sandbox.generate(60);
      sandbox.advance(3);
      const before = [...sandbox.updates];
      const end = sandbox.ledgerEnd;
      sandbox.restore(10, { readAgain: true, ...options });
      expect(sandbox.updates).toEqual(before);
      expect(sandbox.ledgerEnd).toBeGreaterThan(end);
    }
  });

  it('reads step by step while it is paused, and its ledger ends earlier on the way', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(50);
    const end = sandbox.ledgerEnd;
    const before = bySynchronizer(sandbox);
    sandbox.pause();
    sandbox.restore(0, { readAgain: true });
    expect([sandbox.ledgerEnd, sandbox.unread]).toEqual([0, 50]);
    expect(await readUpdates(sandbox, { beginExclusive: end, endInclusive: end })).toMatchObject(
      failure(400, 'OFFSET_AFTER_LEDGER_END'),
    );
    sandbox.resume(10);
    expect(sandbox.updates).toHaveLength(10);
    sandbox.resume();
    expect(bySynchronizer(sandbox)).toEqual(before);
  });

  it('has its completions again, so that a repeated command stays a duplicate', async () => {
    const sandbox = await sandboxWith();
    const [alice = ''] = sandbox.parties;
    const commands = [create(assetId, { owner: alice, amount: '1.0', serial: '1' })];
    const body = { commandId: 'cmd', userId: 'me', actAs: [alice], commands };
    await post(sandbox, '/v2/commands/submit-and-wait', body);
    sandbox.restore(0, { readAgain: true });
    expect(await post(sandbox, '/v2/commands/submit-and-wait', body)).toMatchObject(failure(409, 'DUPLICATE_COMMAND'));
    const completions = await post(sandbox, '/v2/commands/completions?limit=1', { ...body, parties: [alice] });
    const [offset] = offsetsOf(sandbox);
    expect(at(completions.json, 0, 'completionResponse', 'Completion', 'value')).toMatchObject({
      commandId: 'cmd',
      offset,
    });
    expect(await post(sandbox, '/v2/updates/update-by-offset', { offset, updateFormat: everything })).toMatchObject({
      json: { update: { Transaction: { value: { commandId: 'cmd' } } } },
    });
  });

  it('goes on with its replicas', async () => {
    const first = await sandboxWith();
    first.generate(40);
    const second = await sandboxWith({ replicaOf: first });
    first.pause();
    first.restore(5, { readAgain: true });
    second.generate(10);
    first.resume(3);
    second.append(creation());
    first.append(creation());
    expectOneHistory(first, second);
    expect(first.updates).toHaveLength(52);
  });
});
