import { describe, expect, it } from '@jest/globals';
import { EMPTY, lastValueFrom, NEVER, of, throwError, toArray } from 'rxjs';
import { VerificationError } from '../../src/errors/submission.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { createLedger, type Ledger, type PrepareRequest, type Signer, type Transaction } from '../../src/index.js';
import type { ExternalParty, Sandbox } from '../../src/sandbox/index.js';
import type { SubmitOptions } from '../../src/submission/SubmitOptions.js';
import { sandboxes } from '../helpers/sandboxes.js';

const start = sandboxes();

interface Given {
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly request: PrepareRequest;
  readonly signer: Signer;
  /** What was signed so far. */
  readonly hashes: Uint8Array[];
  readonly alice: ExternalParty;
}

async function given(commandId = 'create-1'): Promise<Given> {
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

const posts = ({ requests }: Sandbox, path: string): number =>
  requests.filter((request) => request.path.endsWith(path)).length;

const failureOf = (transaction$: ReturnType<Ledger['submit']>): Promise<unknown> =>
  lastValueFrom(transaction$).catch((error: unknown) => error);

describe('submit', () => {
  it('prepares, verifies, signs and executes, and emits the transaction once', async () => {
    const { ledger, request, signer, hashes, sandbox } = await given();
    const events: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((event) => events.push(event));
    const verified: unknown[] = [];
    const verify: SubmitOptions['verify'] = (prepared, asked) => {
      verified.push([prepared.hashingSchemeVersion, asked]);
      return EMPTY;
    };
    const all = await lastValueFrom(ledger.submit(request, signer, { verify }).pipe(toArray()));
    expect(all).toMatchObject([{ _tag: 'Transaction', commandId: 'create-1', offset: sandbox.ledgerEnd }]);
    expect(verified).toEqual([[expect.any(String), request]]);
    expect(hashes.map(({ length }) => length)).toEqual([32]);
    expect(events.map(({ _tag }) => _tag)).toEqual([
      'SubmissionPrepared',
      'SubmissionVerified',
      'SubmissionSigned',
      'SubmissionSent',
      'SubmissionCommitted',
    ]);
    const ids = events.map((event) => ('submissionId' in event ? event.submissionId : undefined));
    expect(new Set(ids).size).toBe(1);
    expect(sandbox.requests.at(-1)?.body).toMatchObject({ submissionId: ids[0] });
  });

  it('sends nothing before it is subscribed, and does not verify where that was chosen', async () => {
    const { ledger, request, signer, sandbox } = await given();
    const transaction$ = ledger.submit(request, signer, { verify: false });
    expect(sandbox.requests).toEqual([]);
    expect(await lastValueFrom(transaction$)).toMatchObject({ commandId: 'create-1' });
  });

  it('wants the choice to be made', async () => {
    const { ledger, request, signer } = await given();
    // @ts-expect-error -- as it happens in JavaScript
    expect(() => ledger.submit(request, signer, {})).toThrow(TypeError);
  });

  it.each([
    ['says no', () => throwError(() => new VerificationError('hash', 'the hash is another'))],
    [
      'throws',
      () => {
        throw new VerificationError('hash', 'the hash is another');
      },
    ],
    ['rejects', () => Promise.reject(new VerificationError('hash', 'the hash is another'))],
  ])('signs nothing and executes nothing when the verifier %s', async (_, verify) => {
    const { ledger, request, signer, hashes, sandbox } = await given();
    const events: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((event) => events.push(event));
    expect(await failureOf(ledger.submit(request, signer, { verify }))).toMatchObject({
      _tag: 'VerificationError',
      reason: 'hash',
    });
    expect(events).toMatchObject([
      { _tag: 'SubmissionPrepared', commandId: 'create-1' },
      { _tag: 'SubmissionFailed', error: { _tag: 'VerificationError' } },
    ]);
    expect(hashes).toEqual([]);
    expect(posts(sandbox, '/executeAndWaitForTransaction')).toBe(0);
  });

  it('signs nothing as long as the verifier has not said so', async () => {
    const { ledger, request, signer, hashes, sandbox } = await given();
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
    expect(posts(sandbox, '/executeAndWaitForTransaction')).toBe(0);
  });

  it("executes nothing when a signer fails, and passes the signer's own error on", async () => {
    const { ledger, request, signer, sandbox } = await given();
    const mine = new Error('the wallet was closed');
    const refusing: Signer = { party: signer.party, sign: () => Promise.reject(mine) };
    expect(await failureOf(ledger.submit(request, refusing, { verify: false }))).toBe(mine);
    expect(posts(sandbox, '/executeAndWaitForTransaction')).toBe(0);
  });

  it('has no signer sign for a party that does not act, nor goes on without one', async () => {
    const { ledger, request, signer, hashes, sandbox } = await given();
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

  it('sends several signatures of a party together, of one signer or of several', async () => {
    const { ledger, request, alice, sandbox } = await given();
    const sign = (hash: Uint8Array) => alice.sign(Buffer.from(hash).toString('base64'));
    const twice: Signer = { party: alice.party, sign: (hash) => [[sign(hash), sign(hash)]] };
    const once: Signer = { party: alice.party, sign: (hash) => [sign(hash)] };
    await failureOf(ledger.submit(request, [twice, once], { verify: false }));
    const sent = sandbox.requests.find(({ path }) => path.endsWith('/executeAndWaitForTransaction'))?.body;
    expect(sent).toMatchObject({
      partySignatures: { signatures: [{ party: alice.party, signatures: [{}, {}, {}] }] },
    });
  });

  it('finds out what became of it when the answer is lost, and commits once however often it is subscribed', async () => {
    const { ledger, request, signer, sandbox } = await given();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: /executeAndWaitForTransaction$/ });
    const transaction$ = ledger.submit(request, signer, { verify: false });
    const first = await lastValueFrom(transaction$);
    const again: Transaction = await lastValueFrom(transaction$);
    expect(sandbox.updates).toHaveLength(1);
    expect([first, again]).toMatchObject([{ offset: 1 }, { updateId: first.updateId }]);
  });

  it('sends the same bytes again when it is subscribed after an unknown outcome: what it used up is no failure', async () => {
    const { ledger, request, signer, sandbox, alice } = await given();
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

  it('takes the word of a verifier that says false', async () => {
    const { ledger, request, signer, hashes } = await given();
    const failure = await failureOf(ledger.submit(request, signer, { verify: () => Promise.resolve(false) }));
    expect(failure).toMatchObject({ _tag: 'VerificationError', reason: 'refused' });
    expect(hashes).toEqual([]);
  });

  it('has nothing signed that is not the hash of a transaction', async () => {
    const { ledger, request, signer, hashes, sandbox } = await given();
    const topology = Buffer.alloc(34, 18).toString('base64');
    const body = (answer: unknown): unknown => ({ ...Object(answer), preparedTransactionHash: topology });
    sandbox.fault({ kind: 'rewrite', body }, { path: /prepare$/ });
    const failure = await failureOf(ledger.submit(request, signer, { verify: false }));
    expect(failure).toMatchObject({ _tag: 'VerificationError', reason: 'hash' });
    expect(hashes).toEqual([]);
  });

  it("takes no other transaction at the offset for its own, as another participant's may be", async () => {
    const { ledger, request, signer, sandbox } = await given();
    await lastValueFrom(ledger.submit(request, signer, { verify: false }));
    const body = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer).replaceAll('create-1', 'another'));
    sandbox.fault({ kind: 'rewrite', body }, { path: /update-by-offset$/, times: 9 });
    expect(await failureOf(ledger.submit(request, signer, { verify: false }))).toMatchObject({
      _tag: 'OutcomeUnknownError',
      completionOffset: 1,
    });
  });

  it('prepares again after a transient failure', async () => {
    const { ledger, request, signer, sandbox } = await given();
    sandbox.fault({ kind: 'status', status: 503, body: 'not yet' }, { path: /prepare$/ });
    await lastValueFrom(ledger.submit(request, signer, { verify: false }));
    expect(posts(sandbox, '/prepare')).toBe(2);
  });

  it('sends nothing that breaks a rule', async () => {
    const { ledger, request, signer, sandbox } = await given();
    const failure = await failureOf(ledger.submit({ ...request, commandId: '' }, signer, { verify: false }));
    expect(failure).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: 'commandId' }] });
    expect(sandbox.requests).toEqual([]);
  });
});
