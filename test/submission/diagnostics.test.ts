import { describe, expect, it } from '@jest/globals';
import { createLedger, type ExecuteOptions, type Diagnostic } from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { VirtualParticipant } from '../helpers/virtualSubmission.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { executePath, immediateErrors, type SubmissionPlan } from '../helpers/submissionPlan.js';
import { secretsIn } from '../suites/security/secretsIn.js';
import { calm } from './recovery/Schedule.js';
import { secrets, signedRequest } from './support.js';

/** The diagnostics of a submission. */
function diagnosticsOf(plan: Partial<SubmissionPlan>, options: ExecuteOptions = {}): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  marbles(({ flush }) => {
    let tokens = 0;
    const { port } = scriptedService(new VirtualParticipant({ ...calm, ...plan }).reply);
    const client = createLedger({
      baseUrl: 'http://ledger.example',
      port,
      token: () => `s3cret-token-${(tokens += 1)}`,
    });
    client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    observe(client.executeAndWaitForTransaction(signedRequest, options));
    flush();
  });
  return diagnostics;
}

const submissionId = 'try-1';
const lost = { kind: 'lost', isReceived: true, how: 'reset', afterMs: 300 } as const;

describe('the diagnostics of a submission', () => {
  it('report that it was sent and committed', () => {
    expect(diagnosticsOf({})).toMatchObject([
      { _tag: 'SubmissionSent', submissionId, attempt: 1, at: 50 },
      { _tag: 'SubmissionCommitted', submissionId, updateId: '122011', offset: 11, at: 260 },
    ]);
  });

  it('report each attempt by the id of the first, its failure, and the delay before the next', () => {
    const reported = diagnosticsOf({ faults: [lost, { kind: 'answered', how: 'back-pressure' }] });
    expect(reported).toMatchObject([
      { _tag: 'SubmissionSent', submissionId, attempt: 1 },
      { _tag: 'SubmissionUnclear', submissionId, attempts: 1, cause: { _tag: 'ConnectionError' } },
      { _tag: 'SubmissionSent', submissionId, attempt: 2 },
      { _tag: 'SubmissionUnclear', submissionId, attempts: 2, cause: { code: 'PARTICIPANT_BACKPRESSURE' } },
      { _tag: 'SubmissionSent', submissionId, attempt: 3 },
      { _tag: 'SubmissionCommitted', submissionId, offset: 11 },
    ]);
    const [, unclear, sent] = reported;
    expect(unclear?._tag === 'SubmissionUnclear' && unclear.at + unclear.delayMs).toBe(sent?.at);
  });

  it.each<[string, Partial<SubmissionPlan>, ExecuteOptions, string]>([
    ['rejected', { isForged: true }, {}, 'SubmissionRejectedError'],
    ['expired', { expiresAtMs: 0 }, {}, 'SubmissionExpiredError'],
    ['not sent', { faults: [{ kind: 'refused' }] }, {}, 'NotSentError'],
    ['unknown', { faults: [lost] }, { recover: false }, 'OutcomeUnknownError'],
  ])('report how it failed: %s', (_, plan, options, _tag) => {
    expect(diagnosticsOf(plan, options)).toMatchObject([
      { _tag: 'SubmissionSent', submissionId, attempt: 1 },
      { _tag: 'SubmissionFailed', submissionId, error: { _tag } },
    ]);
  });

  it('report that an invalid one failed', () => {
    const diagnostics: Diagnostic[] = [];
    const client = createLedger({ baseUrl: 'http://ledger.example', port: scriptedService(() => []).port });
    client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    observe(client.executeAndWaitForTransaction({ ...signedRequest, preparedTransaction: '' }));
    expect(diagnostics).toMatchObject([{ _tag: 'SubmissionFailed', error: { _tag: 'InvalidRequestError' } }]);
  });

  it('contain no token, no signature and no prepared bytes', () => {
    const forbidden = [secrets.prepared, secrets.signature, 's3cret-token'];
    const faults = [
      lost,
      ...Object.keys(immediateErrors).map(
        (how) => ({ kind: 'answered', how: how as keyof typeof immediateErrors }) as const,
      ),
      { kind: 'garbled', how: 'undecodable' } as const,
      { kind: 'garbled', how: 'cut' } as const,
    ];
    for (const plan of [{ faults }, { faults, isForged: true }, { faults, byOffset: 'gone' as const }]) {
      const reported = diagnosticsOf(plan);
      expect(reported.length).toBeGreaterThan(5);
      expect(reported.flatMap((diagnostic) => secretsIn(diagnostic, forbidden))).toEqual([]);
    }
  });

  it('contain nothing that a service echoes', () => {
    const diagnostics: Diagnostic[] = [];
    marbles(({ flush }) => {
      const { port } = scriptedService(({ path, body, token = '' }) => {
        const text = `${token} ${JSON.stringify(body)}`;
        return [
          errorReply(path === executePath ? 503 : 500, {
            ...errorBody('SERVICE_NOT_RUNNING', 1, { text }),
            cause: text,
          }),
        ];
      });
      const client = createLedger({ baseUrl: 'http://ledger.example', port, token: 's3cret-token' });
      client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
      observe(client.executeAndWaitForTransaction(signedRequest, { recover: { withinMs: 10_000 } }));
      flush();
    });
    expect(diagnostics.at(-1)).toMatchObject({ _tag: 'SubmissionFailed', error: { _tag: 'OutcomeUnknownError' } });
    expect(diagnostics.flatMap((diagnostic) => secretsIn(diagnostic, [secrets.signature, 's3cret-token']))).toEqual([]);
  });
});
