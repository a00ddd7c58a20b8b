import process from 'node:process';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstValueFrom, lastValueFrom, of, timer } from 'rxjs';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { cantonError, type Fault, startSandbox } from '../../../src/sandbox/index.js';
import { preparedTransactionVerifier } from '../../../src/verify/index.js';
import { secretsIn } from '../security/secretsIn.js';
import { campaignRuns, checkInLanes, formatCounts, increase } from './runs.js';
import { useProcessTime } from '../../helpers/time.js';

const { numRuns, seed } = campaignRuns(8, 120, 8);
const path = /executeAndWaitForTransaction$/;
const isDefinite = (end: unknown): boolean => isLedgerError(end) && end._tag !== 'OutcomeUnknownError';

/** The longest delay of a commit. */
const latestMs = 120;

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    { kind: 'reset' },
    { kind: 'reset', when: 'after' },
    { kind: 'hang' },
    { kind: 'body', body: '{"transaction":{}}' },
    { kind: 'status', status: 503, body: 'The server was not able to produce a timely response to your request.' },
    { kind: 'status', status: 502, body: '<html></html>' },
    { kind: 'status', status: 504, body: cantonError('REQUEST_TIME_OUT') },
    { kind: 'status', status: 409, body: cantonError('PARTICIPANT_BACKPRESSURE') },
    { kind: 'status', status: 409, body: cantonError('LOCAL_VERDICT_LOCKED_CONTRACTS') },
  ),
  fc.record({
    kind: fc.constant('truncate' as const),
    bytes: fc.nat(1_500),
    how: fc.constantFrom('close' as const, 'reset' as const),
  }),
  fc.record({ kind: fc.constant('delay' as const), ms: fc.integer({ min: 1, max: 400 }) }),
  fc.record({
    kind: fc.constant('commitLate' as const),
    ms: fc.integer({ min: 1, max: latestMs }),
    how: fc.constantFrom('timeout' as const, 'reset' as const),
  }),
);

interface Schedule {
  readonly faults: readonly Fault[];
  /** The caller's deduplication period; the longest allowed, if `undefined`. */
  readonly seconds: number | undefined;
  /** How many run at a time. */
  readonly subscriptions: number;
  readonly recovers: boolean;
  readonly isForged: boolean;
}

const schedule: fc.Arbitrary<Schedule> = fc.record({
  faults: fc.array(fault, { maxLength: 5 }),
  seconds: fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
  subscriptions: fc.integer({ min: 1, max: 3 }),
  recovers: fc.boolean(),
  isForged: fc.boolean(),
});

/** Submits by a schedule, compares each end with the ledger, and returns the ends. */
async function play({ faults, seconds, subscriptions, recovers, isForged }: Schedule): Promise<readonly string[]> {
  const sandbox = await startSandbox();
  try {
    const alice = sandbox.externalParty('alice');
    const mallory = sandbox.externalParty('mallory');
    const signer = {
      party: alice.party,
      sign: (hash: Uint8Array) => {
        const text = Buffer.from(hash).toString('base64');
        return of(isForged ? mallory.sign(text) : alice.sign(text));
      },
    };
    const ledger = createLedger({
      baseUrl: sandbox.url,
      requestTimeoutMs: 250,
      retry: { baseDelayMs: 2, maxDelayMs: 20 },
    });
    const events: unknown[] = [];
    ledger.diagnostics$.subscribe((event) => events.push(event));
    for (const given of faults) sandbox.fault(given, { path });
    const createArguments = { owner: alice.party, amount: '10.0', tag: null, serial: '1' };
    const transaction$ = ledger.submit(
      {
        commandId: 'pay',
        actAs: [alice.party],
        commands: [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }],
      },
      signer,
      {
        verify: preparedTransactionVerifier(),
        recover: recovers && { withinMs: 10_000 },
        ...(seconds !== undefined && { deduplicationPeriod: { DeduplicationDuration: { value: { seconds } } } }),
      },
    );
    const ends = await Promise.all(
      Array.from({ length: subscriptions }, () => lastValueFrom(transaction$).catch((error: unknown) => error)),
    );
    await firstValueFrom(timer(latestMs + 30));
    // late commits are done by now
    const committed = sandbox.updates.flatMap((update) => ('Transaction' in update ? [update.Transaction.value] : []));
    expect(committed.length).toBeLessThanOrEqual(1);
    expect(secretsIn([events, ends.filter(isLedgerError)], ['10.0000000000'])).toEqual([]);
    // a definite error concerns one submission only: every subscription prepares, signs and sends its own
    if (ends.every(isDefinite)) expect([ends, committed]).toEqual([ends, []]);
    for (const end of ends) {
      if (!isLedgerError(end)) expect(end).toMatchObject({ updateId: committed[0]?.updateId, events: [{}] });
      if (recovers)
        // after an attempt of unknown outcome, the refusal of a forged signature proves nothing
        expect(isForged ? ['SubmissionRejectedError', 'OutcomeUnknownError'] : ['Transaction']).toContain(
          isLedgerError(end) ? end._tag : 'Transaction',
        );
    }
    return ends.map((end) => (isLedgerError(end) ? end._tag : 'Transaction'));
  } finally {
    await sandbox.close();
  }
}

// retry budgets count processor time, not the waits of a busy machine
beforeEach(() => {
  useProcessTime();
});

describe('over real sockets, a submission', () => {
  it('is committed at most once, and its outcome never contradicts the ledger', async () => {
    const counts = new Map<string, number>();
    const property = fc.asyncProperty(schedule, async (given) => {
      for (const end of await play(given)) increase(counts, end);
    });
    await checkInLanes(property, { runs: numRuns, seed, lanes: 8 });
    process.stdout.write(`campaign: submissions end with ${formatCounts(counts)}\n`);
    // far from what is usual: a third to a half are transactions
    expect(counts.get('Transaction') ?? 0).toBeGreaterThan(0);
    for (const end of numRuns >= 100 ? ['Transaction', 'SubmissionRejectedError', 'OutcomeUnknownError'] : [])
      expect(counts.get(end) ?? 0).toBeGreaterThan(numRuns / 40);
  }, 600_000);
});
