import { describe, expect, it } from '@jest/globals';
import type { WireTransaction } from '../../src/sandbox/index.js';
import { stopClock, until } from '../helpers/time.js';
import { at, failure, listAt, post, textAt } from './client.js';
import {
  assetOf,
  commandsOf,
  completionsOf,
  createAsset,
  disclosureOf,
  exerciseAsset,
  submit,
  submitForTransaction,
  submitPath,
  transactionPath,
  withParties,
} from './commands.js';
import {
  acsDelta,
  anyParty,
  assetId,
  create,
  exercise,
  forParty,
  ledgerEffects,
  readUpdates,
  template,
  unknownContractId,
} from './requests.js';

const asyncPath = '/v2/commands/async/submit';

describe('commands of a hosted party', () => {
  it('are committed, with a completion', async () => {
    const { sandbox, alice } = await withParties();
    expect(sandbox.parties).toContain(alice);
    const ids = { submissionId: 'sub-1', workflowId: 'flow' };
    const { status, json } = await submit(sandbox, alice, createAsset(alice), ids);
    const expected = { updateId: expect.stringMatching(/^1220/), completionOffset: 1 };
    expect({ status, json }).toEqual({ status: 200, json: expected });
    expect(sandbox.updates).toMatchObject([
      { Transaction: { value: { commandId: 'cmd-1', workflowId: 'flow', externalTransactionHash: null } } },
    ]);
    expect(await completionsOf(sandbox, alice)).toEqual([
      {
        commandId: 'cmd-1',
        status: { code: 0, message: '', details: [] },
        updateId: textAt(json, 'updateId'),
        userId: 'app',
        actAs: [alice],
        submissionId: 'sub-1',
        deduplicationPeriod: { DeduplicationOffset: { value: 0 } },
        traceContext: { traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/), tracestate: null },
        offset: 1,
        synchronizerTime: { synchronizerId: sandbox.synchronizers[0], recordTime: expect.any(String) },
        paidTrafficCost: expect.any(Number),
      },
    ]);
  });

  it('can be those of the parties of generated traffic, but not of external or unknown ones', async () => {
    const { sandbox, eve } = await withParties();
    const [generated = ''] = sandbox.parties;
    // null in an argument, beside a field that the codec does not know
    const asset = createAsset(generated, { tag: null });
    expect((await submit(sandbox, generated, asset, { submissionId: 'sub-1' })).status).toBe(200);
    const refusals = [
      [eve.party, 'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT'],
      ['nobody::1220', 'UNKNOWN_INFORMEES'],
    ] as const;
    for (const [party, code] of refusals)
      expect(await submit(sandbox, party, createAsset(party))).toMatchObject(failure(404, code));
    expect(() => sandbox.hostedParty('a/b')).toThrow(TypeError);
  });

  // as observed of 3.5.10
  it.each<object>([{ readAs: null }, { disclosedContracts: null }, { workflowId: '' }, { submissionId: '' }])(
    'may have fields that mean the same as none: %j',
    async (fields) => {
      const { sandbox, alice } = await withParties();
      expect((await submit(sandbox, alice, createAsset(alice), fields)).status).toBe(200);
      expect(await submit(sandbox, alice, createAsset(alice), { packageIdSelectionPreference: null })).toMatchObject({
        status: 400,
      });
    },
  );

  it('may disclose a contract by its blob alone', async () => {
    const { sandbox, alice } = await withParties();
    const contractId = await assetOf(sandbox, alice);
    const { createdEventBlob } = await disclosureOf(sandbox, alice, contractId);
    const reader = sandbox.hostedParty('reader');
    const fields = { actAs: [reader, alice], disclosedContracts: [{ createdEventBlob }] };
    expect((await submit(sandbox, alice, exerciseAsset(contractId), fields)).status).toBe(200);
  });

  it('replace the half of a surrogate pair in a text, which a participant cannot store', async () => {
    const { sandbox, alice } = await withParties();
    sandbox.uploadPackage('other', { templates: ['Main:Asset'] });
    const fields = { owner: alice, tag: 'a\ud83d b \ud83d\ude00', meta: { 'k\ude00': '\ud83d' } };
    const { json } = await submitForTransaction(sandbox, commandsOf(alice, create('#other:Main:Asset', fields)));
    const payload = at(json, 'transaction', 'events', 0, 'CreatedEvent', 'createArgument');
    expect(payload).toMatchObject({ tag: 'a? b \u{1f600}', meta: { 'k?': '?' } });
  });

  it('are one atomic transaction', async () => {
    const { sandbox, alice } = await withParties();
    const bob = sandbox.hostedParty('bob');
    const first = await assetOf(sandbox, alice);
    const { CreateCommand } = createAsset(bob);
    const commands = [
      createAsset(alice),
      exerciseAsset(first, 'Transfer', { newOwner: bob }),
      { CreateAndExerciseCommand: { ...CreateCommand, choice: 'Archive', choiceArgument: {} } },
    ];
    const body = commandsOf(alice, undefined, { commands, actAs: [alice, bob, alice] });
    const { json } = await submitForTransaction(sandbox, body, { transactionFormat: ledgerEffects(anyParty) });
    expect(listAt(json, 'transaction', 'events')).toMatchObject([
      { CreatedEvent: { nodeId: 0, signatories: [alice], createArgument: { amount: '10.0000000000', tag: null } } },
      { ExercisedEvent: { nodeId: 1, contractId: first, lastDescendantNodeId: 2, acsDelta: true } },
      { CreatedEvent: { nodeId: 2, createArgument: { owner: bob } } },
      { CreatedEvent: { nodeId: 3, signatories: [bob], acsDelta: false } },
      { ExercisedEvent: { nodeId: 4, acsDelta: false, lastDescendantNodeId: 4 } },
    ]);
    // the last command fails, so nothing is committed
    const failing = { commandId: 'twice', commands: [createAsset(alice), exerciseAsset(unknownContractId)] };
    expect((await submit(sandbox, alice, undefined, failing)).status).toBe(404);
    expect(sandbox.updates).toHaveLength(2);
  });

  it('return the transaction in the requested format, and are committed although it cannot be read back', async () => {
    const { sandbox, alice } = await withParties();
    const submitted = (commandId: string, fields: object = {}) =>
      submitForTransaction(sandbox, commandsOf(alice, createAsset(alice), { commandId }), fields);
    const transactionFormat = (party: string, ...filters: readonly object[]) => ({
      transactionFormat: acsDelta(forParty(party, ...filters)),
    });
    expect(listAt((await submitted('a')).json, 'transaction', 'events')).toMatchObject([
      { CreatedEvent: { witnessParties: [alice] } },
    ]);
    expect(at((await submitted('b', transactionFormat('nobody'))).json, 'transaction', 'events')).toEqual([]);
    const unknown = transactionFormat(alice, template('#later:Main:Asset'));
    expect(await submitted('c', unknown)).toMatchObject(failure(404, 'PACKAGE_NAMES_NOT_FOUND'));
    sandbox.fault({ kind: 'status', status: 503, when: 'after' }, { path: transactionPath });
    expect((await submitted('d')).status).toBe(503);
    expect(sandbox.updates).toHaveLength(4);
    // a rejection has nothing to read back
    sandbox.fault({ kind: 'status', status: 500, when: 'after' }, { path: transactionPath });
    expect(await submitted('d')).toMatchObject(failure(409, 'DUPLICATE_COMMAND'));
  });

  it('are only reported in completions if they are submitted asynchronously and rejected after registration', async () => {
    const { sandbox, alice } = await withParties();
    const body = commandsOf(alice, createAsset(alice));
    for (let i = 0; i < 2; i++) expect(await post(sandbox, asyncPath, body)).toMatchObject({ status: 200, json: {} });
    expect(await completionsOf(sandbox, alice)).toMatchObject([{ status: { code: 0 } }, { status: { code: 6 } }]);
    const early = await post(sandbox, asyncPath, commandsOf(alice, exerciseAsset(unknownContractId)));
    expect(early).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
    expect(await completionsOf(sandbox, alice)).toHaveLength(2);
  });
});

describe('commands that are refused before their registration', () => {
  async function refusals() {
    const { sandbox, alice } = await withParties();
    const contractId = await assetOf(sandbox, alice);
    const bobs = await assetOf(sandbox, sandbox.hostedParty('bob'));
    const end = sandbox.ledgerEnd;
    const expectRefusal = async (command: unknown, status: number, code: string, fields: object = {}) => {
      const reply = await submit(sandbox, alice, command, { submissionId: 'sub-1', ...fields });
      expect(reply).toMatchObject(failure(status, code, { correlationId: 'sub-1' }));
      expect(sandbox.ledgerEnd).toBe(end);
    };
    return { sandbox, alice, contractId, bobs, expectRefusal };
  }

  it('have a field that cannot be decoded, or is missing', async () => {
    const { sandbox, alice, expectRefusal } = await refusals();
    const asset = createAsset(alice);
    for (const field of ['commandId', 'commands', 'actAs']) {
      const { status, text } = await submit(sandbox, alice, asset, { [field]: undefined });
      expect([status, text]).toEqual([400, expect.stringContaining(`Missing required field at '${field}'`)]);
    }
    for (const empty of [{ actAs: [] }, { commands: [] }])
      expect(await submit(sandbox, alice, asset, empty)).toMatchObject(failure(400, 'MISSING_FIELD'));
    await expectRefusal(asset, 400, 'INVALID_TOKEN', { applicationId: 'old', userId: undefined });
    const times = { minLedgerTimeAbs: '2026-01-01T00:00:00Z', minLedgerTimeRel: { seconds: 1 } };
    await expectRefusal(asset, 400, 'INVALID_ARGUMENT', times);
    await expectRefusal(asset, 400, 'INVALID_ARGUMENT', { tapsMaxPasses: 0 });
    for (const [kind, value, code] of [
      ['DeduplicationDuration', { seconds: -5, nanos: 0 }, 'INVALID_FIELD'],
      ['DeduplicationDuration', { seconds: 0, nanos: -1 }, 'INVALID_FIELD'],
      ['DeduplicationOffset', -5, 'NEGATIVE_OFFSET'],
    ] as const)
      expect(await submit(sandbox, alice, asset, { deduplicationPeriod: { [kind]: { value } } })).toMatchObject(
        failure(400, code),
      );
    sandbox.configure({ checkToken: () => true });
    expect((await submit(sandbox, alice, asset, { userId: '' })).status).toBe(200);
  });

  it('name a template or a choice that the sandbox does not know, or have arguments of another type', async () => {
    const { sandbox, alice, contractId, expectRefusal } = await refusals();
    const owned = (templateId: string) => create(templateId, { owner: alice });
    await expectRefusal(owned('#other:Main:Asset'), 404, 'PACKAGE_NAMES_NOT_FOUND');
    await expectRefusal(owned('#sandbox-assets:Main:Other'), 404, 'TEMPLATES_OR_INTERFACES_NOT_FOUND');
    await expectRefusal(owned('ab:Main:Asset'), 404, 'TEMPLATES_OR_INTERFACES_NOT_FOUND');
    await expectRefusal(exerciseAsset(contractId, 'Give'), 400, 'INVALID_ARGUMENT');
    await expectRefusal(createAsset(alice, { amount: true }), 400, 'INVALID_ARGUMENT');
    const number = await submit(sandbox, alice, createAsset(alice, { serial: 7 }));
    const context = { throwableO: 'Some(ujson.Value$InvalidData: Expected ujson.Str (data: 7))' };
    expect(number).toMatchObject(failure(500, 'LEDGER_API_INTERNAL_ERROR', { definiteAnswer: false }));
    expect(at(number.json, 'context')).toEqual(context);
    await expectRefusal(createAsset(alice, { owner: 'x y!' }), 400, 'INVALID_ARGUMENT');
    await expectRefusal(createAsset(alice, { amount: undefined }), 400, 'COMMAND_PREPROCESSING_FAILED');
    await expectRefusal(createAsset(alice, { colour: 'red' }), 400, 'INVALID_ARGUMENT');
    await expectRefusal(exerciseAsset(contractId, 'Transfer'), 400, 'COMMAND_PREPROCESSING_FAILED');
    await expectRefusal(exerciseAsset(contractId, 'Transfer', { newOwner: 1 }), 400, 'INVALID_ARGUMENT');
    sandbox.uploadPackage('other', { templates: ['Main:Asset'] });
    expect((await submit(sandbox, alice, owned('#other:Main:Asset'))).status).toBe(200);
  });

  it('have a text with the character NUL', async () => {
    const { sandbox, alice } = await withParties();
    sandbox.uploadPackage('other', { templates: ['Main:Asset'] });
    const inKey = create('#other:Main:Asset', { owner: alice, meta: { 'a\0b': '' } });
    for (const command of [createAsset(alice, { tag: 'a\0b' }), createAsset(alice, { tag: '\0' }), inKey]) {
      const { status, json } = await submit(sandbox, alice, command);
      expect([status, json]).toMatchObject([400, { errorCategory: 8, grpcCodeValue: 3 }]);
    }
    expect(await completionsOf(sandbox, alice)).toEqual([]);
  });

  it('use contracts that are unknown, of another template, or not theirs', async () => {
    const { sandbox, alice, contractId, bobs, expectRefusal } = await refusals();
    await expectRefusal(exerciseAsset(unknownContractId), 404, 'CONTRACT_NOT_FOUND');
    await expectRefusal(exerciseAsset(bobs), 404, 'CONTRACT_NOT_FOUND');
    await expectRefusal(exerciseAsset(bobs), 400, 'DAML_AUTHORIZATION_ERROR', { readAs: [sandbox.hostedParty('bob')] });
    const twice = { commands: [exerciseAsset(contractId), exerciseAsset(contractId, 'Touch')] };
    await expectRefusal(undefined, 404, 'CONTRACT_NOT_ACTIVE', twice);
    await expectRefusal(exercise('#sandbox-tasks:Tasks.Model:Task', contractId), 400, 'WRONGLY_TYPED_CONTRACT');
    const byKey = { templateId: assetId, contractKey: {}, choice: 'Archive', choiceArgument: {} };
    await expectRefusal({ ExerciseByKeyCommand: byKey }, 400, 'COMMAND_PREPROCESSING_FAILED');
    const { json } = await submit(sandbox, alice, exerciseAsset(unknownContractId));
    expect(json).toMatchObject({ context: { commands: expect.stringContaining("'cmd-1'") } });
  });

  it('cannot be routed', async () => {
    const { sandbox, alice, contractId, expectRefusal } = await refusals();
    const [first = '', second = ''] = sandbox.synchronizers;
    const prescribed = 'INVALID_PRESCRIBED_SYNCHRONIZER_ID';
    await expectRefusal(createAsset(alice), 400, prescribed, { synchronizerId: 'elsewhere::1220' });
    const command = exerciseAsset(contractId);
    await expectRefusal(command, 400, prescribed, { synchronizerId: second });
    const disclosed = { ...(await disclosureOf(sandbox, alice, contractId)), synchronizerId: first };
    const mismatch = { disclosedContracts: [disclosed], synchronizerId: second };
    await expectRefusal(command, 400, 'PRESCRIBED_SYNCHRONIZER_ID_MISMATCH', mismatch);
    const two = { disclosedContracts: [disclosed, { ...disclosed, synchronizerId: second }] };
    await expectRefusal(command, 400, 'DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH', two);
    const garbage = { contractId: '', createdEventBlob: 'AAAA' };
    await expectRefusal(command, 400, 'INVALID_ARGUMENT', { disclosedContracts: [garbage] });
    const other = { ...disclosed, contractId: unknownContractId };
    await expectRefusal(command, 400, 'INVALID_DISCLOSED_CONTRACT', { disclosedContracts: [other] });
  });

  it('use a contract whose archive is not indexed yet', async () => {
    const { sandbox, alice, contractId } = await refusals();
    const archive = () => submit(sandbox, alice, exerciseAsset(contractId));
    await archive();
    sandbox.configure({ archiveLagMs: 3_600_000 });
    const cause = expect.stringContaining(`List(${contractId})`);
    expect(await archive()).toMatchObject(failure(400, 'UNKNOWN_CONTRACT_SYNCHRONIZERS', { cause }));
    sandbox.configure({ archiveLagMs: 0 });
    expect(await archive()).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
  });
});

describe('a disclosed contract', () => {
  it('passes interpretation although it is archived, so that a repeated command is called a duplicate', async () => {
    const { sandbox, alice } = await withParties();
    const contractId = await assetOf(sandbox, alice);
    const archive = (fields?: object) => submit(sandbox, alice, exerciseAsset(contractId), fields);
    await archive();
    expect(await archive()).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
    const disclosedContracts = [await disclosureOf(sandbox, alice, contractId)];
    const duplicate = failure(409, 'DUPLICATE_COMMAND', { context: { completion_offset: '2' } });
    expect(await archive({ disclosedContracts })).toMatchObject(duplicate);
    // another change is rejected at the confirmation, with a completion
    const resources = [['ErrorResource(CONTRACT_ID)', contractId]];
    const inactive = failure(404, 'LOCAL_VERDICT_INACTIVE_CONTRACTS', { resources });
    expect(await archive({ disclosedContracts, commandId: 'other' })).toMatchObject(inactive);
    expect(await completionsOf(sandbox, alice)).toMatchObject([
      { commandId: 'creation', paidTrafficCost: expect.any(Number) },
      { commandId: 'cmd-1', status: { code: 0 }, offset: 2 },
      { commandId: 'cmd-1', status: { code: 6 }, offset: 3, updateId: '', paidTrafficCost: 0 },
      {
        commandId: 'other',
        status: {
          code: 5,
          message: expect.stringMatching(/^LOCAL_VERDICT_INACTIVE_CONTRACTS\(11,[0-9a-f]{8}\): /),
          details: [
            { valueDecoded: { reason: 'LOCAL_VERDICT_INACTIVE_CONTRACTS', metadata: { category: '11' } } },
            { valueDecoded: { resourceName: contractId } },
          ],
        },
        offset: 4,
      },
    ]);
  });
});

/** A sandbox in which a command of alice was committed at offset 2. */
async function committed() {
  const { sandbox, alice } = await withParties();
  sandbox.advance(1);
  await submit(sandbox, alice, createAsset(alice), { submissionId: 'sub-1' });
  const again = (fields: object = {}) =>
    submit(sandbox, alice, createAsset(alice), { submissionId: 'sub-2', ...fields });
  const outcome = async (fields?: object) => {
    const { status, json } = await again(fields);
    return status === 200 ? 200 : at(json, 'code');
  };
  return { sandbox, alice, again, outcome };
}

const afterOffset = (value: number) => ({ deduplicationPeriod: { DeduplicationOffset: { value } } });
const within = (seconds: number) => ({ deduplicationPeriod: { DeduplicationDuration: { value: { seconds } } } });

describe('the same change', () => {
  it('is a duplicate, whatever its commands and the order of its parties are', async () => {
    const { sandbox, alice, again, outcome } = await committed();
    const context = { completion_offset: '2', accepted: 'true', definite_answer: 'true' };
    expect(await again()).toMatchObject(
      failure(409, 'DUPLICATE_COMMAND', {
        errorCategory: 10,
        context: { ...context, existingSubmissionId: 'Some(sub-1)' },
      }),
    );
    const other = { commands: [createAsset(alice, { serial: '2' })], actAs: [alice, alice] };
    expect(await outcome(other)).toBe('DUPLICATE_COMMAND');
    expect(await completionsOf(sandbox, alice)).toMatchObject([
      { offset: 2, submissionId: 'sub-1' },
      { offset: 3, submissionId: 'sub-2', deduplicationPeriod: { DeduplicationOffset: { value: 1 } } },
      { offset: 4 },
    ]);
    // the rejections take offsets without updates
    expect((await readUpdates(sandbox)).json).toMatchObject([{ update: { Transaction: { value: { offset: 2 } } } }]);
  });

  it('is another change with another user, another set of parties or another command id', async () => {
    const { sandbox, alice, outcome } = await committed();
    const bob = sandbox.hostedParty('bob');
    expect(await outcome({ userId: 'other' })).toBe(200);
    expect(await outcome({ actAs: [alice, bob] })).toBe(200);
    expect(await outcome({ actAs: [bob, alice] })).toBe('DUPLICATE_COMMAND');
    expect(await outcome({ commandId: 'cmd-2' })).toBe(200);
  });

  it.each([
    ['an offset before it', afterOffset(1), 'DUPLICATE_COMMAND'],
    ['its offset', afterOffset(2), 200],
    ['a duration', within(600), 'DUPLICATE_COMMAND'],
    ['a duration above the default', within(8 * 86_400), 'DUPLICATE_COMMAND'],
    ['the default', { deduplicationPeriod: { Empty: {} } }, 'DUPLICATE_COMMAND'],
  ])('counts within %s', async (_, period, expected) => {
    const { sandbox, outcome } = await committed();
    expect(await outcome(period)).toBe(expected);
    // only the default changes
    sandbox.configure({ defaultDeduplicationMs: 0 });
    expect(await outcome({ commandId: 'cmd-1' })).toBe(200);
  });

  it('cannot be checked if the period reaches into pruned data', async () => {
    const { sandbox, again, outcome } = await committed();
    await outcome({ commandId: 'later' });
    sandbox.prune(3);
    // remembered, because the default period still needs it
    expect(await outcome(afterOffset(0))).toBe('DUPLICATE_COMMAND');
    expect(await again({ commandId: 'new', ...afterOffset(0) })).toMatchObject(
      failure(400, 'INVALID_DEDUPLICATION_PERIOD', { context: { earliest_offset: '3' } }),
    );
    expect(await outcome({ commandId: 'new', ...within(600) })).toBe('INVALID_DEDUPLICATION_PERIOD');
    expect(await outcome({ commandId: 'new', ...afterOffset(3) })).toBe(200);
  });

  it('can be sent again after a rejection', async () => {
    const { sandbox, alice } = await withParties();
    const locked = 'LOCAL_VERDICT_LOCKED_CONTRACTS';
    const noTraffic = 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT';
    sandbox.fault({ kind: 'reject', code: locked }, { path: submitPath, times: 2 });
    sandbox.fault({ kind: 'reject', code: noTraffic }, { path: submitPath });
    for (const expected of [failure(409, locked), failure(409, locked), failure(400, noTraffic), { status: 200 }])
      expect(await submit(sandbox, alice, createAsset(alice))).toMatchObject(expected);
    expect(await completionsOf(sandbox, alice)).toHaveLength(4);
  });

  it('waits for its ledger time, unregistered, while its client gets the response of the request timeout', async () => {
    const { sandbox, alice } = await withParties({ requestTimeoutMs: 50 });
    const fields = { minLedgerTimeRel: { seconds: 0, nanos: 300_000_000 } };
    const sent = () => submit(sandbox, alice, createAsset(alice), fields);
    const startedAt = Date.now();
    expect((await Promise.all([sent(), sent()])).map(({ status }) => status)).toEqual([503, 503]);
    expect(sandbox.ledgerEnd).toBe(0);
    await until(() => sandbox.ledgerEnd === 2);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(300);
    // the later one is a duplicate of the first
    expect(await completionsOf(sandbox, alice)).toMatchObject([{ status: { code: 0 } }, { status: { code: 6 } }]);
    const [{ Transaction }] = sandbox.updates as readonly [{ Transaction: { value: WireTransaction } }];
    expect(Transaction.value.recordTime >= Transaction.value.effectiveAt).toBe(true);
  });

  it('may have a ledger time in the past, also a negative one', async () => {
    const { outcome } = await committed();
    expect(await outcome({ commandId: 'negative', minLedgerTimeRel: { seconds: -1, nanos: -5 } })).toBe(200);
    expect(await outcome({ commandId: 'past', minLedgerTimeAbs: '2020-01-01T00:00:00Z' })).toBe(200);
  });
});

describe('a submission whose response is lost', () => {
  it('leaves the completion of a rejection if its contract is archived before its late commit', async () => {
    const clock = stopClock();
    const { sandbox, alice } = await withParties({ confirmationMs: 0 });
    const contractId = await assetOf(sandbox, alice);
    sandbox.fault({ kind: 'commitLate', ms: 500 }, { path: submitPath });
    for (const commandId of ['late', 'early']) await submit(sandbox, alice, exerciseAsset(contractId), { commandId });
    await clock.advance(500);
    expect((await completionsOf(sandbox, alice, 3)).slice(1)).toMatchObject([
      { commandId: 'early', status: { code: 0 } },
      { commandId: 'late', status: { code: 5 } },
    ]);
  });

  it('can be held before its registration, and is then a duplicate of its repetition', async () => {
    const clock = stopClock();
    const { sandbox, alice } = await withParties();
    const send = (submissionId: string) => submit(sandbox, alice, createAsset(alice), { submissionId });
    sandbox.fault({ kind: 'commitLate', before: 'registration', ms: 500, how: 'reset' }, { path: submitPath });
    await expect(send('sub-1')).rejects.toThrow('fetch failed');
    expect((await send('sub-2')).status).toBe(200);
    await clock.advance(500);
    expect(await completionsOf(sandbox, alice, 2)).toMatchObject([
      { submissionId: 'sub-2', status: { code: 0 } },
      { submissionId: 'sub-1', status: { code: 6 } },
    ]);
    expect(sandbox.updates).toHaveLength(1);
  });
});
