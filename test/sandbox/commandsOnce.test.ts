import { describe, expect, it } from '@jest/globals';
import { stopClock } from '../helpers/time.js';
import { at, failure, post } from './client.js';
import { assetOf, commandsOf, completionsOf, createAsset, exerciseAsset, submitPath, withHosted } from './commands.js';
import { readUpdates } from './requests.js';

/** A sandbox in which a command of alice was committed at offset 2. */
async function committed() {
  const world = await withHosted();
  const { sandbox, alice } = world;
  sandbox.advance(1);
  const body = commandsOf(alice, createAsset(alice), { submissionId: 'sub-1' });
  await post(sandbox, submitPath, body);
  const again = async (fields: object = {}) => {
    const { status, json } = await post(sandbox, submitPath, { ...body, submissionId: 'sub-2', ...fields });
    return status === 200 ? 200 : at(json, 'code');
  };
  return { ...world, body, again };
}

const afterOffset = (value: number) => ({ deduplicationPeriod: { DeduplicationOffset: { value } } });
const within = (seconds: number) => ({ deduplicationPeriod: { DeduplicationDuration: { value: { seconds } } } });

describe('the same change', () => {
  it('is a duplicate, whatever its commands and the order of its parties are', async () => {
    const { sandbox, alice, body, again } = await committed();
    expect(await post(sandbox, submitPath, { ...body, submissionId: 'sub-2' })).toMatchObject({
      status: 409,
      json: {
        code: 'DUPLICATE_COMMAND',
        errorCategory: 10,
        context: {
          completion_offset: '2',
          accepted: 'true',
          existingSubmissionId: 'Some(sub-1)',
          definite_answer: 'true',
        },
      },
    });
    expect(await again({ commands: [createAsset(alice, { serial: '2' })], actAs: [alice, alice] })).toBe(
      'DUPLICATE_COMMAND',
    );
    expect(await completionsOf(sandbox, alice)).toMatchObject([
      { offset: 2, submissionId: 'sub-1' },
      { offset: 3, submissionId: 'sub-2', deduplicationPeriod: { DeduplicationOffset: { value: 1 } } },
      { offset: 4 },
    ]);
    // the rejections take offsets without updates
    expect(await readUpdates(sandbox)).toMatchObject({
      status: 200,
      json: [{ update: { Transaction: { value: { offset: 2 } } } }],
    });
  });

  it('is another change with another user, another set of parties or another command id', async () => {
    const { sandbox, alice, again } = await committed();
    const bob = sandbox.hostedParty('bob');
    expect(await again({ userId: 'other' })).toBe(200);
    expect(await again({ actAs: [alice, bob] })).toBe(200);
    expect(await again({ actAs: [bob, alice] })).toBe('DUPLICATE_COMMAND');
    expect(await again({ commandId: 'cmd-2' })).toBe(200);
  });

  it.each([
    ['an offset before it', afterOffset(1), 'DUPLICATE_COMMAND'],
    ['its offset', afterOffset(2), 200],
    ['a duration', within(600), 'DUPLICATE_COMMAND'],
    ['a duration above the default', within(8 * 86_400), 'DUPLICATE_COMMAND'],
    ['the default', { deduplicationPeriod: { Empty: {} } }, 'DUPLICATE_COMMAND'],
  ])('counts within %s', async (_, period, expected) => {
    const { again } = await committed();
    expect(await again(period)).toBe(expected);
  });

  it('runs again after the default period, 30 seconds', async () => {
    const { sandbox, again } = await committed();
    sandbox.configure({ defaultDeduplicationMs: 0 });
    expect(await again()).toBe(200);
  });

  it('cannot be checked if the period reaches into pruned data', async () => {
    const { sandbox, body, again } = await committed();
    await again({ commandId: 'later' });
    sandbox.prune(3);
    // remembered, because the default period still needs it
    expect(await again(afterOffset(0))).toBe('DUPLICATE_COMMAND');
    expect(await post(sandbox, submitPath, { ...body, commandId: 'new', ...afterOffset(0) })).toMatchObject({
      status: 400,
      json: { code: 'INVALID_DEDUPLICATION_PERIOD', context: { earliest_offset: '3' } },
    });
    expect(await again({ commandId: 'new', ...within(600) })).toBe('INVALID_DEDUPLICATION_PERIOD');
    expect(await again({ commandId: 'new', ...afterOffset(3) })).toBe(200);
  });

  it('can be sent again after a rejection', async () => {
    const { sandbox, alice } = await withHosted();
    const submissions = { path: submitPath };
    sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, { ...submissions, times: 2 });
    sandbox.fault({ kind: 'reject', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT' }, submissions);
    const body = commandsOf(alice, createAsset(alice));
    const replies = [];
    for (let i = 0; i < 4; i++) replies.push(await post(sandbox, submitPath, body));
    expect(replies).toMatchObject([
      failure(409, 'LOCAL_VERDICT_LOCKED_CONTRACTS'),
      failure(409, 'LOCAL_VERDICT_LOCKED_CONTRACTS'),
      failure(400, 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT'),
      { status: 200, json: { completionOffset: 4 } },
    ]);
    expect(await completionsOf(sandbox, alice)).toHaveLength(4);
  });

  it('is rejected if its ledger time is too far ahead', async () => {
    const { again } = await committed();
    expect(await again({ commandId: 'later', minLedgerTimeRel: { seconds: 3_600 } })).toBe(
      'LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND',
    );
  });
});

describe('a submission whose response is lost', () => {
  it('leaves the completion of a rejection if its contract is archived before its late commit', async () => {
    const clock = stopClock();
    const { sandbox, alice } = await withHosted();
    const contractId = await assetOf(sandbox, alice);
    sandbox.fault({ kind: 'commitLate', ms: 500 }, { path: submitPath });
    await post(sandbox, submitPath, commandsOf(alice, exerciseAsset(contractId), { commandId: 'late' }));
    await post(sandbox, submitPath, commandsOf(alice, exerciseAsset(contractId), { commandId: 'early' }));
    await clock.advance(500);
    expect((await completionsOf(sandbox, alice, 3)).slice(1)).toMatchObject([
      { commandId: 'early', status: { code: 0 } },
      { commandId: 'late', status: { code: 5 } },
    ]);
  });

  it('can be held before its registration, and is then a duplicate of its repetition', async () => {
    const clock = stopClock();
    const { sandbox, alice } = await withHosted();
    const body = commandsOf(alice, createAsset(alice), { submissionId: 'sub-1' });
    sandbox.fault({ kind: 'commitLate', before: 'registration', ms: 500, how: 'reset' }, { path: submitPath });
    await expect(post(sandbox, submitPath, body)).rejects.toThrow('fetch failed');
    expect((await post(sandbox, submitPath, { ...body, submissionId: 'sub-2' })).status).toBe(200);
    await clock.advance(500);
    expect(await completionsOf(sandbox, alice, 2)).toMatchObject([
      { submissionId: 'sub-2', status: { code: 0 } },
      { submissionId: 'sub-1', status: { code: 6 } },
    ]);
    expect(sandbox.updates).toHaveLength(1);
  });
});
