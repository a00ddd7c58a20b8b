import { describe, expect, it } from '@jest/globals';
import { at, failure, keys, post, stream, textAt } from './client.js';
import {
  assetOf,
  commandsOf,
  completionsIn,
  completionsOf,
  completionsPath,
  createAsset,
  disclosureOf,
  exerciseAsset,
  submit,
  submitPath,
  withParties,
} from './commands.js';
import { execute, forParty, prepare, prepareAndSign } from './requests.js';

const newerPath = '/v2/commands/command-completions';

/** Two commands of alice and one of bob, each of another user. */
async function world() {
  const { sandbox, alice } = await withParties({ earlyCheckpointMs: false });
  const bob = sandbox.hostedParty('bob');
  await assetOf(sandbox, alice);
  await assetOf(sandbox, bob, { userId: 'bobs-app' });
  await submit(sandbox, alice, createAsset(alice), { actAs: [alice, bob] });
  const list = (path: string, fields: object = {}, query = 'stream_idle_timeout_ms=0') =>
    post(sandbox, `${path}?${query}`, { userId: 'app', parties: [alice], ...fields });
  const found = async (...request: Parameters<typeof list>) => completionsIn(await list(...request));
  return { sandbox, alice, bob, list, found };
}

describe('a list of completions', () => {
  it('selects by user, parties and offset', async () => {
    const { alice, bob, found } = await world();
    expect(await found(completionsPath)).toMatchObject([
      { offset: 1, actAs: [alice] },
      { offset: 3, actAs: [alice] },
    ]);
    const both = { parties: [bob, alice], beginExclusive: 1 };
    expect(await found(completionsPath, both)).toMatchObject([{ offset: 3, actAs: [alice, bob] }]);
    expect(await found(completionsPath, { userId: 'other' })).toEqual([]);
    expect(await found(completionsPath, {}, 'limit=1')).toMatchObject([{ offset: 1 }]);
  });

  it('has all users and, on request, all parties at its newer path, since 3.5', async () => {
    const { sandbox, bob, found, list } = await world();
    expect(await found(newerPath, { parties: [bob] })).toMatchObject([{ offset: 2 }, { offset: 3 }]);
    expect(await found(newerPath, { parties: undefined })).toHaveLength(3);
    sandbox.configure({ profile: '3.4' });
    expect((await list(newerPath)).status).toBe(404);
    expect(await found(completionsPath)).toHaveLength(2);
  });

  it('ends with a checkpoint, if the sandbox sends them', async () => {
    const { sandbox, list } = await world();
    sandbox.configure({ earlyCheckpointMs: 0 });
    const { json } = await list(completionsPath, { beginExclusive: 1 }, 'stream_idle_timeout_ms=50&limit=2');
    expect(json).toMatchObject([
      { completionResponse: { Completion: { value: { offset: 3 } } } },
      { completionResponse: { OffsetCheckpoint: { value: { offset: 3, synchronizerTimes: [{}] } } } },
    ]);
  });

  it.each([
    [{ beginExclusive: 4 }, 'OFFSET_AFTER_LEDGER_END'],
    [{ beginExclusive: -1 }, 'NEGATIVE_OFFSET'],
    [{ beginExclusive: 1 }, 'PARTICIPANT_PRUNED_DATA_ACCESSED'],
    [{ beginExclusive: 2, parties: [] }, 'MISSING_FIELD'],
    [{ beginExclusive: 2, userId: undefined }, 'INVALID_TOKEN'],
  ])('is refused outside of the ledger, and without parties or a user: %j', async (fields, code) => {
    const { sandbox, list } = await world();
    sandbox.prune(2);
    expect(await list(completionsPath, fields)).toMatchObject(failure(400, code));
    expect((await list(completionsPath, { beginExclusive: 2 })).json).toHaveLength(1);
  });

  it('forgets what a backup does not have, and remembers the commit before', async () => {
    const { sandbox, alice } = await withParties();
    await submit(sandbox, alice, createAsset(alice));
    await submit(sandbox, alice, createAsset(alice), {
      deduplicationPeriod: { DeduplicationOffset: { value: 1 } },
    });
    sandbox.restore(1);
    expect(await completionsOf(sandbox, alice)).toMatchObject([{ offset: 1 }]);
    const duplicate = failure(409, 'DUPLICATE_COMMAND', { context: { completion_offset: '1' } });
    expect(await submit(sandbox, alice, createAsset(alice))).toMatchObject(duplicate);
  });

  it('has the submissions that external parties sign', async () => {
    const { sandbox, eve } = await withParties({ profile: '3.6' });
    const body = await prepareAndSign(sandbox, eve);
    for (const submissionId of ['sub-1', 'sub-2']) await execute(sandbox, body, { submissionId });
    const listed = await post(sandbox, `${newerPath}?stream_idle_timeout_ms=0`, { parties: [eve.party] });
    expect(completionsIn(listed)).toMatchObject([
      { submissionId: 'sub-1', transactionHash: expect.any(String) },
      { submissionId: 'sub-2', status: { code: 6 } },
    ]);
  });
});

describe('a stream of completions', () => {
  it('continues as they are written', async () => {
    const { sandbox, alice } = await withParties({ earlyCheckpointMs: false });
    await assetOf(sandbox, alice);
    const client = await stream(sandbox, { parties: [alice] }, { path: newerPath });
    await client.received(1);
    sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, { path: submitPath });
    await submit(sandbox, alice, createAsset(alice));
    const codes = (await client.received(2)).map((element) =>
      at(element, 'completionResponse', 'Completion', 'value', 'status', 'code'),
    );
    expect(codes).toEqual([0, 10]);
  });
});

/** The kind of the deduplication period. As recorded of 3.5.10, that of a reassignment is empty. */
const periodOf = (completion: unknown) => keys(at(completion, 'deduplicationPeriod'));
const ofCommands = ['DeduplicationOffset'];
const ofReassignment = ['Empty'];

/** An asset of alice, and commands to reassign it. */
async function reassignable(fields: object = {}) {
  const { sandbox, alice } = await withParties();
  const [source = '', target = ''] = sandbox.synchronizers;
  const contractId = await assetOf(sandbox, alice);
  const bodyOf = (command: object) => ({
    reassignmentCommands: { commandId: 'move', userId: 'app', submitter: alice, commands: [{ command }], ...fields },
  });
  const move = (command: object, more: object = {}) =>
    post(sandbox, '/v2/commands/submit-and-wait-for-reassignment', { ...bodyOf(command), ...more });
  const unassignCommand = (changed: object = {}) => ({
    UnassignCommand: { value: { contractId, source, target, ...changed } },
  });
  const unassign = (changed?: object) => move(unassignCommand(changed), { eventFormat: forParty(alice) });
  const unassigned = async () =>
    textAt((await unassign()).json, 'reassignment', 'events', 0, 'JsUnassignedEvent', 'value', 'reassignmentId');
  const assign = (reassignmentId: string) => move({ AssignCommand: { value: { reassignmentId, source, target } } });
  const unassignAsync = () => post(sandbox, '/v2/commands/async/submit-reassignment', bodyOf(unassignCommand({})));
  return { sandbox, alice, source, target, contractId, unassign, unassigned, assign, unassignAsync };
}

describe('reassignment commands', () => {
  it('unassign and assign a contract, each with a completion without deduplication', async () => {
    const { sandbox, alice, source, target, contractId, unassign, assign } = await reassignable();
    const { json } = await unassign();
    const value = { contractId, source, target, submitter: alice };
    expect(json).toMatchObject({
      reassignment: { synchronizerId: source, commandId: 'move', events: [{ JsUnassignedEvent: { value } }] },
    });
    const id = textAt(json, 'reassignment', 'events', 0, 'JsUnassignedEvent', 'value', 'reassignmentId');
    expect((await assign(id)).json).toMatchObject({ reassignment: { synchronizerId: target, events: [] } });
    const completions = await completionsOf(sandbox, alice);
    expect(completions).toMatchObject([{}, { commandId: 'move' }, { commandId: 'move', actAs: [alice], offset: 3 }]);
    expect(completions.map(periodOf)).toEqual([ofCommands, ofReassignment, ofReassignment]);
    expect((await submit(sandbox, alice, exerciseAsset(contractId))).status).toBe(200);
  });

  it('fail by the state of the contract if they are repeated', async () => {
    const { contractId, source, unassign, unassigned, assign } = await reassignable();
    expect(await unassign({ target: source })).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
    const id = await unassigned();
    expect(await unassign()).toMatchObject(failure(404, 'UNASSIGNMENT_ACTIVENESS_CHECK_FAILED'));
    expect(await assign(contractId)).toMatchObject(failure(404, 'REASSIGNMENT_VALIDATION_FAILED'));
    await assign(id);
    // as recorded of 3.5.10
    const cause = expect.stringContaining('reassignment already completed');
    expect(await assign(id)).toMatchObject(failure(400, 'INVALID_ARGUMENT', { cause }));
  });

  it('move no contract to a synchronizer that does not exist, and none twice or by several routes at once', async () => {
    const { sandbox, alice, contractId, source, target, unassign } = await reassignable();
    const other = await assetOf(sandbox, alice, { commandId: 'other' });
    const refused = failure(400, 'INVALID_ARGUMENT');
    for (const fields of [{ target: 'nowhere::1220ab' }, { source: 'nowhere::1220ab' }])
      expect(await unassign(fields)).toMatchObject(refused);
    const moves = (...values: readonly object[]) =>
      post(sandbox, '/v2/commands/submit-and-wait-for-reassignment', {
        reassignmentCommands: {
          ...{ commandId: 'moves', userId: 'app', submitter: alice },
          commands: values.map((value) => ({ command: { UnassignCommand: { value } } })),
        },
      });
    const there = { contractId, source, target };
    expect(await moves(there, there)).toMatchObject(refused);
    expect(await moves(there, { contractId: other, source: target, target: source })).toMatchObject(refused);
    expect(sandbox.updates).toHaveLength(2);
    expect((await moves(there, { ...there, contractId: other })).status).toBe(200);
  });

  // as recorded of 3.5.10: who takes the contract for archived gives up what can be done in a moment
  it('leave a contract in flight, which other commands must not take for archived', async () => {
    const { sandbox, alice, contractId, unassigned, assign } = await reassignable();
    const id = await unassigned();
    const inFlight = failure(400, 'UNKNOWN_CONTRACT_SYNCHRONIZERS', {
      cause: expect.stringContaining(`(${contractId}) are currently unknown due to ongoing contract reassignments`),
      context: expect.objectContaining({ archived: 'Map()', notFound: `List(${contractId})` }),
      resources: [['ErrorResource(CONTRACT_IDS)', `[${contractId}]`]],
    });
    for (const choice of ['Archive', 'Touch'])
      expect(await submit(sandbox, alice, exerciseAsset(contractId, choice))).toMatchObject(inFlight);
    sandbox.configure({ automaticReassignments: true });
    expect(await submit(sandbox, alice, exerciseAsset(contractId))).toMatchObject(inFlight);
    expect(await prepare(sandbox, alice, exerciseAsset(contractId))).toMatchObject(inFlight);
    // other parties do not see it
    expect(await submit(sandbox, sandbox.hostedParty('bob'), exerciseAsset(contractId))).toMatchObject(
      failure(404, 'CONTRACT_NOT_FOUND'),
    );
    const disclosedContracts = [await disclosureOf(sandbox, alice, contractId)];
    expect(await submit(sandbox, alice, exerciseAsset(contractId), { disclosedContracts })).toMatchObject(
      failure(404, 'LOCAL_VERDICT_INACTIVE_CONTRACTS'),
    );
    await assign(id);
    expect((await submit(sandbox, alice, exerciseAsset(contractId))).status).toBe(200);
    expect(await submit(sandbox, alice, exerciseAsset(contractId))).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
  });

  // as recorded of 3.5.10
  it('may have empty ids of the workflow and of the submission', async () => {
    const { unassign } = await reassignable({ workflowId: '', submissionId: '' });
    expect(await unassign()).toMatchObject({ status: 200, json: { reassignment: { workflowId: '' } } });
  });

  it('can be sent without waiting', async () => {
    const { sandbox, unassignAsync } = await reassignable();
    expect(await unassignAsync()).toMatchObject({ status: 200, json: {} });
    expect(sandbox.updates).toHaveLength(2);
  });
});

describe('contracts on different synchronizers', () => {
  it('are reassigned automatically if configured, with the command id of the submission', async () => {
    const { sandbox, alice, target, contractId } = await reassignable();
    const other = await assetOf(sandbox, alice, { commandId: 'other', synchronizerId: target });
    const body = commandsOf(alice, undefined, { commands: [exerciseAsset(contractId), exerciseAsset(other)] });
    expect(await post(sandbox, submitPath, body)).toMatchObject(failure(400, 'NO_COMMON_SYNCHRONIZER'));
    sandbox.configure({ automaticReassignments: true });
    expect((await post(sandbox, submitPath, { ...body, synchronizerId: target })).status).toBe(200);
    const completions = (await completionsOf(sandbox, alice)).slice(2);
    expect(completions).toMatchObject(Array<object>(3).fill({ commandId: 'cmd-1', status: { code: 0 } }));
    expect(new Set(completions.map((completion) => at(completion, 'updateId'))).size).toBe(3);
    expect(completions.map(periodOf)).toEqual([ofReassignment, ofReassignment, ofCommands]);
    expect(sandbox.updates.slice(2).flatMap(keys)).toEqual(['Reassignment', 'Reassignment', 'Transaction']);
    expect((await submit(sandbox, alice, createAsset(alice), { commandId: 'x' })).status).toBe(200);
  });
});
