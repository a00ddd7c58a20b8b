import { decodePreparedTransaction, hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import type { ExternalParty, Fault, Sandbox } from '../../src/sandbox/index.js';
import { at, get, post, textAt } from './client.js';
import { stopClock } from '../helpers/time.js';
import {
  acsDelta,
  archiveCommand,
  createContract,
  executeBody,
  executePath,
  forParty,
  prepareAndSign,
  prepareBody,
  preparePath,
  withParty,
} from './requests.js';

const asset = (owner: string) => ({
  CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments: { owner, tag: 'gold', amount: '10.0' } },
});

describe('a lie', () => {
  async function lied(sandbox: Sandbox, { party }: ExternalParty, fault: Fault, command: unknown = asset(party)) {
    sandbox.fault(fault, { path: preparePath });
    const { json } = await post(sandbox, preparePath, prepareBody(party, command));
    const message = decodePreparedTransaction(textAt(json, 'preparedTransaction'));
    const isItsHash = (await hashPreparedTransaction(message)) === textAt(json, 'preparedTransactionHash');
    const node = message.transaction?.nodes[0]?.versionedNode;
    return { json, message, isItsHash, isTrue: JSON.stringify(at(node, 'v1')).includes('"10.0000000000"') };
  }

  it.each([
    ['transaction', { isTrue: false, isItsHash: false }],
    ['hash', { isTrue: true, isItsHash: false }],
    ['both', { isTrue: false, isItsHash: true }],
  ] as const)('changes the transaction, the hash or both: %s', async (about, expected) => {
    const { sandbox, eve } = await withParty();
    expect(await lied(sandbox, eve, { kind: 'lie', about })).toMatchObject(expected);
    expect((await post(sandbox, preparePath, prepareBody(eve.party, asset(eve.party)))).status).toBe(200);
  });

  it.each([
    ['transaction', 400],
    ['hash', 400],
    ['both', 200],
  ] as const)('about %s, signed without verification, ends with a %d', async (about, status) => {
    const { sandbox, eve } = await withParty();
    const { json } = await lied(sandbox, eve, { kind: 'lie', about });
    const body = executeBody(json, eve.party, eve.sign(textAt(json, 'preparedTransactionHash')));
    const reply = await post(sandbox, executePath, body);
    expect(reply.status).toBe(status);
    const event = at(reply.json, 'transaction', 'events', 0, 'CreatedEvent', 'createArgument');
    if (status === 200) expect(event).toEqual({ owner: eve.party, tag: 'gold', amount: '910.0000000000' });
    else expect(sandbox.updates).toEqual([]);
  });

  it('changes the command id if there is no number', async () => {
    const { sandbox, eve } = await withParty();
    const archive = archiveCommand(await createContract(sandbox, eve));
    const { message } = await lied(sandbox, eve, { kind: 'lie', about: 'both' }, archive);
    expect(message.metadata?.submitterInfo?.commandId).toBe('cmd-1-other');
  });

  it('prepares the request that the function returns', async () => {
    const { sandbox, eve } = await withParty();
    const mallory = sandbox.externalParty('mallory');
    const received: unknown[] = [];
    const instead = (request: unknown): unknown => {
      received.push(request);
      return JSON.parse(JSON.stringify(request).replaceAll(eve.party, mallory.party));
    };
    const { message } = await lied(sandbox, eve, { kind: 'lie', about: 'both', instead });
    expect(received).toEqual([prepareBody(eve.party, asset(eve.party))]);
    expect(message.metadata?.submitterInfo?.actAs).toEqual([mallory.party]);
    expect(sandbox.requests[0]?.body).toEqual(prepareBody(eve.party, asset(eve.party)));
  });

  it('is a 400 if the function throws, and the error of the ledger if the new request is rejected', async () => {
    const { sandbox, eve } = await withParty();
    const reply = async (instead: () => unknown) => {
      sandbox.fault({ kind: 'lie', about: 'both', instead });
      return post(sandbox, preparePath, prepareBody(eve.party, asset(eve.party)));
    };
    const failing = await reply(() => {
      throw new Error('secret');
    });
    expect(failing).toMatchObject({ status: 400, text: 'The sandbox could not make up a lie.' });
    expect(await reply(() => ({ ...prepareBody('nobody', asset('nobody')) }))).toMatchObject({ status: 404 });
    expect(await reply(() => 'nonsense')).toMatchObject({ status: 400 });
  });

  it('does not harm other requests', async () => {
    const { sandbox } = await withParty();
    sandbox.fault({ kind: 'lie', about: 'both' });
    expect(await get(sandbox, '/v2/state/ledger-end')).toMatchObject({ status: 200, text: '{"offset":0}' });
  });
});

describe('a late commit', () => {
  it('gets the response of the request timeout at once, and is in flight until the commit', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    sandbox.fault({ kind: 'commitLate', ms: 1_500 }, { path: executePath });
    expect(await post(sandbox, executePath, body)).toMatchObject({
      status: 503,
      type: 'text/plain; charset=UTF-8',
      text: expect.stringContaining('timely response'),
    });
    expect(sandbox.updates).toHaveLength(0);
    expect(await post(sandbox, executePath, { ...body, submissionId: 'sub-2' })).toMatchObject({
      status: 409,
      json: {
        code: 'SUBMISSION_ALREADY_IN_FLIGHT',
        errorCategory: 2,
        correlationId: 'sub-2',
        context: { existingSubmissionId: 'sub-1', existingSubmissionSynchronizerId: sandbox.synchronizers[0] },
      },
    });
    // another preparation of the same change is also in flight; another change is not
    const [again, other] = [
      await prepareAndSign(sandbox, eve, asset(eve.party)),
      await prepareAndSign(sandbox, eve, asset(eve.party), 'other'),
    ];
    expect((await post(sandbox, executePath, again)).json).toMatchObject({ code: 'SUBMISSION_ALREADY_IN_FLIGHT' });
    expect((await post(sandbox, executePath, other)).status).toBe(200);
    await clock.advance(1_499);
    expect(sandbox.updates).toHaveLength(1);
    await clock.advance(1);
    expect(sandbox.updates).toHaveLength(2);
    expect(await post(sandbox, executePath, { ...body, submissionId: 'sub-3' })).toMatchObject({
      status: 409,
      json: { code: 'DUPLICATE_COMMAND', context: { completion_offset: '2', existingSubmissionId: 'Some(sub-1)' } },
    });
    expect(sandbox.updates).toHaveLength(2);
  });

  it('gets a reset if configured', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    sandbox.fault({ kind: 'commitLate', ms: 5, how: 'reset' });
    const lost = expect(post(sandbox, executePath, body)).rejects.toThrow('fetch failed');
    await clock.hasTimer();
    await clock.advance(10);
    await lost;
    expect(sandbox.updates).toHaveLength(1);
    expect(sandbox.requests.at(-1)).toMatchObject({ path: executePath, aborted: false });
    expect(sandbox.requests.at(-1)?.status).toBeUndefined();
  });

  it('is emitted by open streams', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    sandbox.fault({ kind: 'commitLate', ms: 20 }, { path: executePath });
    const updateFormat = { includeTransactions: acsDelta(forParty(eve.party)) };
    const path = '/v2/updates?limit=1&stream_idle_timeout_ms=5000';
    const reply = post(sandbox, path, { beginExclusive: 0, updateFormat });
    await clock.hasTimer();
    await post(sandbox, executePath, body);
    await clock.advance(20);
    expect(at((await reply).json, 0, 'update', 'Transaction', 'value', 'commandId')).toBe('cmd-1');
  });

  it('is rejected at once if invalid, and leaves nothing in flight', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    const unsigned = { ...body, partySignatures: { signatures: [] } };
    sandbox.fault({ kind: 'commitLate', ms: 1 }, { path: executePath });
    expect((await post(sandbox, executePath, unsigned)).json).toMatchObject({ code: 'FAILED_TO_EXECUTE_TRANSACTION' });
    expect((await post(sandbox, executePath, body)).status).toBe(200);
  });

  it('does not follow if the contract is archived meanwhile, and releases the change', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty();
    const contractId = await createContract(sandbox, eve);
    const [late, early] = [
      await prepareAndSign(sandbox, eve, archiveCommand(contractId), 'late'),
      await prepareAndSign(sandbox, eve, archiveCommand(contractId), 'early'),
    ];
    sandbox.fault({ kind: 'commitLate', ms: 500 }, { path: executePath });
    expect((await post(sandbox, executePath, late)).status).toBe(503);
    expect((await post(sandbox, executePath, early)).status).toBe(200);
    await clock.advance(700);
    expect(sandbox.updates).toHaveLength(2);
    expect((await post(sandbox, executePath, late)).json).toMatchObject({ code: 'LOCAL_VERDICT_INACTIVE_CONTRACTS' });
  });

  it('does not follow after the time bounds of the transaction', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty();
    const maxRecordTime = new Date(Date.now() + 1_000).toISOString();
    const request = { ...prepareBody(eve.party, asset(eve.party)), maxRecordTime };
    const { json } = await post(sandbox, preparePath, request);
    const body = executeBody(json, eve.party, eve.sign(textAt(json, 'preparedTransactionHash')));
    sandbox.fault({ kind: 'commitLate', ms: 1_300 }, { path: executePath });
    expect((await post(sandbox, executePath, body)).status).toBe(503);
    await clock.advance(1_500);
    expect(sandbox.updates).toEqual([]);
    expect((await post(sandbox, executePath, body)).json).toMatchObject({
      code: 'LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED',
    });
  });

  it('does not follow after the sandbox is closed', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    sandbox.fault({ kind: 'commitLate', ms: 300 }, { path: executePath });
    await post(sandbox, executePath, body);
    await sandbox.close();
    await clock.advance(400);
    expect(sandbox.updates).toEqual([]);
  });
});

describe('an execution whose response is lost', () => {
  it.each<readonly [string, Fault]>([
    ['by a reset', { kind: 'reset', when: 'after' }],
    ['by a cut', { kind: 'truncate', bytes: 20 }],
    ['by a cut and a reset', { kind: 'truncate', bytes: 20, how: 'reset' }],
    ['by the request timeout', { kind: 'delay', ms: 10_000 }],
    ['by an answer that is no JSON', { kind: 'rewrite', body: () => '<html>' }],
  ])('%s is committed exactly once', async (_, fault) => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    sandbox.configure({ requestTimeoutMs: 100 });
    sandbox.fault(fault, { path: executePath });
    const lost = await post(sandbox, executePath, body).catch(() => undefined);
    expect(at(lost?.json, 'transaction')).toBeUndefined();
    sandbox.configure({ requestTimeoutMs: 20_000 });
    expect(await post(sandbox, executePath, { ...body, submissionId: 'sub-2' })).toMatchObject({
      status: 409,
      json: { code: 'DUPLICATE_COMMAND', context: { completion_offset: '1', existingSubmissionId: 'Some(sub-1)' } },
    });
    expect(sandbox.updates).toHaveLength(1);
  });

  it.each<Fault>([{ kind: 'reset' }, { kind: 'status', status: 503 }, { kind: 'body', body: '{}' }])(
    'without having been processed is not committed: %j',
    async (fault) => {
      const { sandbox, eve } = await withParty();
      const body = await prepareAndSign(sandbox, eve, asset(eve.party));
      sandbox.fault(fault, { path: executePath });
      await post(sandbox, executePath, body).catch(() => undefined);
      expect(sandbox.updates).toEqual([]);
      expect((await post(sandbox, executePath, body)).status).toBe(200);
    },
  );

  it('is committed once if it is sent many times concurrently', async () => {
    const { sandbox, eve } = await withParty();
    const body = await prepareAndSign(sandbox, eve, asset(eve.party));
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) => post(sandbox, executePath, { ...body, submissionId: `sub-${index}` })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    expect(sandbox.updates).toHaveLength(1);
  });
});
