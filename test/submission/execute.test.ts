import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, NEVER, switchMap, toArray } from 'rxjs';
import {
  acsDelta,
  createLedger,
  type ExecuteRequest,
  type Ledger,
  type PreparedSubmission,
  type PrepareRequest,
  type Transaction,
} from '../../src/index.js';
import { cantonError, type ExternalParty, type Sandbox } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { sandboxes } from '../helpers/localServers.js';
import { errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { byOffsetPath, endPath } from '../helpers/submissionPlan.js';

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
}

async function setUp(commandId = 'create-1'): Promise<Setup> {
  const sandbox = await start();
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } });
  const alice = sandbox.externalParty('alice');
  const request = sign(alice, await firstValueFrom(ledger.prepare(creation(alice, commandId))));
  return { sandbox, ledger, alice, request };
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
      deduplicationPeriod: { Empty: {} },
      userId: '',
      submissionId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    });
  });

  it('sends every optional field unchanged', async () => {
    const service = scriptedService(() => [errorReply(400, errorBody('INVALID_ARGUMENT', 8))]);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const complete: ExecuteRequest = {
      preparedTransaction: 'CgA=',
      partySignatures: {
        signatures: [
          {
            party: 'alice::1220ab',
            signatures: [
              {
                format: 'SIGNATURE_FORMAT_CONCAT',
                signature: 'AAAA',
                signedBy: '1220f0',
                signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
              },
            ],
          },
        ],
      },
      submissionId: 'try-1',
      hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V3',
      deduplicationPeriod: { DeduplicationDuration: { value: { seconds: 600, nanos: 0 } } },
      userId: 'me',
      minLedgerTime: { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: 1 } } } },
      transactionFormat: {
        eventFormat: { filtersByParty: { 'alice::1220ab': { cumulative: [] } }, verbose: true },
        transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
      },
    };
    await failureOf(ledger.executeAndWaitForTransaction(complete));
    expect(service.requests.find((sent) => sent.path === path)?.body).toEqual(complete);
  });

  it('emits a transaction without events', async () => {
    const { ledger, request } = await setUp();
    const transactionFormat = {
      eventFormat: { filtersByParty: { 'somebody::1220ab': { cumulative: [] } } },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
    } as const;
    const transaction = await lastValueFrom(ledger.executeAndWaitForTransaction({ ...request, transactionFormat }));
    expect(transaction).toMatchObject({ _tag: 'Transaction', events: [] });
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
    expect(transaction).toMatchObject({ commandId: 'create-1', offset: sandbox.ledgerEnd });
    expect(transaction.events).toMatchObject([{ _tag: 'CreatedEvent', createArgument: { name: 'gold' } }]);
    expect(sandbox.updates).toHaveLength(1);
  });

  it('reads the transaction from a feed when the service does not serve single updates', async () => {
    const { sandbox, ledger, request } = await setUp();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    sandbox.fault({ kind: 'status', status: 404, body: notFound.text }, { path: byOffsetPath });
    const transaction = await lastValueFrom(ledger.executeAndWaitForTransaction(request));
    expect(transaction).toMatchObject({ commandId: 'create-1', offset: sandbox.ledgerEnd });
  });

  it('reads the transaction without events if the format shows none of them', async () => {
    const { sandbox, ledger, request } = await setUp();
    const transactionFormat = {
      eventFormat: { filtersByParty: { 'somebody::1220ab': { cumulative: [] } } },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
    } as const;
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    const transaction = await lastValueFrom(ledger.executeAndWaitForTransaction({ ...request, transactionFormat }));
    expect(transaction).toMatchObject({ commandId: 'create-1', offset: sandbox.ledgerEnd, events: [] });
  });

  it('sends once without recovery; the outcome is unknown until the same Observable is subscribed to again', async () => {
    const { sandbox, ledger, request } = await setUp();
    const executions = (): number => sandbox.requests.filter((seen) => seen.path === path).length;
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    const transaction$ = ledger.executeAndWaitForTransaction(request, { recover: false, transactionHash: 'AAAA' });
    expect(await failureOf(transaction$)).toMatchObject({
      _tag: 'OutcomeUnknownError',
      lastError: { _tag: 'ConnectionError' },
      submission: { attempts: 1, beginExclusive: 0, transactionHash: 'AAAA' },
    });
    expect(executions()).toBe(1);
    expect(await lastValueFrom(transaction$)).toMatchObject({ offset: sandbox.ledgerEnd });
    expect(executions()).toBe(2);
    expect(sandbox.updates).toHaveLength(1);
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
      submission: { attempts: 1, parties: [party] },
    });
    expect(sandbox.updates).toEqual([]);
    expect(JSON.stringify(failure)).not.toContain(forged.signature);
  });

  it('sends the request again with another token, since a refused request was not carried out', async () => {
    let tokens = 0;
    const sandbox = await start({ checkToken: (token) => token === 'good' });
    const ledger = createLedger({
      baseUrl: sandbox.url,
      token: () => {
        tokens += 1;
        return tokens % 2 === 0 ? 'good' : 'old';
      },
    });
    const alice = sandbox.externalParty('alice');
    const transaction = await lastValueFrom(
      ledger
        .prepare(creation(alice, 'c'))
        .pipe(switchMap((submission) => ledger.executeAndWaitForTransaction(sign(alice, submission)))),
    );
    expect(transaction._tag).toBe('Transaction');
    expect(sandbox.updates).toHaveLength(1);
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
    ['preparedTransaction', { ...valid, preparedTransaction: '' }],
    ['partySignatures.signatures', { ...valid, partySignatures: { signatures: [] } }],
    ['partySignatures.signatures', { ...valid, partySignatures: { signatures: [partySignatures, partySignatures] } }],
    [
      'partySignatures.signatures.0.signatures',
      { ...valid, partySignatures: { signatures: [{ ...partySignatures, signatures: [] }] } },
    ],
    [
      'partySignatures.signatures.0.party',
      { ...valid, partySignatures: { signatures: [{ ...partySignatures, party: 'ali(e' }] } },
    ],
    [
      'partySignatures.signatures.0.signatures.0.signature',
      {
        ...valid,
        partySignatures: { signatures: [{ ...partySignatures, signatures: [{ ...signature, signature: '%' }] }] },
      },
    ],
    ['submissionId', { ...valid, submissionId: '' }],
    ['submissionId', { ...valid, submissionId: 'x'.repeat(256) }],
    ['submissionId', { ...valid, submissionId: 'no.dots' }],
    ['userId', { ...valid, userId: 'no spaces' }],
    [
      'deduplicationPeriod.DeduplicationDuration.value.seconds',
      { ...valid, deduplicationPeriod: { DeduplicationDuration: { value: { seconds: -1 } } } },
    ],
    [
      'deduplicationPeriod.DeduplicationDuration.value.nanos',
      { ...valid, deduplicationPeriod: { DeduplicationDuration: { value: { seconds: 1, nanos: 1e9 } } } },
    ],
    [
      'minLedgerTime.time.MinLedgerTimeAbs.value',
      { ...valid, minLedgerTime: { time: { MinLedgerTimeAbs: { value: 'soon' } } } },
    ],
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
    const service = scriptedService((sent) => (sent.path === endPath ? [ok({ offset: 10 })] : NEVER));
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const seen = observe(ledger.executeAndWaitForTransaction(request));
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: field }] });
    expect(service.requests).toEqual([]);
    // the valid request is sent
    const second = observe(ledger.executeAndWaitForTransaction(valid));
    expect(service.requests.map((sent) => sent.path)).toEqual([endPath, path]);
    second.subscription.unsubscribe();
  });
});

describe('a refusal of the ledger', () => {
  it.each([
    ['LOCAL_VERDICT_INACTIVE_CONTRACTS', 404, 'SubmissionRejectedError'],
    ['INVALID_ARGUMENT', 400, 'SubmissionRejectedError'],
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 400, 'SubmissionRejectedError'],
    ['LEDGER_TIME_OUTSIDE_BOUNDS', 400, 'SubmissionExpiredError'],
  ] as const)('for good ends the submission at once: %s', async (code, status, _tag) => {
    const { sandbox, ledger, request } = await setUp();
    sandbox.fault({ kind: 'status', status, body: cantonError(code) }, { path });
    expect(await failureOf(ledger.executeAndWaitForTransaction(request))).toMatchObject({ _tag, code });
    expect(sandbox.requests.filter((seen) => seen.path === path)).toHaveLength(1);
  });

  it.each([
    ['SUBMISSION_ALREADY_IN_FLIGHT', 409],
    ['REQUEST_TIME_OUT', 504],
    ['PARTICIPANT_BACKPRESSURE', 409],
    ['LOCAL_VERDICT_LOCKED_CONTRACTS', 409],
    ['SERVICE_NOT_RUNNING', 503],
    ['ACCESS_TOKEN_EXPIRED', 409],
  ] as const)('for now is retried: %s', async (code, status) => {
    const { sandbox, ledger, request } = await setUp();
    sandbox.fault({ kind: 'status', status, body: cantonError(code) }, { path, times: 2 });
    expect(await lastValueFrom(ledger.executeAndWaitForTransaction(request))).toMatchObject({ _tag: 'Transaction' });
    const attempts = sandbox.requests.filter((seen) => seen.path === path);
    const ids = attempts.map(({ body }) => (body as { readonly submissionId: string }).submissionId);
    expect(new Set(ids).size).toBe(3);
  });
});
