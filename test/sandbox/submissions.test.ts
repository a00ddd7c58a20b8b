import { describe, expect, it } from '@jest/globals';
import {
  acsDelta,
  anyParty,
  archiveCommand,
  createCommand,
  createContract,
  creation,
  executeBody,
  executePath,
  forParty,
  ledgerEffects,
  prepareAndSign,
  prepareBody,
  preparePath,
  readUpdates,
  withParty,
} from './requests.js';
import { at, failure, post, send, textAt } from './client.js';

describe('an external party', () => {
  it('has the fingerprint of its key in its id', async () => {
    const { sandbox, eve } = await withParty();
    expect(eve.fingerprint).toMatch(/^1220[0-9a-f]{64}$/);
    expect(eve.party).toBe(`eve::${eve.fingerprint}`);
    expect(sandbox.parties).toContain(eve.party);
    expect(eve.sign('AAAA')).toMatchObject({ signedBy: eve.fingerprint, format: 'SIGNATURE_FORMAT_CONCAT' });
  });
});

describe('preparing', () => {
  it('returns a different transaction for each request, also for concurrent ones', async () => {
    const { sandbox, eve } = await withParty();
    const prepare = () => post(sandbox, preparePath, prepareBody(eve.party, createCommand));
    const replies = (await Promise.all([prepare(), prepare(), prepare()])).map(({ json }) => json);
    for (const reply of replies) {
      expect(reply).toMatchObject({ hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2', hashingDetails: null });
      expect(Buffer.from(textAt(reply, 'preparedTransactionHash'), 'base64')).toHaveLength(32);
    }
    expect(new Set(replies.map((reply) => textAt(reply, 'preparedTransaction'))).size).toBe(3);
    expect(new Set(replies.map((reply) => textAt(reply, 'preparedTransactionHash'))).size).toBe(3);
  });

  it.each(['commandId', 'commands', 'actAs', 'synchronizerId', 'packageIdSelectionPreference'])(
    'needs %s',
    async (field) => {
      const { sandbox, eve } = await withParty();
      const body = { ...prepareBody(eve.party, createCommand), [field]: undefined };
      const reply = await post(sandbox, preparePath, body);
      expect(reply).toMatchObject({
        status: 400,
        text: expect.stringContaining(`Invalid value for: body (Missing required field at '${field}'`),
      });
    },
  );

  it('accepts one command of one hosted external party', async () => {
    const { sandbox, eve } = await withParty();
    const body = prepareBody(eve.party, createCommand);
    const refusal = async (changes: object) =>
      at((await post(sandbox, preparePath, { ...body, ...changes })).json, 'code');
    expect(await refusal({ commands: [] })).toBe('MISSING_FIELD');
    expect(await refusal({ commands: [createCommand, createCommand] })).toBe('FAILED_TO_PREPARE_TRANSACTION');
    expect(await refusal({ actAs: [eve.party, eve.party] })).toBe('FAILED_TO_PREPARE_TRANSACTION');
    expect(await refusal({ actAs: ['mallory::1220'] })).toBe('NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT');
    expect(await refusal({ commandId: 'no!' })).toBe('INVALID_FIELD');
    expect(await refusal({ synchronizerId: 'elsewhere' })).toBe('NOT_CONNECTED_TO_SYNCHRONIZER');
    const { CreateCommand: create } = createCommand;
    const both = { CreateAndExerciseCommand: { ...create, choice: 'Archive', choiceArgument: {} } };
    expect(await refusal({ commands: [both] })).toBe('FAILED_TO_PREPARE_TRANSACTION');
  });

  it('takes zero values for absent parts of times', async () => {
    const { sandbox, eve } = await withParty();
    for (const minLedgerTime of [{}, { time: { MinLedgerTimeRel: { value: { nanos: 5 } } } }]) {
      const body = { ...prepareBody(eve.party, createCommand), minLedgerTime };
      expect((await post(sandbox, preparePath, body)).status).toBe(200);
    }
  });

  it('decodes the hashing scheme V3 since 3.5, which its synchronizers do not support', async () => {
    const { sandbox, eve } = await withParty();
    const body = { ...prepareBody(eve.party, createCommand), hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V3' };
    const refusal = async () => at((await post(sandbox, preparePath, body)).json, 'code');
    expect(await refusal()).toBe('FAILED_TO_PREPARE_TRANSACTION');
    sandbox.configure({ profile: '3.4' });
    expect(await refusal()).toBe('INVALID_ARGUMENT');
  });

  it('archives only active contracts of the party', async () => {
    const { sandbox, eve } = await withParty();
    const missing = await post(sandbox, preparePath, prepareBody(eve.party, archiveCommand('00ff')));
    expect(missing).toMatchObject({ status: 404, json: { code: 'CONTRACT_NOT_FOUND', errorCategory: 11 } });
    sandbox.append(creation({ contractId: '00aa', templateId: '#assets:Main:Asset' }));
    const foreign = await post(sandbox, preparePath, prepareBody(eve.party, archiveCommand('00aa')));
    expect(foreign).toMatchObject(failure(400, 'DAML_AUTHORIZATION_ERROR'));
  });
});

describe('executing', () => {
  it('commits a create, returns its transaction and emits it in the feed', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, createCommand);
    const { status, json } = await post(sandbox, executePath, body);
    const event = {
      createArgument: { amount: '1.0' },
      packageName: 'assets',
      signatories: [eve.party],
      witnessParties: [eve.party],
    };
    expect(status).toBe(200);
    expect(json).toMatchObject({
      transaction: {
        offset: 1,
        commandId: 'cmd-1',
        workflowId: '',
        externalTransactionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        events: [{ CreatedEvent: event }],
      },
    });
    const updateFormat = { includeTransactions: acsDelta(forParty(eve.party)) };
    const listed = await readUpdates(sandbox, { updateFormat });
    expect(at(listed.json, 0, 'update', 'Transaction', 'value')).toEqual(at(json, 'transaction'));
  });

  it('archives a contract once', async () => {
    const { sandbox, eve } = await withParty();
    const contractId = await createContract(sandbox, eve);
    const [first, second] = [
      await prepareAndSign(sandbox, eve, archiveCommand(contractId), 'a'),
      await prepareAndSign(sandbox, eve, archiveCommand(contractId), 'b'),
    ];
    expect((await post(sandbox, executePath, first)).json).toMatchObject({
      transaction: { events: [{ ArchivedEvent: { contractId } }] },
    });
    expect(await post(sandbox, executePath, second)).toMatchObject({
      status: 404,
      json: {
        code: 'LOCAL_VERDICT_INACTIVE_CONTRACTS',
        errorCategory: 11,
        resources: [['ErrorResource(CONTRACT_ID)', contractId]],
      },
    });
  });

  it('returns the requested format, without events if all are filtered out', async () => {
    const { sandbox, eve } = await withParty();
    const contractId = await createContract(sandbox, eve);
    const archive = await prepareAndSign(sandbox, eve, archiveCommand(contractId), 'a');
    const effects = { ...archive, transactionFormat: ledgerEffects(anyParty) };
    expect((await post(sandbox, executePath, effects)).json).toMatchObject({
      transaction: { events: [{ ExercisedEvent: { contractId, actingParties: [eve.party], consuming: true } }] },
    });
    const other = {
      ...(await prepareAndSign(sandbox, eve, createCommand, 'b')),
      transactionFormat: acsDelta(forParty('nobody')),
    };
    expect((await post(sandbox, executePath, other)).json).toMatchObject({ transaction: { events: [], offset: 3 } });
  });

  it('rejects a repeated command with the offset of its commit', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, createCommand);
    await post(sandbox, executePath, body);
    expect(await post(sandbox, executePath, { ...body, submissionId: 'sub-2' })).toMatchObject({
      status: 409,
      json: {
        code: 'DUPLICATE_COMMAND',
        errorCategory: 10,
        context: {
          completion_offset: '1',
          existingSubmissionId: 'Some(sub-1)',
          accepted: 'true',
          definite_answer: 'true',
        },
      },
    });
    expect(sandbox.updates).toHaveLength(1);
    const again = { ...body, submissionId: 'sub-3', userId: 'another-user' };
    expect((await post(sandbox, executePath, again)).status).toBe(200);
  });

  it('has a deduplication period of at most seven days', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, createCommand);
    const deduplicationPeriod = { DeduplicationDuration: { value: { seconds: 700_000, nanos: 0 } } };
    expect(await post(sandbox, executePath, { ...body, deduplicationPeriod })).toMatchObject({
      status: 400,
      json: { code: 'INVALID_DEDUPLICATION_PERIOD', context: { longest_duration: 'PT168H' } },
    });
  });

  it.each(['preparedTransaction', 'partySignatures', 'deduplicationPeriod', 'submissionId', 'hashingSchemeVersion'])(
    'needs %s',
    async (field) => {
      const { sandbox, eve } = await withParty();
      const reply = await post(sandbox, executePath, {
        ...(await prepareAndSign(sandbox, eve, createCommand)),
        [field]: undefined,
      });
      expect(reply).toMatchObject({
        status: 400,
        text: expect.stringContaining(`Missing required field at '${field}'`),
      });
    },
  );

  it('rejects bytes that are not base64 or not a prepared transaction', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, createCommand);
    expect(await post(sandbox, executePath, { ...body, preparedTransaction: 'a b' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('The string is not a valid Base64: a b'),
    });
    // no protobuf, an empty message, a message without metadata
    for (const preparedTransaction of ['////', '', 'CgA=']) {
      expect(await post(sandbox, executePath, { ...body, preparedTransaction })).toMatchObject({
        status: 400,
        json: {
          code: 'INVALID_ARGUMENT',
          cause: expect.stringContaining('Cannot parse prepared_transaction'),
          correlationId: 'sub-1',
        },
      });
    }
  });

  it('rejects another hashing scheme than that of the preparation', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, createCommand);
    const code = async (hashingSchemeVersion: string) =>
      at((await post(sandbox, executePath, { ...body, hashingSchemeVersion })).json, 'code');
    expect(await code('HASHING_SCHEME_VERSION_UNSPECIFIED')).toBe('INVALID_ARGUMENT');
    expect(await code('HASHING_SCHEME_VERSION_V3')).toBe('FAILED_TO_EXECUTE_TRANSACTION');
  });

  it('forgets commands that are not in a restored backup', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, createCommand);
    await post(sandbox, executePath, body);
    sandbox.restore(0);
    expect((await post(sandbox, executePath, body)).status).toBe(200);
  });

  it('copies the trace of the request to the transaction and to errors', async () => {
    const { sandbox, eve } = await withParty();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const init = { method: 'POST', headers: { traceparent } };
    const body = JSON.stringify(await prepareAndSign(sandbox, eve, createCommand));
    expect((await send(sandbox, executePath, { ...init, body })).json).toMatchObject({
      transaction: { traceContext: { traceparent, tracestate: null } },
    });
    expect((await send(sandbox, executePath, { ...init, body })).json).toMatchObject({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      context: { tid: '4bf92f3577b34da6a3ce929d0e0e4736' },
    });
  });
});

it('is prepared in 3.3, without an estimate of its cost, but not executed with a response', async () => {
  const { sandbox, eve } = await withParty({ profile: '3.3' });
  const prepared = await post(sandbox, preparePath, prepareBody(eve.party, createCommand));
  expect(prepared.status).toBe(200);
  expect(at(prepared.json, 'costEstimation')).toBeUndefined();
  expect((await post(sandbox, executePath, {})).status).toBe(404);
});

describe('looking up a completion by hash', () => {
  const path = '/v2/commands/completion-by-hash';

  it('finds the transaction of a submission', async () => {
    const { sandbox, eve } = await withParty({ profile: '3.6' });
    const { json } = await post(sandbox, preparePath, prepareBody(eve.party, createCommand));
    const transactionHash = textAt(json, 'preparedTransactionHash');
    const look = () => post(sandbox, path, { transactionHash });
    expect(await look()).toMatchObject({ status: 404, json: { code: 'COMPLETION_NOT_FOUND', errorCategory: 11 } });
    const committed = await post(sandbox, executePath, executeBody(json, eve.party, eve.sign(transactionHash)));
    expect(await look()).toMatchObject({
      status: 200,
      json: {
        acceptedCompletion: {
          commandId: 'cmd-1',
          status: { code: 0 },
          updateId: textAt(committed.json, 'transaction', 'updateId'),
          actAs: [eve.party],
          submissionId: 'sub-1',
          offset: 1,
          transactionHash,
        },
        lastRejectedCompletions: [],
      },
    });
    sandbox.prune(1);
    expect((await look()).status).toBe(404);
  });

  it('requires a hash', async () => {
    const { sandbox } = await withParty({ profile: '3.6' });
    expect(await post(sandbox, path, {})).toMatchObject({ status: 400, type: 'text/plain; charset=UTF-8' });
    expect(await post(sandbox, path, { transactionHash: '' })).toMatchObject(failure(400, 'MISSING_FIELD'));
  });

  it.each(['3.3', '3.4', '3.5'] as const)('is not served by %s', async (profile) => {
    const { sandbox } = await withParty({ profile });
    expect((await post(sandbox, path, { transactionHash: 'AAAA' })).status).toBe(404);
  });
});
