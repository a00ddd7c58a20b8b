import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, NEVER, toArray } from 'rxjs';
import {
  acsDelta,
  createLedger,
  type ExecuteRequest,
  type Ledger,
  type PreparedSubmission,
  type PrepareRequest,
  type Transaction,
} from '../../src/index.js';
import { type ExternalParty, type Sandbox } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { sandboxes } from '../helpers/localServers.js';
import { notFound } from '../helpers/wire.js';
import { byOffsetPath, endPath, participantPath } from '../helpers/submissionPlan.js';

const start = sandboxes();
const path = '/v2/interactive-submission/executeAndWaitForTransaction';

const creation = ({ party }: ExternalParty, commandId: string): PrepareRequest => ({
  commandId,
  actAs: [party],
  commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: { owner: party, name: 'gold' } } }],
});

const sign = (signer: ExternalParty, prepared: PreparedSubmission): ExecuteRequest => ({
  preparedTransaction: prepared.preparedTransaction,
  hashingSchemeVersion: prepared.hashingSchemeVersion,
  partySignatures: {
    signatures: [{ party: signer.party, signatures: [signer.sign(prepared.preparedTransactionHash)] }],
  },
});

/** A ledger with a submission that is prepared and signed. */
interface Setup {
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly alice: ExternalParty;
  readonly request: ExecuteRequest;
  readonly transactionHash: string;
}

async function setUp(commandId = 'create-1'): Promise<Setup> {
  const sandbox = await start();
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } });
  const alice = sandbox.externalParty('alice');
  const prepared = await firstValueFrom(ledger.prepare(creation(alice, commandId)));
  const request = sign(alice, prepared);
  return { sandbox, ledger, alice, request, transactionHash: prepared.preparedTransactionHash };
}

const failureOf = (transaction$: ReturnType<Ledger['executeAndWaitForTransaction']>): Promise<unknown> =>
  lastValueFrom(transaction$).catch((error: unknown) => error);

describe('executeAndWaitForTransaction', () => {
  it('emits the committed transaction once and completes, and the feed shows it', async () => {
    const { sandbox, ledger, alice, request } = await setUp();
    const all = await lastValueFrom(ledger.executeAndWaitForTransaction(request).pipe(toArray()));
    expect(all).toHaveLength(1);
    const transaction = all[0];
    expect(transaction).toMatchObject({ _tag: 'Transaction', commandId: 'create-1', offset: sandbox.ledgerEnd });
    expect(transaction?.events).toMatchObject([
      { _tag: 'CreatedEvent', createArgument: { name: 'gold' }, signatories: [alice.party] },
    ]);
    const inFeed = await firstValueFrom(
      ledger
        .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: [alice.party] }) })
        .pipe(filter((update): update is Transaction => update._tag === 'Transaction')),
    );
    expect(inFeed.updateId).toBe(transaction?.updateId);
  });

  it('sends nothing before it is subscribed, then every field that the participant requires', async () => {
    const { sandbox, ledger, request } = await setUp();
    const before = sandbox.requests.length;
    const transaction$ = ledger.executeAndWaitForTransaction(request);
    expect(sandbox.requests).toHaveLength(before);
    await lastValueFrom(transaction$);
    expect(sandbox.requests.at(-1)).toMatchObject({ method: 'POST', path, query: {} });
    expect(sandbox.requests.at(-1)?.body).toEqual({
      ...request,
      deduplicationPeriod: { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } },
      userId: '',
      submissionId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    });
  });

  it.each([false, true])('emits the transaction without events if the format shows none; lost: %p', async (isLost) => {
    const { sandbox, ledger, request } = await setUp();
    const transactionFormat = {
      eventFormat: { filtersByParty: { 'somebody::1220ab': { cumulative: [] } } },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
    } as const;
    if (isLost) sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    const transaction = await lastValueFrom(ledger.executeAndWaitForTransaction({ ...request, transactionFormat }));
    expect(transaction).toMatchObject({ _tag: 'Transaction', offset: 1, events: [] });
  });

  it('aborts the request when it is unsubscribed', async () => {
    const { sandbox, ledger, request } = await setUp();
    sandbox.fault({ kind: 'hang' }, { path });
    const executions = (): number => sandbox.requests.filter((seen) => seen.path === path).length;
    const subscription = ledger.executeAndWaitForTransaction(request).subscribe();
    while (executions() === 0) await new Promise(setImmediate);
    subscription.unsubscribe();
    while (sandbox.requests.at(-1)?.aborted !== true) await new Promise(setImmediate);
  });

  it.each([
    ['before it was received', { kind: 'reset' }],
    ['after it was committed', { kind: 'reset', when: 'after' }],
    ['in the middle of its response', { kind: 'truncate', bytes: 40 }],
  ] as const)('emits the transaction when the connection breaks %s', async (_, fault) => {
    const { sandbox, ledger, request } = await setUp();
    sandbox.fault(fault, { path });
    const transaction = await lastValueFrom(ledger.executeAndWaitForTransaction(request));
    expect(transaction).toMatchObject({ commandId: 'create-1', offset: 1 });
    expect(transaction.events).toMatchObject([{ _tag: 'CreatedEvent', createArgument: { name: 'gold' } }]);
    expect(sandbox.updates).toHaveLength(1);
  });

  it('reads the transaction from a feed when the service does not serve single updates', async () => {
    const { sandbox, ledger, request } = await setUp();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    sandbox.fault({ kind: 'status', status: 404, body: notFound.text }, { path: byOffsetPath });
    const transaction = await lastValueFrom(ledger.executeAndWaitForTransaction(request));
    expect(transaction).toMatchObject({ commandId: 'create-1', offset: 1 });
  });

  it('sends once without recovery; the outcome is unknown until the same Observable is subscribed to again', async () => {
    const { sandbox, ledger, request, transactionHash } = await setUp();
    const executions = (): number => sandbox.requests.filter((seen) => seen.path === path).length;
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    const transaction$ = ledger.executeAndWaitForTransaction(request, { recover: false, transactionHash });
    expect(await failureOf(transaction$)).toMatchObject({
      _tag: 'OutcomeUnknownError',
      lastError: { _tag: 'ConnectionError' },
      submission: { attempts: 1, since: 0, transactionHash },
    });
    expect(executions()).toBe(1);
    expect(await lastValueFrom(transaction$)).toMatchObject({ offset: 1 });
    expect(executions()).toBe(2);
    expect(sandbox.updates).toHaveLength(1);
  });

  it('executes what the request was at the call, also again, and for the hash of the call', async () => {
    const { sandbox, ledger, alice, request: first, transactionHash } = await setUp('first');
    const prepared = await firstValueFrom(ledger.prepare(creation(alice, 'second')));
    sandbox.fault({ kind: 'reset', when: 'before' }, { path });
    const request = { ...first };
    const options = { recover: false, transactionHash } as const;
    const transaction$ = ledger.executeAndWaitForTransaction(request, options);
    expect(await failureOf(transaction$)).toMatchObject({ _tag: 'OutcomeUnknownError' });
    // a caller that uses one object for all submissions
    Object.assign(request, sign(alice, prepared));
    expect(await lastValueFrom(transaction$)).toMatchObject({ commandId: 'first', offset: 1 });
    expect(await lastValueFrom(ledger.executeAndWaitForTransaction(request))).toMatchObject({ commandId: 'second' });
  });

  it('fails with the error of the ledger for a signature by another key', async () => {
    const { sandbox, ledger, request } = await setUp();
    const mallory = sandbox.externalParty('mallory');
    const forged = { ...mallory.sign('AAAA') };
    const party = request.partySignatures.signatures[0]?.party ?? '';
    const failure = await failureOf(
      ledger.executeAndWaitForTransaction({
        ...request,
        partySignatures: { signatures: [{ party, signatures: [forged] }] },
      }),
    );
    expect(failure).toMatchObject({
      _tag: 'SubmissionRejectedError',
      status: 400,
      code: 'FAILED_TO_EXECUTE_TRANSACTION',
      submission: { attempts: 1, actAs: [party] },
    });
    expect(sandbox.updates).toEqual([]);
    expect(JSON.stringify(failure)).not.toContain(forged.signature);
  });
});

describe('an invalid submission', () => {
  const signature = {
    format: 'SIGNATURE_FORMAT_CONCAT',
    signature: 'AAAA',
    signedBy: '1220f0',
    signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
  } as const;
  const partySignatures = { party: 'alice::1220ab', signatures: [signature] };
  const valid: ExecuteRequest = {
    preparedTransaction: 'CgA=',
    partySignatures: { signatures: [partySignatures] },
    submissionId: 'try-1',
    hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
  };
  const invalid: readonly (readonly [string, ExecuteRequest])[] = [
    ['preparedTransaction', { ...valid, preparedTransaction: 'not base64!' }],
    ['partySignatures.signatures', { ...valid, partySignatures: { signatures: [] } }],
    ['submissionId', { ...valid, submissionId: 'no*stars' }],
    // @ts-expect-error -- a type error, too
    ['hashingSchemeVersion', { ...valid, hashingSchemeVersion: 'V2' }],
    // @ts-expect-error -- a type error, too
    ['deduplicationPeriod', { ...valid, deduplicationPeriod: { Forever: {} } }],
    // @ts-expect-error -- a type error, too
    ['minLedgerTime.time', { ...valid, minLedgerTime: { time: {} } }],
    // @ts-expect-error -- a type error, too
    ['comandId', { ...valid, comandId: 'misspelt' }],
  ];

  it.each(invalid)('is refused before anything is sent, and the error names the field: %s', (field, request) => {
    const service = scriptedService((sent) => (sent.path === path ? NEVER : [notFound]));
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const seen = observe(ledger.executeAndWaitForTransaction(request));
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: field }] });
    expect(service.requests).toEqual([]);
    // the valid request is sent
    const second = observe(ledger.executeAndWaitForTransaction(valid));
    expect(service.requests.map((sent) => sent.path)).toEqual([participantPath, endPath, path]);
    second.subscription.unsubscribe();
  });

  const hash = Buffer.alloc(32, 0xfb);
  it.each([
    ['in hex, as transactions have it', hash.toString('hex')],
    ['in base64 for URLs', hash.toString('base64url')],
    ['of another length', Buffer.alloc(34, 7).toString('base64')],
    ['that is empty', ''],
  ])('is a TypeError at the call if its hash is one %s: its transaction would not be found', (_, transactionHash) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example' });
    expect(() => ledger.executeAndWaitForTransaction(valid, { transactionHash })).toThrow(TypeError);
  });
});
