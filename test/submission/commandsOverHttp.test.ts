import { describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Fault, SandboxProfile } from '../../src/sandbox/index.js';
import {
  assetOf,
  completionsOf,
  createAsset,
  exerciseAsset,
  transactionPath,
  withParties,
} from '../sandbox/commands.js';

/** Submits a command to a sandbox that has a fault for the first attempt. */
async function submit(fault: Fault, isExercise: boolean, profile: SandboxProfile = '3.5') {
  const { sandbox, alice } = await withParties({ profile });
  const contractId = await assetOf(sandbox, alice);
  sandbox.fault(fault, { path: transactionPath });
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { maxDelayMs: 100 } });
  const command = isExercise ? exerciseAsset(contractId) : createAsset(alice);
  const request = { commands: [command], actAs: [alice], commandId: 'cmd-1', userId: 'app' } as const;
  const result = lastValueFrom(ledger.submitAndWaitForTransaction(request, { recover: { withinMs: 20_000 } }));
  return { sandbox, alice, contractId, result };
}

const lost: readonly Fault[] = [
  { kind: 'reset', when: 'after' },
  { kind: 'status', status: 503, when: 'after' },
  { kind: 'commitLate', ms: 200 },
  { kind: 'commitLate', ms: 200, how: 'reset', before: 'registration' },
];

describe('submitAndWaitForTransaction', () => {
  it.each(lost.flatMap((fault) => [false, true].map((isExercise) => [fault, isExercise] as const)))(
    'commits once after %j (exercise: %s) (G60)',
    async (fault, isExercise) => {
      const { sandbox, result } = await submit(fault, isExercise);
      const { offset, events } = await result;
      expect(events).toMatchObject([{ _tag: isExercise ? 'ArchivedEvent' : 'CreatedEvent', offset }]);
      expect(sandbox.updates).toHaveLength(2);
    },
  );

  it.each(['3.3', '3.4', '3.6', '3.7'] as const)('commits once to %s after a lost response', async (profile) => {
    const { sandbox, result } = await submit({ kind: 'reset', when: 'after' }, true, profile);
    expect(await result).toMatchObject({ offset: 2 });
    expect(sandbox.updates).toHaveLength(2);
  });

  it('reports what a completion reports', async () => {
    const { sandbox, alice, result } = await submit({ kind: 'reject', code: 'OUTDATED_TRAFFIC_COST' }, false);
    await expect(result).rejects.toMatchObject({ _tag: 'SubmissionRejectedError', code: 'OUTDATED_TRAFFIC_COST' });
    expect(await completionsOf(sandbox, alice)).toMatchObject([{}, { commandId: 'cmd-1', status: { code: 9 } }]);
  });
});
