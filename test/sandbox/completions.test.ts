import { describe, expect, it } from '@jest/globals';
import { failure, listAt, post } from './client.js';
import {
  assetOf,
  commandsOf,
  completionsOf,
  completionsPath,
  createAsset,
  submitPath,
  withHosted,
} from './commands.js';
import { createCommand, executePath, prepareAndSign } from './requests.js';
import { stream } from './webSockets.js';

const commandCompletionsPath = '/v2/commands/command-completions';
const idle = (path: string, ms = 0) => `${path}?stream_idle_timeout_ms=${ms}`;

/** Two commands of alice and one of bob, each of another user. */
async function world() {
  const hosted = await withHosted({ earlyCheckpointMs: false });
  const { sandbox, alice } = hosted;
  const bob = sandbox.hostedParty('bob');
  await assetOf(sandbox, alice);
  await assetOf(sandbox, bob, { userId: 'bobs-app' });
  await post(sandbox, submitPath, commandsOf(alice, createAsset(alice), { actAs: [alice, bob] }));
  const list = (path: string, fields: object, query = 'stream_idle_timeout_ms=0') =>
    post(sandbox, `${path}?${query}`, { userId: 'app', parties: [alice], ...fields });
  const found = async (path: string, fields: object = {}, query?: string) =>
    listAt((await list(path, fields, query)).json).map(
      (element) =>
        (element as { completionResponse: { Completion: { value: { offset: number; actAs: string[] } } } })
          .completionResponse.Completion.value,
    );
  return { ...hosted, bob, list, found };
}

describe('a list of completions', () => {
  it('selects by user, parties and offset', async () => {
    const { alice, bob, found } = await world();
    expect(await found(completionsPath)).toMatchObject([
      { offset: 1, actAs: [alice] },
      { offset: 3, actAs: [alice] },
    ]);
    expect(await found(completionsPath, { parties: [bob, alice], beginExclusive: 1 })).toMatchObject([
      { offset: 3, actAs: [alice, bob] },
    ]);
    expect(await found(completionsPath, { userId: 'other' })).toEqual([]);
    expect(await found(completionsPath, {}, 'limit=1')).toMatchObject([{ offset: 1 }]);
  });

  it('has all users and, on request, all parties at its newer path, since 3.5', async () => {
    const { sandbox, bob, found, list } = await world();
    expect(await found(commandCompletionsPath, { parties: [bob] })).toMatchObject([{ offset: 2 }, { offset: 3 }]);
    expect(await found(commandCompletionsPath, { parties: undefined })).toHaveLength(3);
    sandbox.configure({ profile: '3.4' });
    expect((await list(commandCompletionsPath, {})).status).toBe(404);
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

  it('is refused outside of the ledger, and without parties or a user', async () => {
    const { sandbox, list } = await world();
    const refusal = async (fields: object) => list(completionsPath, fields);
    expect(await refusal({ beginExclusive: 4 })).toMatchObject(failure(400, 'OFFSET_AFTER_LEDGER_END'));
    expect(await refusal({ beginExclusive: -1 })).toMatchObject(failure(400, 'NEGATIVE_OFFSET'));
    expect(await refusal({ parties: [] })).toMatchObject(failure(400, 'MISSING_FIELD'));
    expect(await refusal({ userId: undefined })).toMatchObject(failure(400, 'INVALID_TOKEN'));
    sandbox.prune(2);
    expect(await refusal({ beginExclusive: 1 })).toMatchObject(failure(400, 'PARTICIPANT_PRUNED_DATA_ACCESSED'));
    expect((await refusal({ beginExclusive: 2 })).json).toHaveLength(1);
  });

  it('forgets what a backup does not have, and remembers the commit before', async () => {
    const { sandbox, alice } = await withHosted();
    const body = commandsOf(alice, createAsset(alice));
    await post(sandbox, submitPath, body);
    await post(sandbox, submitPath, { ...body, deduplicationPeriod: { DeduplicationOffset: { value: 1 } } });
    sandbox.restore(1);
    expect(await completionsOf(sandbox, alice)).toMatchObject([{ offset: 1 }]);
    expect(await post(sandbox, submitPath, body)).toMatchObject({
      status: 409,
      json: { context: { completion_offset: '1' } },
    });
  });

  it('has the submissions that external parties sign', async () => {
    const { sandbox } = await withHosted({ profile: '3.6' });
    const eve = sandbox.externalParty('eve');
    const body = await prepareAndSign(sandbox, eve, createCommand);
    for (const submissionId of ['sub-1', 'sub-2']) await post(sandbox, executePath, { ...body, submissionId });
    const { json } = await post(sandbox, idle(commandCompletionsPath), { parties: [eve.party] });
    expect(json).toMatchObject([
      { completionResponse: { Completion: { value: { submissionId: 'sub-1', transactionHash: expect.any(String) } } } },
      { completionResponse: { Completion: { value: { submissionId: 'sub-2', status: { code: 6 } } } } },
    ]);
  });
});

describe('a stream of completions', () => {
  it('continues as they are written', async () => {
    const { sandbox, alice } = await withHosted({ earlyCheckpointMs: false });
    await assetOf(sandbox, alice);
    const client = await stream(sandbox, { parties: [alice] }, { path: commandCompletionsPath });
    await client.received(1);
    sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, { path: submitPath });
    await post(sandbox, submitPath, commandsOf(alice, createAsset(alice)));
    expect(await client.received(2)).toMatchObject([
      { completionResponse: { Completion: { value: { status: { code: 0 } } } } },
      { completionResponse: { Completion: { value: { status: { code: 10 } } } } },
    ]);
  });
});
