import { describe, expect, it } from '@jest/globals';
import { EMPTY, filter, lastValueFrom, NEVER, type ObservableInput, of, throwError, toArray } from 'rxjs';
import { VerificationError } from '../../src/errors/submission.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import {
  createLedger,
  type Ledger,
  type PrepareRequest,
  type Signer,
  type Transaction,
  type Verifier,
} from '../../src/index.js';
import { cantonError, type ExternalParty, type Sandbox } from '../../src/sandbox/index.js';
import type { SubmitOptions } from '../../src/submission/submit.js';
import { sandboxes } from '../helpers/localServers.js';

const start = sandboxes();

/** A ledger, and a submission with its signer. */
interface Setup {
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly request: PrepareRequest;
  readonly signer: Signer;
  /** The hashes that were signed. */
  readonly hashes: Uint8Array[];
  readonly alice: ExternalParty;
}

async function setUp(commandId = 'create-1'): Promise<Setup> {
  const sandbox = await start();
  const alice = sandbox.externalParty('alice');
  const hashes: Uint8Array[] = [];
  return {
    sandbox,
    alice,
    hashes,
    ledger: createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }),
    signer: {
      party: alice.party,
      sign: (hash) => {
        hashes.push(hash);
        return of(alice.sign(Buffer.from(hash).toString('base64')));
      },
    },
    request: {
      commandId,
      actAs: [alice.party],
      commands: [
        {
          CreateCommand: {
            templateId: '#sandbox-assets:Main:Asset',
            createArguments: { owner: alice.party, amount: '10.0', tag: null, serial: '1' },
          },
        },
      ],
    },
  };
}

/** On a busy machine, a response may be reported as delayed. */
const isOfSubmission = ({ _tag }: Diagnostic): boolean => _tag.startsWith('Submission');

const countRequests = ({ requests }: Sandbox, path: string): number =>
  requests.filter((request) => request.path.endsWith(path)).length;

const failureOf = (transaction$: ReturnType<Ledger['submit']>): Promise<unknown> =>
  lastValueFrom(transaction$).catch((error: unknown) => error);

describe('submit', () => {
  it('prepares, verifies, signs and executes, and emits the transaction once', async () => {
    const { ledger, request, signer, hashes, sandbox } = await setUp();
    const diagnostics: Diagnostic[] = [];
    ledger.diagnostics$.pipe(filter(isOfSubmission)).subscribe((diagnostic) => diagnostics.push(diagnostic));
    const verifications: unknown[] = [];
    const verify: SubmitOptions['verify'] = (prepared, prepareRequest) => {
      verifications.push([prepared.hashingSchemeVersion, prepareRequest]);
      return of(true);
    };
    const all = await lastValueFrom(ledger.submit(request, signer, { verify }).pipe(toArray()));
    expect(all).toMatchObject([{ _tag: 'Transaction', commandId: 'create-1', offset: sandbox.ledgerEnd }]);
    expect(verifications).toEqual([[expect.any(String), request]]);
    expect(hashes.map(({ length }) => length)).toEqual([32]);
    expect(diagnostics.map(({ _tag }) => _tag)).toEqual([
      'SubmissionPrepared',
      'SubmissionVerified',
      'SubmissionSigned',
      'SubmissionSent',
      'SubmissionCommitted',
    ]);
    const ids = diagnostics.map((diagnostic) => ('submissionId' in diagnostic ? diagnostic.submissionId : undefined));
    expect(new Set(ids).size).toBe(1);
    expect(sandbox.requests.at(-1)?.body).toMatchObject({ submissionId: ids[0] });
  });

  it('prepares and verifies what the request was at the call, also if the caller changes it meanwhile', async () => {
    const { ledger, request, signer, sandbox, alice } = await setUp();
    const createArguments = { owner: alice.party, amount: '10.0', tag: null, serial: '1' };
    const commands = [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }] as const;
    const verify: Verifier = (_, { commands: [command] }) => of(JSON.stringify(command).includes('"serial":"1"'));
    const committed = lastValueFrom(ledger.submit({ ...request, commands }, signer, { verify }));
    createArguments.serial = '2';
    expect(await committed).toMatchObject({ events: [{ createArgument: { serial: '1' } }] });
    expect(countRequests(sandbox, '/prepare')).toBe(1);
  });

  it('sends nothing before it is subscribed, and does not verify with verify: false', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    const transaction$ = ledger.submit(request, signer, { verify: false });
    expect(sandbox.requests).toEqual([]);
    expect(await lastValueFrom(transaction$)).toMatchObject({ commandId: 'create-1' });
  });

  it('throws without a choice of verifier', async () => {
    const { ledger, request, signer } = await setUp();
    // @ts-expect-error -- a type error, too
    expect(() => ledger.submit(request, signer, {})).toThrow(TypeError);
  });

  const mistake = new VerificationError('hash', 'the hash is another');
  it.each<[string, () => ObservableInput<unknown>, VerificationError['reason']]>([
    ['errors', () => throwError(() => mistake), 'hash'],
    [
      'throws',
      () => {
        throw mistake;
      },
      'hash',
    ],
    ['rejects', () => Promise.reject(mistake), 'hash'],
    ['emits false', () => Promise.resolve(false), 'refused'],
    ['completes without a value', () => EMPTY, 'refused'],
    ['resolves to undefined', () => Promise.resolve(undefined), 'refused'],
    ['emits an object', () => of({ isValid: false }), 'refused'],
    ['emits false after true', () => of(true, false), 'refused'],
    ['emits false before true', () => of(false, true), 'refused'],
  ])('neither signs nor executes when the verifier %s', async (_, verify, reason) => {
    const { ledger, request, signer, hashes, sandbox } = await setUp();
    const diagnostics: Diagnostic[] = [];
    ledger.diagnostics$.pipe(filter(isOfSubmission)).subscribe((diagnostic) => diagnostics.push(diagnostic));
    const failure = await failureOf(ledger.submit(request, signer, { verify: verify as Verifier }));
    expect(failure).toMatchObject({ _tag: 'VerificationError', reason });
    expect(diagnostics).toMatchObject([
      { _tag: 'SubmissionPrepared', commandId: 'create-1' },
      { _tag: 'SubmissionFailed', error: { _tag: 'VerificationError' } },
    ]);
    expect(hashes).toEqual([]);
    expect(countRequests(sandbox, '/executeAndWaitForTransaction')).toBe(0);
  });

  it('neither signs nor executes before the verifier completes', async () => {
    const { ledger, request, signer, hashes, sandbox } = await setUp();
    const verifying = new Promise<void>((resolve) => {
      ledger
        .submit(request, signer, {
          verify: () => {
            resolve();
            return NEVER;
          },
        })
        .subscribe();
    });
    await verifying;
    await new Promise(setImmediate);
    expect(hashes).toEqual([]);
    expect(countRequests(sandbox, '/executeAndWaitForTransaction')).toBe(0);
  });

  it("executes nothing when a signer fails, and passes on the signer's error", async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    const walletError = new Error('the wallet was closed');
    const failingSigner: Signer = { party: signer.party, sign: () => Promise.reject(walletError) };
    expect(await failureOf(ledger.submit(request, failingSigner, { verify: false }))).toBe(walletError);
    expect(countRequests(sandbox, '/executeAndWaitForTransaction')).toBe(0);
  });

  it('refuses a signer of a party that does not act, and no signers at all', async () => {
    const { ledger, request, signer, hashes, sandbox } = await setUp();
    const mallory: Signer = { ...signer, party: 'mallory::1220ab' };
    expect(await failureOf(ledger.submit(request, [signer, mallory], { verify: false }))).toMatchObject({
      _tag: 'InvalidRequestError',
      problems: [{ path: 'signer[1].party' }],
    });
    expect(await failureOf(ledger.submit(request, [], { verify: false }))).toMatchObject({
      problems: [{ path: 'signer' }],
    });
    expect([hashes, sandbox.requests]).toEqual([[], []]);
  });

  it.each([
    ['deduplicationPeriod', { deduplicationPeriod: { DeduplicationDuration: { seconds: 600 } } }],
    ['transactionFormat', { transactionFormat: { eventFormat: {} } }],
  ])('refuses an invalid option before anything is signed: %s', async (path, options) => {
    const { ledger, request, signer, hashes, sandbox } = await setUp();
    const failure = await failureOf(ledger.submit(request, signer, { verify: false, ...options } as SubmitOptions));
    expect(failure).toMatchObject({
      _tag: 'InvalidRequestError',
      problems: expect.arrayContaining([expect.objectContaining({ path: expect.stringContaining(path) })]),
    });
    expect([hashes, sandbox.requests]).toEqual([[], []]);
  });

  it('executes with the options of the call, also if the caller changes them while it is signed', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    const deduplicationPeriod = { DeduplicationOffset: { value: 0 } };
    const slow: Signer = {
      ...signer,
      sign: (hash) => {
        Object.assign(deduplicationPeriod, { DeduplicationOffset: { value: -1 } });
        return signer.sign(hash);
      },
    };
    await lastValueFrom(ledger.submit(request, slow, { verify: false, deduplicationPeriod }));
    const executed = sandbox.requests.find(({ path }) => path.endsWith('/executeAndWaitForTransaction'));
    expect(executed?.body).toMatchObject({ deduplicationPeriod: { DeduplicationOffset: { value: 0 } } });
  });

  it('merges the signatures of a party, from one signer or several', async () => {
    const { ledger, request, alice, sandbox } = await setUp();
    const sign = (hash: Uint8Array) => alice.sign(Buffer.from(hash).toString('base64'));
    const signsTwice: Signer = { party: alice.party, sign: (hash) => [[sign(hash), sign(hash)]] };
    const signsOnce: Signer = { party: alice.party, sign: (hash) => [sign(hash)] };
    await failureOf(ledger.submit(request, [signsTwice, signsOnce], { verify: false }));
    const sent = sandbox.requests.find(({ path }) => path.endsWith('/executeAndWaitForTransaction'))?.body;
    expect(sent).toMatchObject({
      partySignatures: { signatures: [{ party: alice.party, signatures: [{}, {}, {}] }] },
    });
  });

  it('emits the transaction when the response is lost, and commits once for all subscriptions', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: /executeAndWaitForTransaction$/ });
    const transaction$ = ledger.submit(request, signer, { verify: false });
    const first = await lastValueFrom(transaction$);
    const second: Transaction = await lastValueFrom(transaction$);
    expect(sandbox.updates).toHaveLength(1);
    expect([first, second]).toMatchObject([{ offset: 1 }, { updateId: first.updateId }]);
  });

  it('sends the same bytes again after an unknown outcome, also if the contracts are archived by then', async () => {
    const { ledger, request, signer, sandbox, alice } = await setUp();
    const created = await lastValueFrom(ledger.submit(request, signer, { verify: false }));
    const [event] = created.events;
    const contractId = event?._tag === 'CreatedEvent' ? event.contractId : '';
    const templateId = '#sandbox-assets:Main:Asset';
    const archive: PrepareRequest = {
      commandId: 'archive-1',
      actAs: [alice.party],
      commands: [{ ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} } }],
    };
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: /executeAndWaitForTransaction$/ });
    const archived$ = ledger.submit(archive, signer, { verify: false, recover: false });
    expect(await failureOf(archived$)).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect(sandbox.updates).toHaveLength(2);
    expect(await lastValueFrom(archived$)).toMatchObject({ commandId: 'archive-1', offset: 2 });
  });

  it('finds a submission whose response was lost by its completion, and does not send it again', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    sandbox.configure({ profile: '3.6' });
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: /executeAndWaitForTransaction$/ });
    expect(await lastValueFrom(ledger.submit(request, signer, { verify: false }))).toMatchObject({ offset: 1 });
    expect(countRequests(sandbox, '/executeAndWaitForTransaction')).toBe(1);
  });

  it.each(['3.5', '3.6'] as const)(
    'finds a submission that another participant refuses because the first one committed it, on %s',
    async (profile) => {
      const { ledger, request, signer, sandbox } = await setUp();
      sandbox.configure({ profile });
      const path = /executeAndWaitForTransaction$/;
      sandbox.fault({ kind: 'reset', when: 'after' }, { path });
      sandbox.fault({ kind: 'status', status: 404, body: cantonError('LOCAL_VERDICT_INACTIVE_CONTRACTS') }, { path });
      // the participant that receives the look-up did not receive the submission
      const unknown = { kind: 'status', status: 404, body: cantonError('COMPLETION_NOT_FOUND') } as const;
      sandbox.fault(unknown, { path: /completion-by-hash$/, times: 9 });
      expect(await lastValueFrom(ledger.submit(request, signer, { verify: false }))).toMatchObject({ offset: 1 });
      expect(countRequests(sandbox, '/executeAndWaitForTransaction')).toBe(2);
    },
  );

  it('signs nothing but the hash of a transaction', async () => {
    const { ledger, request, signer, hashes, sandbox } = await setUp();
    const topology = Buffer.alloc(34, 18).toString('base64');
    const body = (response: unknown): unknown => ({ ...Object(response), preparedTransactionHash: topology });
    sandbox.fault({ kind: 'rewrite', body }, { path: /prepare$/ });
    const failure = await failureOf(ledger.submit(request, signer, { verify: false }));
    expect(failure).toMatchObject({ _tag: 'VerificationError', reason: 'hash' });
    expect(hashes).toEqual([]);
  });

  it('does not emit another transaction at the offset, as another participant may have there', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    await lastValueFrom(ledger.submit(request, signer, { verify: false }));
    const body = (response: unknown): unknown => JSON.parse(JSON.stringify(response).replaceAll('create-1', 'another'));
    sandbox.fault({ kind: 'rewrite', body }, { path: /update-by-offset$/, times: 9 });
    expect(await failureOf(ledger.submit(request, signer, { verify: false }))).toMatchObject({
      _tag: 'OutcomeUnknownError',
      completionOffset: 1,
    });
  });

  it('prepares again after a transient failure', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    sandbox.fault({ kind: 'status', status: 503, body: 'not yet' }, { path: /prepare$/ });
    await lastValueFrom(ledger.submit(request, signer, { verify: false }));
    expect(countRequests(sandbox, '/prepare')).toBe(2);
  });

  it.each([
    ['fails at once when the provider returns the same token again', () => 'same', 1],
    ['fails after a second token that is refused, without a retry', () => `token-${Math.random()}`, 2],
  ])('%s', async (_, token, requests) => {
    const { request, signer } = await setUp();
    const sandbox = await start({ checkToken: () => false });
    const ledger = createLedger({ baseUrl: sandbox.url, token });
    const failure = await failureOf(ledger.submit(request, signer, { verify: false }));
    expect(failure).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: requests > 1 });
    expect(countRequests(sandbox, '/prepare')).toBe(requests);
  });

  it('sends no invalid request', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    const failure = await failureOf(ledger.submit({ ...request, commandId: '' }, signer, { verify: false }));
    expect(failure).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: 'commandId' }] });
    expect(sandbox.requests).toEqual([]);
  });

  it('names the place of a bigint, also in what is not sent of a disclosed contract', async () => {
    const { ledger, request, signer, sandbox } = await setUp();
    const disclosedContracts = [{ createdEventBlob: 'AAAA', debugPayload: { amount: 1n } }];
    const failure = await failureOf(ledger.submit({ ...request, disclosedContracts }, signer, { verify: false }));
    const path = 'disclosedContracts.0.debugPayload.amount';
    expect(failure).toMatchObject({
      _tag: 'InvalidRequestError',
      problems: [{ path, expected: 'a value that JSON has, too' }],
    });
    expect(sandbox.requests).toEqual([]);
  });
});
