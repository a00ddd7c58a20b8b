import process from 'node:process';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstValueFrom, lastValueFrom, takeUntil, timer } from 'rxjs';
import { createLedger, isLedgerError } from '../../../src/index.js';
import { cantonError, type Fault, type SandboxProfile, startSandbox } from '../../../src/sandbox/index.js';
import { assetOf, createAsset, commandsOf, exerciseAsset, submitForTransaction } from '../../sandbox/commands.js';
import { useProcessTime } from '../../helpers/time.js';
import { campaignRuns, checkInLanes, formatCounts, increase } from './runs.js';

const { numRuns, seed, isMany } = campaignRuns(30, 300, 40);
const path = /submit-and-wait-for-transaction$/;

/** The longest delay of a commit. */
const latestMs = 120;

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    { kind: 'reset' },
    { kind: 'reset', when: 'after' },
    { kind: 'body', body: '{"transaction":{}}' },
    { kind: 'status', status: 503, body: 'The server was not able to produce a timely response to your request.' },
    { kind: 'status', status: 500, body: cantonError('LEDGER_API_INTERNAL_ERROR'), when: 'after' },
    { kind: 'status', status: 404, body: cantonError('UPDATE_NOT_FOUND'), when: 'after' },
    { kind: 'status', status: 409, body: cantonError('PARTICIPANT_BACKPRESSURE') },
    { kind: 'status', status: 400, body: cantonError('DAML_FAILURE') },
    { kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' },
    { kind: 'reject', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT' },
  ),
  fc.record({ kind: fc.constant('truncate' as const), bytes: fc.nat(1_500) }),
  fc.record({ kind: fc.constant('delay' as const), ms: fc.integer({ min: 1, max: 400 }) }),
  fc.record({
    kind: fc.constant('commitLate' as const),
    ms: fc.integer({ min: 1, max: latestMs }),
    how: fc.constantFrom('timeout' as const, 'reset' as const),
  }),
);

interface Schedule {
  readonly profile: SandboxProfile;
  /** The choice that the commands exercise; they create a contract without one. */
  readonly choice: 'Archive' | 'Touch' | undefined;
  readonly faults: readonly Fault[];
  /** When another command archives the contract, in milliseconds. */
  readonly archivedAfterMs: number | undefined;
  /** When the process ends, in milliseconds. The next one continues. */
  readonly endsAfterMs: number | undefined;
}

const optionalMs = fc.option(fc.nat(100), { nil: undefined });

const schedule: fc.Arbitrary<Schedule> = fc.record({
  profile: fc.constantFrom<SandboxProfile>('3.3', '3.4', '3.5', '3.6', '3.7'),
  choice: fc.constantFrom('Archive' as const, 'Touch' as const, undefined),
  faults: fc.array(fault, { maxLength: 5 }),
  archivedAfterMs: optionalMs,
  endsAfterMs: optionalMs,
});

/** Submits by a schedule, compares the end with the ledger, and returns it. */
async function play({ profile, choice, faults, archivedAfterMs, endsAfterMs }: Schedule): Promise<string> {
  const sandbox = await startSandbox({ profile });
  try {
    const alice = sandbox.hostedParty('alice');
    const contractId = await assetOf(sandbox, alice);
    for (const given of faults) sandbox.fault(given, { path });
    const commands = [choice === undefined ? createAsset(alice) : exerciseAsset(contractId, choice)];
    const request = { actAs: [alice], userId: 'app', commandId: 'order-1', commands } as const;
    const submit = (since?: number) =>
      createLedger({
        baseUrl: sandbox.url,
        requestTimeoutMs: 250,
        retry: { baseDelayMs: 2, maxDelayMs: 20 },
      }).submitAndWaitForTransaction(request, { recover: { withinMs: 3_000 }, ...(since !== undefined && { since }) });
    const archive = async (): Promise<void> => {
      if (choice === undefined || archivedAfterMs === undefined) return;
      await firstValueFrom(timer(archivedAfterMs));
      const body = commandsOf(alice, exerciseAsset(contractId), { commandId: 'another', userId: 'other' });
      // it may meet one of the faults
      await submitForTransaction(sandbox, body).catch(() => undefined);
    };
    const run = async (): Promise<unknown> => {
      if (endsAfterMs !== undefined) {
        const ended = submit().pipe(takeUntil(timer(endsAfterMs)));
        await lastValueFrom(ended, { defaultValue: undefined }).catch(() => undefined);
      }
      return lastValueFrom(submit(endsAfterMs === undefined ? undefined : 1)).catch((error: unknown) => error);
    };
    const [end] = await Promise.all([run(), archive()]);
    // late commits are done by now
    await firstValueFrom(timer(latestMs + 30));
    const committed = sandbox.updates.flatMap((update) =>
      'Transaction' in update && update.Transaction.value.commandId === 'order-1' ? [update.Transaction.value] : [],
    );
    expect(committed.length).toBeLessThanOrEqual(1);
    if (!isLedgerError(end)) expect(end).toMatchObject({ updateId: committed[0]?.updateId });
    else if (!isLedgerError(end, 'OutcomeUnknownError')) expect([end, committed]).toEqual([end, []]);
    return isLedgerError(end) ? end._tag : 'Transaction';
  } finally {
    await sandbox.close();
  }
}

// retry budgets count processor time, not the waits of a busy machine
beforeEach(() => {
  useProcessTime();
});

describe('over real sockets, commands of a hosted party', () => {
  it('are committed at most once, and their outcome never contradicts the ledger', async () => {
    const counts = new Map<string, number>();
    const property = fc.asyncProperty(schedule, async (given) => {
      increase(counts, await play(given));
    });
    await checkInLanes(property, { runs: numRuns, seed, lanes: 8 });
    process.stdout.write(`campaign: commands over sockets end with ${formatCounts(counts)}\n`);
    for (const end of isMany ? ['Transaction', 'SubmissionRejectedError'] : [])
      expect(counts.get(end) ?? 0).toBeGreaterThan(numRuns / 60);
  }, 600_000);
});
