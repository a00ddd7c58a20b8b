import { decodePreparedTransaction, hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import type { ExternalParty, Fault, Sandbox } from '../../src/sandbox/index.js';
import { stopClock } from '../helpers/time.js';
import { at, failure, get, jsonType, listAt, plain, post, send, textAt } from './client.js';
import { createAsset, withParties } from './commands.js';
import {
  acsDelta,
  anyParty,
  archiveCommand,
  create,
  createCommand,
  createContract,
  creation,
  execute,
  executePath,
  exercise,
  forParty,
  ledgerEffects,
  prepare,
  prepareAndSign,
  prepareBody,
  preparePath,
  readUpdates,
  signed,
  unknownContractId,
} from './requests.js';

/** A sandbox with a signed submission of eve that creates an asset. */
async function withSigned() {
  const { sandbox, eve } = await withParties();
  return { sandbox, eve, body: await prepareAndSign(sandbox, eve, createAsset(eve.party)) };
}

describe('preparing', () => {
  it('returns a different transaction for each request, also for concurrent ones', async () => {
    const { sandbox, eve } = await withParties();
    expect(eve.party).toBe(`eve::${eve.fingerprint}`);
    expect(sandbox.parties).toContain(eve.party);
    const replies = await Promise.all(Array.from({ length: 3 }, () => prepare(sandbox, eve.party)));
    for (const { json } of replies) {
      expect(json).toMatchObject({ hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2', hashingDetails: null });
      expect(Buffer.from(textAt(json, 'preparedTransactionHash'), 'base64')).toHaveLength(32);
    }
    for (const field of ['preparedTransaction', 'preparedTransactionHash'])
      expect(new Set(replies.map(({ json }) => textAt(json, field))).size).toBe(3);
  });

  it('is refused for a party that no participant hosts, as a command is', async () => {
    const { sandbox, eve, alice } = await withParties();
    const ghost = `ghost::1220${'ab'.repeat(32)}`;
    const offerTo = (buyer: string) =>
      create('#sandbox-assets:Main:Offer', {
        ...{ seller: eve.party, buyer, price: '80.0' },
        kind: { tag: 'Fixed', value: {} },
      });
    expect(await prepare(sandbox, eve.party, offerTo(ghost))).toMatchObject(
      failure(404, 'UNKNOWN_INFORMEES', { context: { unknownInformees: `Set(${ghost})` } }),
    );
    expect((await prepare(sandbox, eve.party, offerTo(alice))).status).toBe(200);
  });

  it.each(['commandId', 'commands', 'actAs', 'synchronizerId', 'packageIdSelectionPreference'])(
    'needs %s',
    async (field) => {
      const { sandbox, eve } = await withParties();
      const expected = plain(400, `Invalid value for: body (Missing required field at '${field}'`);
      expect(await prepare(sandbox, eve.party, createCommand, { [field]: undefined })).toMatchObject(expected);
    },
  );

  it.each<[string, (eve: string) => object]>([
    ['MISSING_FIELD', () => ({ commands: [] })],
    ['FAILED_TO_PREPARE_TRANSACTION', () => ({ commands: [createCommand, createCommand] })],
    ['FAILED_TO_PREPARE_TRANSACTION', (eve) => ({ actAs: [eve, eve] })],
    ['NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT', () => ({ actAs: ['mallory::1220'] })],
    ['INVALID_FIELD', () => ({ commandId: 'no!' })],
    ['NOT_CONNECTED_TO_SYNCHRONIZER', () => ({ synchronizerId: 'elsewhere' })],
    [
      'FAILED_TO_PREPARE_TRANSACTION',
      () => {
        const { CreateCommand } = createCommand;
        return {
          commands: [{ CreateAndExerciseCommand: { ...CreateCommand, choice: 'Archive', choiceArgument: {} } }],
        };
      },
    ],
    ['CONTRACT_NOT_FOUND', () => ({ commands: [archiveCommand(unknownContractId)] })],
    ['INVALID_FIELD', () => ({ commands: [archiveCommand('00aa')] })],
    ['DAML_AUTHORIZATION_ERROR', () => ({ commands: [archiveCommand('00bb')] })],
    ['FAILED_TO_PREPARE_TRANSACTION', () => ({ hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V3' })],
  ])('is %s for other than one command of one hosted party on its contract', async (code, changes) => {
    const { sandbox, eve } = await withParties();
    sandbox.append(creation({ contractId: '00aa', templateId: '#assets:Main:Asset' }));
    sandbox.append(creation({ contractId: '00bb', templateId: '#assets:Main:Asset', observers: [eve.party] }));
    expect((await prepare(sandbox, eve.party, createCommand, changes(eve.party))).json).toMatchObject({ code });
    sandbox.configure({ profile: '3.4' });
    const v3 = { hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V3' };
    expect(await prepare(sandbox, eve.party, createCommand, v3)).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
  });

  it('has no estimate of its cost in 3.3, which does not execute with a response', async () => {
    const { sandbox, eve } = await withParties({ profile: '3.3' });
    const { status, json } = await prepare(sandbox, eve.party);
    expect([status, at(json, 'costEstimation')]).toEqual([200, undefined]);
    expect((await execute(sandbox, {})).status).toBe(404);
  });
});

describe('executing', () => {
  it('commits a create, returns its transaction and emits it in the feed', async () => {
    const { sandbox, eve } = await withParties();
    const { status, json } = await execute(sandbox, await prepareAndSign(sandbox, eve));
    const parties = { signatories: [eve.party], witnessParties: [eve.party] };
    expect(status).toBe(200);
    expect(at(json, 'transaction')).toMatchObject({
      offset: 1,
      commandId: 'cmd-1',
      workflowId: '',
      externalTransactionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      events: [{ CreatedEvent: { createArgument: { amount: '1.0' }, packageName: 'assets', ...parties } }],
    });
    const updateFormat = { includeTransactions: acsDelta(forParty(eve.party)) };
    const listed = await readUpdates(sandbox, { updateFormat });
    expect(at(listed.json, 0, 'update', 'Transaction', 'value')).toEqual(at(json, 'transaction'));
  });

  it('archives a contract once', async () => {
    const { sandbox, eve } = await withParties();
    const archive = archiveCommand(await createContract(sandbox, eve));
    const { contractId } = archive.ExerciseCommand;
    const [first, second] = [
      await prepareAndSign(sandbox, eve, archive, { commandId: 'a' }),
      await prepareAndSign(sandbox, eve, archive, { commandId: 'b' }),
    ];
    const transaction = { events: [{ ArchivedEvent: { contractId } }] };
    expect((await execute(sandbox, first)).json).toMatchObject({ transaction });
    const resources = [['ErrorResource(CONTRACT_ID)', contractId]];
    const inactive = failure(404, 'LOCAL_VERDICT_INACTIVE_CONTRACTS', { errorCategory: 11, resources });
    expect(await execute(sandbox, second)).toMatchObject(inactive);
  });

  it('exercises the choices of the templates of the sandbox', async () => {
    const { sandbox, eve } = await withParties();
    const bob = sandbox.externalParty('bob');
    const taskId = '#sandbox-tasks:Tasks.Model:Task';
    const task = { owner: eve.party, title: 'write', due: '2026-12-31', steps: ['1'] };
    const contractId = await createContract(sandbox, eve, create(taskId, task));
    const choose = async (commandId: string, choice: string, choiceArgument: object = {}) => {
      const command = exercise(taskId, contractId, choice, choiceArgument);
      const body = await prepareAndSign(sandbox, eve, command, { commandId });
      const { json } = await execute(sandbox, body, { transactionFormat: ledgerEffects(anyParty) });
      return listAt(json, 'transaction', 'events');
    };
    const touched = { contractId, choice: 'Touch', consuming: false, acsDelta: false, exerciseResult: '42' };
    expect(await choose('a', 'Touch')).toMatchObject([{ ExercisedEvent: { ...touched, actingParties: [eve.party] } }]);
    const events = await choose('b', 'Transfer', { newOwner: bob.party });
    const successor = textAt(events, 1, 'CreatedEvent', 'contractId');
    const transferred = { contractId, consuming: true, choiceArgument: { newOwner: bob.party }, nodeId: 0 };
    const parties = { signatories: [eve.party], observers: [bob.party] };
    expect(events).toMatchObject([
      { ExercisedEvent: { ...transferred, lastDescendantNodeId: 1, exerciseResult: successor } },
      { CreatedEvent: { nodeId: 1, createArgument: { ...task, owner: bob.party }, ...parties } },
    ]);
    const gone = failure(404, 'CONTRACT_NOT_FOUND');
    expect(await prepare(sandbox, eve.party, exercise(taskId, contractId, 'Touch'))).toMatchObject(gone);
    const unknown = await prepare(sandbox, eve.party, exercise(taskId, successor, 'Give'));
    const cause = expect.stringContaining('Touch and Transfer');
    expect(unknown).toMatchObject(failure(400, 'INVALID_ARGUMENT', { cause }));
  });

  it('returns no events if the format filters them out', async () => {
    const { sandbox, body } = await withSigned();
    const { json } = await execute(sandbox, body, { transactionFormat: acsDelta(forParty('nobody')) });
    expect(json).toMatchObject({ transaction: { events: [], offset: 1 } });
  });

  // Canton Network sets 30 seconds for both, and no participant refuses a longer period
  it('has the default deduplication period of commands, if it is empty', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParties({ defaultDeduplicationMs: 30_000 });
    const again = async () => execute(sandbox, await prepareAndSign(sandbox, eve, createAsset(eve.party)));
    expect((await again()).status).toBe(200);
    await clock.advance(29_000);
    expect(await again()).toMatchObject(failure(409, 'DUPLICATE_COMMAND'));
    await clock.advance(2_000);
    expect((await again()).status).toBe(200);
  });

  it('has a deduplication period of any length, per user', async () => {
    const { sandbox, body } = await withSigned();
    for (const userId of ['one', 'other']) expect((await execute(sandbox, body, { userId })).status).toBe(200);
    const deduplicationPeriod = { DeduplicationDuration: { value: { seconds: 31_536_000, nanos: 0 } } };
    expect(await execute(sandbox, body, { deduplicationPeriod, userId: 'third' })).toMatchObject({ status: 200 });
    expect(await execute(sandbox, body, { deduplicationPeriod, userId: 'third' })).toMatchObject(
      failure(409, 'DUPLICATE_COMMAND'),
    );
  });

  it.each(['preparedTransaction', 'partySignatures', 'deduplicationPeriod', 'submissionId', 'hashingSchemeVersion'])(
    'needs %s',
    async (field) => {
      const { sandbox, body } = await withSigned();
      const expected = plain(400, `Missing required field at '${field}'`);
      expect(await execute(sandbox, body, { [field]: undefined })).toMatchObject(expected);
    },
  );

  it('rejects bytes that are not base64 or not a prepared transaction, and another hashing scheme', async () => {
    const { sandbox, body } = await withSigned();
    const noBase64 = await execute(sandbox, body, { preparedTransaction: 'a b' });
    expect(noBase64).toMatchObject(plain(400, 'The string is not a valid Base64: a b'));
    const unreadable = { cause: 'Cannot parse prepared_transaction', correlationId: 'sub-1' };
    // no protobuf, an empty message, a message without metadata
    for (const preparedTransaction of ['////', '', 'CgA='])
      expect(await execute(sandbox, body, { preparedTransaction })).toMatchObject(
        failure(400, 'INVALID_ARGUMENT', unreadable),
      );
    for (const [scheme, code] of [
      ['UNSPECIFIED', 'INVALID_ARGUMENT'] as const,
      ['V3', 'FAILED_TO_EXECUTE_TRANSACTION'] as const,
    ])
      expect(
        (await execute(sandbox, body, { hashingSchemeVersion: `HASHING_SCHEME_VERSION_${scheme}` })).json,
      ).toMatchObject({ code });
  });

  it('forgets commands that are not in a restored backup', async () => {
    const { sandbox, body } = await withSigned();
    await execute(sandbox, body);
    sandbox.restore(0);
    expect((await execute(sandbox, body)).status).toBe(200);
  });

  it('copies the trace of the request to the transaction and to errors', async () => {
    const { sandbox, body } = await withSigned();
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${id}-00f067aa0ba902b7-01`;
    const init = { method: 'POST', headers: { ...jsonType, traceparent }, body: JSON.stringify(body) };
    const traceContext = { traceparent, tracestate: null };
    expect((await send(sandbox, executePath, init)).json).toMatchObject({ transaction: { traceContext } });
    expect((await send(sandbox, executePath, init)).json).toMatchObject({ traceId: id, context: { tid: id } });
  });
});

describe('looking up a completion by hash', () => {
  const path = '/v2/commands/completion-by-hash';

  it('finds the transaction of a submission', async () => {
    const { sandbox, eve } = await withParties({ profile: '3.6' });
    const { json } = await prepare(sandbox, eve.party);
    const transactionHash = textAt(json, 'preparedTransactionHash');
    const look = () => post(sandbox, path, { transactionHash });
    expect(await look()).toMatchObject(failure(404, 'COMPLETION_NOT_FOUND', { errorCategory: 11 }));
    const committed = await execute(sandbox, signed(json, eve));
    const ids = { commandId: 'cmd-1', submissionId: 'sub-1', actAs: [eve.party], transactionHash };
    const updateId = textAt(committed.json, 'transaction', 'updateId');
    const acceptedCompletion = { ...ids, status: { code: 0 }, updateId, offset: 1 };
    expect((await look()).json).toMatchObject({ acceptedCompletion, lastRejectedCompletions: [] });
    sandbox.prune(1);
    expect((await look()).status).toBe(404);
    expect(await post(sandbox, path, {})).toMatchObject(plain(400));
    expect(await post(sandbox, path, { transactionHash: '' })).toMatchObject(failure(400, 'MISSING_FIELD'));
    sandbox.configure({ profile: '3.5' });
    expect((await look()).json).toMatchObject({ status: 404, ledgerApiError: null });
  });
});

describe('a lie', () => {
  async function lied(sandbox: Sandbox, { party }: ExternalParty, fault: Fault, command: unknown = createAsset(party)) {
    sandbox.fault(fault, { path: preparePath });
    const { json } = await prepare(sandbox, party, command);
    const message = decodePreparedTransaction(textAt(json, 'preparedTransaction'));
    const isItsHash = (await hashPreparedTransaction(message)) === textAt(json, 'preparedTransactionHash');
    const node = message.transaction?.nodes[0]?.versionedNode;
    return { json, message, isItsHash, isTrue: JSON.stringify(at(node, 'v1')).includes('"10.0000000000"') };
  }

  it.each([
    ['transaction', { isTrue: false, isItsHash: false }, 400],
    ['hash', { isTrue: true, isItsHash: false }, 400],
    ['both', { isTrue: false, isItsHash: true }, 200],
  ] as const)('about %s, signed without verification, is %j and ends with a %d', async (about, expected, status) => {
    const { sandbox, eve } = await withParties();
    const lie = await lied(sandbox, eve, { kind: 'lie', about });
    expect(lie).toMatchObject(expected);
    const reply = await execute(sandbox, signed(lie.json, eve));
    expect(reply.status).toBe(status);
    const argument = at(reply.json, 'transaction', 'events', 0, 'CreatedEvent', 'createArgument');
    expect(argument).toEqual(status === 200 ? expect.objectContaining({ amount: '910.0000000000' }) : undefined);
    expect(sandbox.updates).toHaveLength(status === 200 ? 1 : 0);
    expect((await prepare(sandbox, eve.party)).status).toBe(200);
  });

  it('changes the command id if there is no number', async () => {
    const { sandbox, eve } = await withParties();
    const archive = archiveCommand(await createContract(sandbox, eve));
    const { message } = await lied(sandbox, eve, { kind: 'lie', about: 'both' }, archive);
    expect(message.metadata?.submitterInfo?.commandId).toBe('cmd-1-other');
  });

  it('prepares the request that the function returns', async () => {
    const { sandbox, eve } = await withParties();
    const mallory = sandbox.externalParty('mallory');
    const received: unknown[] = [];
    const instead = (request: unknown): unknown => {
      received.push(request);
      return JSON.parse(JSON.stringify(request).replaceAll(eve.party, mallory.party));
    };
    const { message } = await lied(sandbox, eve, { kind: 'lie', about: 'both', instead });
    const request = prepareBody(eve.party, createAsset(eve.party));
    expect(received).toEqual([request]);
    expect(message.metadata?.submitterInfo?.actAs).toEqual([mallory.party]);
    expect(sandbox.requests[0]?.body).toEqual(request);
  });

  it('is a 400 if the function throws, and the error of the ledger if the new request is rejected', async () => {
    const { sandbox, eve } = await withParties();
    const reply = async (instead: () => unknown) => {
      sandbox.fault({ kind: 'lie', about: 'both', instead });
      return prepare(sandbox, eve.party);
    };
    const failing = await reply(() => {
      throw new Error('secret');
    });
    expect(failing).toMatchObject({ status: 400, text: 'The sandbox could not make up a lie.' });
    expect((await reply(() => prepareBody('nobody', createAsset('nobody')))).status).toBe(404);
    expect((await reply(() => 'nonsense')).status).toBe(400);
    // no harm to other requests
    sandbox.fault({ kind: 'lie', about: 'both' });
    expect(await get(sandbox)).toMatchObject({ status: 200, text: '{"offset":0}' });
  });
});

describe('a late commit', () => {
  it('gets the response of the request timeout at once, and is in flight until the commit', async () => {
    const clock = stopClock();
    const { sandbox, eve, body } = await withSigned();
    sandbox.fault({ kind: 'commitLate', ms: 1_500 }, { path: executePath });
    expect(await execute(sandbox, body)).toMatchObject(plain(503, 'timely response'));
    expect(sandbox.updates).toHaveLength(0);
    const existing = { existingSubmissionId: 'sub-1', existingSubmissionSynchronizerId: sandbox.synchronizers[0] };
    expect(await execute(sandbox, body, { submissionId: 'sub-2' })).toMatchObject(
      failure(409, 'SUBMISSION_ALREADY_IN_FLIGHT', { errorCategory: 2, correlationId: 'sub-2', context: existing }),
    );
    // another preparation of the same change is also in flight; another change is not
    const again = await prepareAndSign(sandbox, eve);
    expect(await execute(sandbox, again)).toMatchObject(failure(409, 'SUBMISSION_ALREADY_IN_FLIGHT'));
    const other = await prepareAndSign(sandbox, eve, createCommand, { commandId: 'other' });
    expect((await execute(sandbox, other)).status).toBe(200);
    await clock.advance(1_499);
    expect(sandbox.updates).toHaveLength(1);
    await clock.advance(1);
    expect(sandbox.updates).toHaveLength(2);
    const context = { completion_offset: '2', existingSubmissionId: 'Some(sub-1)' };
    const duplicate = failure(409, 'DUPLICATE_COMMAND', { context });
    expect(await execute(sandbox, body, { submissionId: 'sub-3' })).toMatchObject(duplicate);
    expect(sandbox.updates).toHaveLength(2);
  });

  it('gets a reset if configured', async () => {
    const clock = stopClock();
    const { sandbox, body } = await withSigned();
    sandbox.fault({ kind: 'commitLate', ms: 5, how: 'reset' });
    await expect(execute(sandbox, body)).rejects.toThrow('fetch failed');
    await clock.advance(10);
    expect(sandbox.updates).toHaveLength(1);
    expect(sandbox.requests.at(-1)).toMatchObject({ path: executePath, aborted: false });
    expect(sandbox.requests.at(-1)?.status).toBeUndefined();
  });

  it('is rejected at once if invalid, and leaves nothing in flight', async () => {
    const { sandbox, body } = await withSigned();
    sandbox.fault({ kind: 'commitLate', ms: 1 }, { path: executePath });
    const unsigned = await execute(sandbox, body, { partySignatures: { signatures: [] } });
    expect(unsigned).toMatchObject(failure(400, 'FAILED_TO_EXECUTE_TRANSACTION'));
    expect((await execute(sandbox, body)).status).toBe(200);
  });

  it.each(['the time bounds of the transaction', 'the sandbox is closed'])('does not follow after %s', async (end) => {
    const clock = stopClock();
    const { sandbox, eve } = await withParties();
    const maxRecordTime = new Date(Date.now() + 1_000).toISOString();
    const isClosed = end === 'the sandbox is closed';
    const body = await prepareAndSign(sandbox, eve, createCommand, isClosed ? {} : { maxRecordTime });
    sandbox.fault({ kind: 'commitLate', ms: 1_300 }, { path: executePath });
    expect((await execute(sandbox, body)).status).toBe(503);
    if (isClosed) await sandbox.close();
    await clock.advance(1_500);
    expect(sandbox.updates).toEqual([]);
    if (isClosed) return;
    // the change is not in flight any more
    expect(await execute(sandbox, body)).toMatchObject(failure(409, 'LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED'));
  });
});

describe('an execution whose response is lost', () => {
  it.each<readonly [string, Fault]>([
    ['by a reset', { kind: 'reset', when: 'after' }],
    ['by a cut', { kind: 'truncate', bytes: 20 }],
    ['by the request timeout', { kind: 'delay', ms: 10_000 }],
    ['by an answer that is no JSON', { kind: 'rewrite', body: () => '<html>' }],
  ])('%s is committed exactly once', async (_, fault) => {
    const { sandbox, body } = await withSigned();
    sandbox.configure({ requestTimeoutMs: 100 });
    sandbox.fault(fault, { path: executePath });
    const lost = await execute(sandbox, body).catch(() => undefined);
    expect(at(lost?.json, 'transaction')).toBeUndefined();
    sandbox.configure({ requestTimeoutMs: 20_000 });
    const context = { completion_offset: '1', existingSubmissionId: 'Some(sub-1)' };
    const duplicate = failure(409, 'DUPLICATE_COMMAND', { errorCategory: 10, context });
    expect(await execute(sandbox, body, { submissionId: 'sub-2' })).toMatchObject(duplicate);
    expect(sandbox.updates).toHaveLength(1);
  });

  it.each<Fault>([{ kind: 'reset' }, { kind: 'status', status: 503 }, { kind: 'body', body: '{}' }])(
    'without having been processed is not committed: %j',
    async (fault) => {
      const { sandbox, body } = await withSigned();
      sandbox.fault(fault, { path: executePath });
      await execute(sandbox, body).catch(() => undefined);
      expect(sandbox.updates).toEqual([]);
      expect((await execute(sandbox, body)).status).toBe(200);
    },
  );

  it('is committed once if it is sent many times concurrently', async () => {
    const { sandbox, body } = await withSigned();
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) => execute(sandbox, body, { submissionId: `sub-${index}` })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    expect(sandbox.updates).toHaveLength(1);
  });
});
