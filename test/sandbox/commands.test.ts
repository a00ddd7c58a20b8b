import { describe, expect, it } from '@jest/globals';
import { at, failure, listAt, post, textAt } from './client.js';
import {
  assetOf,
  asyncPath,
  commandsOf,
  completionsOf,
  createAsset,
  disclosureOf,
  exerciseAsset,
  submitForTransaction,
  submitPath,
  transactionPath,
  withHosted,
} from './commands.js';
import { acsDelta, anyParty, forParty, ledgerEffects } from './requests.js';

describe('commands of a hosted party', () => {
  it('are committed, with a completion', async () => {
    const { sandbox, alice } = await withHosted();
    expect(sandbox.parties).toContain(alice);
    const body = commandsOf(alice, createAsset(alice), { submissionId: 'sub-1', workflowId: 'flow' });
    const { status, json } = await post(sandbox, submitPath, body);
    expect({ status, json }).toEqual({
      status: 200,
      json: { updateId: expect.stringMatching(/^1220/), completionOffset: 1 },
    });
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
        traceContext: null,
        offset: 1,
        synchronizerTime: { synchronizerId: sandbox.synchronizers[0], recordTime: expect.any(String) },
        paidTrafficCost: expect.any(Number),
      },
    ]);
  });

  it('can have null in their arguments, with a field that the codec does not know', async () => {
    const { sandbox, alice } = await withHosted();
    const body = commandsOf(alice, createAsset(alice, { tag: null }), { submissionId: 'sub-1' });
    expect(await post(sandbox, submitPath, body)).toMatchObject({ status: 200 });
  });

  it('can be those of the parties of generated traffic, but not of external or unknown ones', async () => {
    const { sandbox } = await withHosted();
    const [generated = ''] = sandbox.parties;
    expect((await post(sandbox, submitPath, commandsOf(generated, createAsset(generated)))).status).toBe(200);
    const { party: external } = sandbox.externalParty('eve');
    for (const party of [external, 'nobody::1220']) {
      expect(await post(sandbox, submitPath, commandsOf(party, createAsset(party)))).toMatchObject(
        failure(404, 'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT'),
      );
    }
    expect(() => sandbox.hostedParty('a/b')).toThrow(TypeError);
  });

  it('are one atomic transaction', async () => {
    const { sandbox, alice } = await withHosted();
    const bob = sandbox.hostedParty('bob');
    const first = await assetOf(sandbox, alice);
    const { CreateCommand: create } = createAsset(bob);
    const commands = [
      createAsset(alice),
      exerciseAsset(first, 'Transfer', { newOwner: bob }),
      { CreateAndExerciseCommand: { ...create, choice: 'Archive', choiceArgument: {} } },
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
    const twice = commandsOf(alice, undefined, {
      commandId: 'twice',
      commands: [createAsset(alice), exerciseAsset('00ff')],
    });
    expect((await post(sandbox, submitPath, twice)).status).toBe(404);
    expect(sandbox.updates).toHaveLength(2);
  });

  it('return the transaction in the requested format, without events if the filter hides them', async () => {
    const { sandbox, alice } = await withHosted();
    const submit = async (commandId: string, fields: object) => {
      const { json } = await submitForTransaction(
        sandbox,
        commandsOf(alice, createAsset(alice), { commandId }),
        fields,
      );
      return listAt(json, 'transaction', 'events');
    };
    expect(await submit('a', {})).toMatchObject([{ CreatedEvent: { witnessParties: [alice] } }]);
    expect(await submit('b', { transactionFormat: acsDelta(forParty('nobody')) })).toEqual([]);
  });

  it('are committed although the transaction cannot be read back', async () => {
    const { sandbox, alice } = await withHosted();
    const filter = { TemplateFilter: { value: { templateId: '#later:Main:Asset' } } };
    const body = {
      commands: commandsOf(alice, createAsset(alice)),
      transactionFormat: acsDelta(forParty(alice, filter)),
    };
    expect(await post(sandbox, transactionPath, body)).toMatchObject(failure(404, 'PACKAGE_NAMES_NOT_FOUND'));
    sandbox.fault({ kind: 'status', status: 503, when: 'after' }, { path: transactionPath });
    const another = { commands: commandsOf(alice, createAsset(alice), { commandId: 'cmd-2' }) };
    expect((await post(sandbox, transactionPath, another)).status).toBe(503);
    expect(sandbox.updates).toHaveLength(2);
    // a rejection has nothing to read back
    sandbox.fault({ kind: 'status', status: 500, when: 'after' }, { path: transactionPath });
    expect(await post(sandbox, transactionPath, another)).toMatchObject(failure(409, 'DUPLICATE_COMMAND'));
  });

  it('are only reported in completions if they are submitted asynchronously and rejected after registration', async () => {
    const { sandbox, alice } = await withHosted();
    const body = commandsOf(alice, createAsset(alice));
    for (let i = 0; i < 2; i++) expect(await post(sandbox, asyncPath, body)).toMatchObject({ status: 200, json: {} });
    expect(await completionsOf(sandbox, alice)).toMatchObject([{ status: { code: 0 } }, { status: { code: 6 } }]);
    const early = await post(sandbox, asyncPath, commandsOf(alice, exerciseAsset('00ff')));
    expect(early).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
    expect(await completionsOf(sandbox, alice)).toHaveLength(2);
  });
});

describe('commands that are refused before their registration', () => {
  async function refusals() {
    const { sandbox, alice } = await withHosted();
    const contractId = await assetOf(sandbox, alice);
    const bobs = await assetOf(sandbox, sandbox.hostedParty('bob'));
    const end = sandbox.ledgerEnd;
    const refusal = async (command: unknown, fields: object = {}) => {
      const body = commandsOf(alice, command, { submissionId: 'sub-1', ...fields });
      const { status, json, text } = await post(sandbox, submitPath, body);
      expect(sandbox.ledgerEnd).toBe(end);
      return [status, at(json, 'code') ?? text];
    };
    return { sandbox, alice, contractId, bobs, refusal };
  }

  it('have a field that cannot be decoded, or is missing', async () => {
    const { sandbox, alice, refusal } = await refusals();
    for (const field of ['commandId', 'commands', 'actAs']) {
      expect(await refusal(createAsset(alice), { [field]: undefined })).toEqual([
        400,
        expect.stringContaining(`Missing required field at '${field}'`),
      ]);
    }
    expect(await refusal(createAsset(alice), { actAs: [] })).toEqual([400, 'MISSING_FIELD']);
    expect(await refusal(createAsset(alice), { commands: [] })).toEqual([400, 'MISSING_FIELD']);
    expect(await refusal(createAsset(alice), { applicationId: 'old', userId: undefined })).toEqual([
      400,
      'INVALID_TOKEN',
    ]);
    const times = { minLedgerTimeAbs: '2026-01-01T00:00:00Z', minLedgerTimeRel: { seconds: 1 } };
    expect(await refusal(createAsset(alice), times)).toEqual([400, 'INVALID_ARGUMENT']);
    sandbox.configure({ checkToken: () => true });
    expect((await post(sandbox, submitPath, commandsOf(alice, createAsset(alice), { userId: '' }))).status).toBe(200);
  });

  it('name a template or a choice that the sandbox does not know', async () => {
    const { sandbox, alice, contractId, refusal } = await refusals();
    const create = (templateId: string) => ({ CreateCommand: { templateId, createArguments: { owner: alice } } });
    expect(await refusal(create('#other:Main:Asset'))).toEqual([404, 'PACKAGE_NAMES_NOT_FOUND']);
    expect(await refusal(create('#sandbox-assets:Main:Other'))).toEqual([
      404,
      'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    ]);
    expect(await refusal(create('ab:Main:Asset'))).toEqual([404, 'TEMPLATES_OR_INTERFACES_NOT_FOUND']);
    expect(await refusal(exerciseAsset(contractId, 'Give'))).toEqual([400, 'COMMAND_PREPROCESSING_FAILED']);
    sandbox.uploadPackage('other', { templates: ['Main:Asset'] });
    expect((await post(sandbox, submitPath, commandsOf(alice, create('#other:Main:Asset')))).status).toBe(200);
  });

  it('have arguments of another type', async () => {
    const { alice, contractId, refusal } = await refusals();
    expect(await refusal(createAsset(alice, { amount: true }))).toEqual([400, 'INVALID_ARGUMENT']);
    expect(await refusal(createAsset(alice, { amount: undefined }))).toEqual([400, 'COMMAND_PREPROCESSING_FAILED']);
    expect(await refusal(createAsset(alice, { colour: 'red' }))).toEqual([400, 'COMMAND_PREPROCESSING_FAILED']);
    expect(await refusal(exerciseAsset(contractId, 'Transfer'))).toEqual([400, 'COMMAND_PREPROCESSING_FAILED']);
    expect(await refusal(exerciseAsset(contractId, 'Transfer', { newOwner: 1 }))).toEqual([400, 'INVALID_ARGUMENT']);
  });

  it('use contracts that are unknown, of another template, or not theirs', async () => {
    const { sandbox, alice, contractId, bobs, refusal } = await refusals();
    expect(await refusal(exerciseAsset('00ff'))).toEqual([404, 'CONTRACT_NOT_FOUND']);
    expect(await refusal(exerciseAsset(bobs))).toEqual([400, 'DAML_AUTHORIZATION_ERROR']);
    const twice = [exerciseAsset(contractId), exerciseAsset(contractId, 'Touch')];
    expect(await refusal(undefined, { commands: twice })).toEqual([404, 'CONTRACT_NOT_ACTIVE']);
    const task = { templateId: '#sandbox-tasks:Tasks.Model:Task', contractId, choice: 'Archive', choiceArgument: {} };
    expect(await refusal({ ExerciseCommand: task })).toEqual([400, 'WRONGLY_TYPED_CONTRACT']);
    const byKey = { templateId: task.templateId, contractKey: {}, choice: 'Archive', choiceArgument: {} };
    expect(await refusal({ ExerciseByKeyCommand: byKey })).toEqual([400, 'COMMAND_PREPROCESSING_FAILED']);
    const { json } = await post(sandbox, submitPath, commandsOf(alice, exerciseAsset('00ff'), { submissionId: 's' }));
    expect(json).toMatchObject({ correlationId: 's', context: { commands: expect.stringContaining("'cmd-1'") } });
  });

  it('cannot be routed', async () => {
    const { sandbox, alice, contractId, refusal } = await refusals();
    const [first = '', second = ''] = sandbox.synchronizers;
    expect(await refusal(createAsset(alice), { synchronizerId: 'elsewhere' })).toEqual([
      400,
      'INVALID_PRESCRIBED_SYNCHRONIZER_ID',
    ]);
    expect(await refusal(exerciseAsset(contractId), { synchronizerId: second })).toEqual([
      400,
      'INVALID_PRESCRIBED_SYNCHRONIZER_ID',
    ]);
    const disclosed = await disclosureOf(sandbox, alice, contractId);
    const disclosedContracts = [{ ...disclosed, synchronizerId: first }];
    expect(await refusal(exerciseAsset(contractId), { disclosedContracts, synchronizerId: second })).toEqual([
      400,
      'PRESCRIBED_SYNCHRONIZER_ID_MISMATCH',
    ]);
    const foreign = [{ contractId: '', createdEventBlob: 'AAAA' }];
    expect(await refusal(exerciseAsset(contractId), { disclosedContracts: foreign })).toEqual([
      400,
      'INVALID_DISCLOSED_CONTRACT',
    ]);
  });

  it('use a contract whose archive is not indexed yet', async () => {
    const { sandbox, alice, contractId } = await refusals();
    const archive = commandsOf(alice, exerciseAsset(contractId));
    await post(sandbox, submitPath, archive);
    sandbox.configure({ archiveLagMs: 3_600_000 });
    const reply = await post(sandbox, submitPath, archive);
    expect(reply).toMatchObject(failure(400, 'UNKNOWN_CONTRACT_SYNCHRONIZERS'));
    expect(at(reply.json, 'cause')).toContain(`List(${contractId})`);
    sandbox.configure({ archiveLagMs: 0 });
    expect(await post(sandbox, submitPath, archive)).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
  });
});

describe('a disclosed contract', () => {
  it('passes interpretation although it is archived, so that a repeated command is called a duplicate', async () => {
    const { sandbox, alice } = await withHosted();
    const contractId = await assetOf(sandbox, alice);
    const archive = commandsOf(alice, exerciseAsset(contractId));
    await post(sandbox, submitPath, archive);
    expect(await post(sandbox, submitPath, archive)).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
    const disclosedContracts = [await disclosureOf(sandbox, alice, contractId)];
    const again = { ...archive, disclosedContracts };
    expect(await post(sandbox, submitPath, again)).toMatchObject({
      status: 409,
      json: { code: 'DUPLICATE_COMMAND', context: { completion_offset: '2' } },
    });
    // another change is rejected at the confirmation, with a completion
    expect(await post(sandbox, submitPath, { ...again, commandId: 'other' })).toMatchObject({
      status: 404,
      json: { code: 'LOCAL_VERDICT_INACTIVE_CONTRACTS', resources: [['ErrorResource(CONTRACT_ID)', contractId]] },
    });
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
