import { describe, expect, it } from '@jest/globals';
import { createLedger, type ExecuteOptions, type Diagnostic } from '../../src/index.js';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { canton, failed, scripted } from '../helpers/scripted.js';
import { executePath, refusals, VirtualParticipant, type SubmissionPlan } from '../helpers/virtualSubmission.js';
import { secretsIn } from '../suites/security/secretsIn.js';
import { calm } from './recovery/Schedule.js';
import { secrets, signedRequest } from './signedRequest.js';

function toldOf(plan: Partial<SubmissionPlan>, options: ExecuteOptions = {}): readonly Diagnostic[] {
  const events: Diagnostic[] = [];
  marbles(({ flush }) => {
    let tokens = 0;
    const { port } = scripted(new VirtualParticipant({ ...calm, ...plan }).answer);
    const client = createLedger({
      baseUrl: 'http://ledger.example',
      port,
      token: () => `s3cret-token-${(tokens += 1)}`,
    });
    client.diagnostics$.subscribe((event) => events.push(event));
    observe(client.executeAndWaitForTransaction(signedRequest, options));
    flush();
  });
  return events;
}

const submissionId = 'try-1';
const lost = { kind: 'lost', isReceived: true, how: 'reset', afterMs: 300 } as const;

describe('what is told of a submission', () => {
  it('is that it was sent and committed', () => {
    expect(toldOf({})).toMatchObject([
      { _tag: 'SubmissionSent', submissionId, attempt: 1, at: 10 },
      { _tag: 'SubmissionCommitted', submissionId, updateId: '122011', offset: 11, at: 220 },
    ]);
  });

  it('is each try by the id of the first, what is unclear after it, and how long until the next', () => {
    const told = toldOf({ faults: [lost, { kind: 'answered', how: 'back-pressure' }] });
    expect(told).toMatchObject([
      { _tag: 'SubmissionSent', submissionId, attempt: 1 },
      { _tag: 'SubmissionUnclear', submissionId, attempts: 1, cause: { _tag: 'ConnectionError' } },
      { _tag: 'SubmissionSent', submissionId, attempt: 2 },
      { _tag: 'SubmissionUnclear', submissionId, attempts: 2, cause: { code: 'PARTICIPANT_BACKPRESSURE' } },
      { _tag: 'SubmissionSent', submissionId, attempt: 3 },
      { _tag: 'SubmissionCommitted', submissionId, offset: 11 },
    ]);
    const [, unclear, sent] = told;
    expect(unclear?._tag === 'SubmissionUnclear' && unclear.at + unclear.delayMs).toBe(sent?.at);
  });

  it.each<[string, Partial<SubmissionPlan>, ExecuteOptions, string]>([
    ['rejected', { isForged: true }, {}, 'SubmissionRejectedError'],
    ['expired', { expiresAtMs: 0 }, {}, 'SubmissionExpiredError'],
    ['not sent', { faults: [{ kind: 'refused' }] }, {}, 'NotSentError'],
    ['unknown', { faults: [lost] }, { recover: false }, 'OutcomeUnknownError'],
  ])('is that it failed, and how: %s', (_, plan, options, _tag) => {
    expect(toldOf(plan, options)).toMatchObject([
      { _tag: 'SubmissionSent', submissionId, attempt: 1 },
      { _tag: 'SubmissionFailed', submissionId, error: { _tag } },
    ]);
  });

  it('is that one that breaks a rule has failed', () => {
    const events: Diagnostic[] = [];
    const client = createLedger({ baseUrl: 'http://ledger.example', port: scripted(() => []).port });
    client.diagnostics$.subscribe((event) => events.push(event));
    observe(client.executeAndWaitForTransaction({ ...signedRequest, preparedTransaction: '' }));
    expect(events).toMatchObject([{ _tag: 'SubmissionFailed', error: { _tag: 'InvalidRequestError' } }]);
  });

  it('holds no token, no signature and nothing of what was prepared', () => {
    const forbidden = [secrets.prepared, secrets.signature, 's3cret-token'];
    const faults = [
      lost,
      ...Object.keys(refusals).map((how) => ({ kind: 'answered', how: how as keyof typeof refusals }) as const),
      { kind: 'garbled', how: 'undecodable' } as const,
      { kind: 'garbled', how: 'cut' } as const,
    ];
    for (const plan of [{ faults }, { faults, isForged: true }, { faults, byOffset: 'gone' as const }]) {
      const told = toldOf(plan);
      expect(told.length).toBeGreaterThan(5);
      expect(told.flatMap((event) => secretsIn(event, forbidden))).toEqual([]);
    }
  });

  it('holds nothing of what a service sends back either', () => {
    const events: Diagnostic[] = [];
    marbles(({ flush }) => {
      const { port } = scripted(({ path, body, token = '' }) => {
        const text = `${token} ${JSON.stringify(body)}`;
        return [
          failed(path === executePath ? 503 : 500, { ...canton('SERVICE_NOT_RUNNING', 1, { text }), cause: text }),
        ];
      });
      const client = createLedger({ baseUrl: 'http://ledger.example', port, token: 's3cret-token' });
      client.diagnostics$.subscribe((event) => events.push(event));
      observe(client.executeAndWaitForTransaction(signedRequest, { recover: { withinMs: 10_000 } }));
      flush();
    });
    expect(events.at(-1)).toMatchObject({ _tag: 'SubmissionFailed', error: { _tag: 'OutcomeUnknownError' } });
    expect(events.flatMap((event) => secretsIn(event, [secrets.signature, 's3cret-token']))).toEqual([]);
  });
});
