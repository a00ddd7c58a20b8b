import { describe, expect, it } from '@jest/globals';
import { at, failure, post, textAt } from './client.js';
import { assetOf, commandsOf, completionsOf, createAsset, exerciseAsset, submitPath, withHosted } from './commands.js';
import { forParty } from './requests.js';

const path = '/v2/commands/submit-and-wait-for-reassignment';

async function world() {
  const hosted = await withHosted();
  const { sandbox, alice } = hosted;
  const [source = '', target = ''] = sandbox.synchronizers;
  const contractId = await assetOf(sandbox, alice);
  const move = (command: object, fields: object = {}) =>
    post(sandbox, path, {
      reassignmentCommands: { commandId: 'move', userId: 'app', submitter: alice, commands: [{ command }] },
      ...fields,
    });
  const unassign = (fields: object = {}) =>
    move({ UnassignCommand: { value: { contractId, source, target, ...fields } } }, { eventFormat: forParty(alice) });
  const assign = (reassignmentId: string) => move({ AssignCommand: { value: { reassignmentId, source, target } } });
  return { ...hosted, source, target, contractId, move, unassign, assign };
}

describe('reassignment commands', () => {
  it('unassign and assign a contract, each with a completion without deduplication', async () => {
    const { sandbox, alice, source, target, contractId, unassign, assign } = await world();
    const { json } = await unassign();
    expect(json).toMatchObject({
      reassignment: {
        synchronizerId: source,
        commandId: 'move',
        events: [{ JsUnassignedEvent: { value: { contractId, source, target, submitter: alice } } }],
      },
    });
    const id = textAt(json, 'reassignment', 'events', 0, 'JsUnassignedEvent', 'value', 'reassignmentId');
    expect((await assign(id)).json).toMatchObject({ reassignment: { synchronizerId: target, events: [] } });
    const completions = await completionsOf(sandbox, alice);
    expect(completions).toMatchObject([{}, { commandId: 'move' }, { commandId: 'move', actAs: [alice], offset: 3 }]);
    expect(completions.map((completion) => at(completion, 'deduplicationPeriod') !== undefined)).toEqual([
      true,
      false,
      false,
    ]);
    expect((await post(sandbox, submitPath, commandsOf(alice, exerciseAsset(contractId)))).status).toBe(200);
  });

  it('fail by the state of the contract if they are repeated', async () => {
    const { contractId, source, unassign, assign } = await world();
    expect(await unassign({ target: source })).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
    const { json } = await unassign();
    expect(await unassign()).toMatchObject(failure(404, 'UNASSIGNMENT_ACTIVENESS_CHECK_FAILED'));
    expect(await assign(contractId)).toMatchObject(failure(404, 'REASSIGNMENT_VALIDATION_FAILED'));
    const id = textAt(json, 'reassignment', 'events', 0, 'JsUnassignedEvent', 'value', 'reassignmentId');
    await assign(id);
    expect(await assign(id)).toMatchObject(failure(409, 'ASSIGNMENT_ALREADY_COMPLETED'));
  });

  it('can be sent without waiting', async () => {
    const { sandbox, alice, source, target, contractId } = await world();
    const command = { UnassignCommand: { value: { contractId, source, target } } };
    const reassignmentCommands = { commandId: 'move', userId: 'app', submitter: alice, commands: [{ command }] };
    const reply = await post(sandbox, '/v2/commands/async/submit-reassignment', { reassignmentCommands });
    expect(reply).toMatchObject({ status: 200, json: {} });
    expect(sandbox.updates).toHaveLength(2);
  });
});

describe('contracts on different synchronizers', () => {
  it('are reassigned automatically if configured, with the command id of the submission', async () => {
    const { sandbox, alice, target, contractId } = await world();
    const other = await assetOf(sandbox, alice, { commandId: 'other', synchronizerId: target });
    const body = commandsOf(alice, undefined, { commands: [exerciseAsset(contractId), exerciseAsset(other)] });
    expect(await post(sandbox, submitPath, body)).toMatchObject(failure(400, 'NO_COMMON_SYNCHRONIZER'));
    sandbox.configure({ automaticReassignments: true });
    expect((await post(sandbox, submitPath, { ...body, synchronizerId: target })).status).toBe(200);
    const completions = (await completionsOf(sandbox, alice)).slice(2);
    expect(completions).toMatchObject(Array<object>(3).fill({ commandId: 'cmd-1', status: { code: 0 } }));
    expect(new Set(completions.map((completion) => at(completion, 'updateId'))).size).toBe(3);
    expect(completions.map((completion) => at(completion, 'deduplicationPeriod') !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
    expect(sandbox.updates.slice(2).map((update) => Object.keys(update)[0])).toEqual([
      'Reassignment',
      'Reassignment',
      'Transaction',
    ]);
    expect((await post(sandbox, submitPath, commandsOf(alice, createAsset(alice), { commandId: 'x' }))).status).toBe(
      200,
    );
  });
});
