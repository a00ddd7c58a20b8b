import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { automate } from '../../src/automation/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { startSandbox } from '../../src/sandbox/index.js';

const asset = '#sandbox-assets:Main:Asset';

async function world(count: number) {
  // forgets what it prunes
  const sandbox = await startSandbox({ defaultDeduplicationMs: 0 });
  const alice = sandbox.hostedParty('alice');
  const ledger = createLedger({ baseUrl: sandbox.url });
  const commands = Array.from({ length: count }, (_, i) => ({
    CreateCommand: {
      templateId: asset,
      createArguments: { owner: alice, amount: '1.0', tag: null, serial: String(i) },
    },
  }));
  await lastValueFrom(ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [alice], commands }));
  return { sandbox, alice, ledger };
}
const archive = (contractId: string) => ({
  ExerciseCommand: { templateId: asset, contractId, choice: 'Archive', choiceArgument: {} },
});
const touch = (contractId: string) => ({
  ExerciseCommand: { templateId: asset, contractId, choice: 'Touch', choiceArgument: {} },
});

describe('automate', () => {
  it('acts once on each contract', async () => {
    const { sandbox, alice, ledger } = await world(10);
    const acted = await firstValueFrom(
      automate(ledger, {
        name: 'archive',
        query: { parties: [alice] },
        actAs: [alice],
        userId: 'app',
        act: ({ contractId }) => archive(contractId),
      }).pipe(take(10), toArray()),
    );
    expect(acted.map(({ _tag }) => _tag)).toEqual(Array(10).fill('Committed'));
    expect(sandbox.updates).toHaveLength(11);
    await sandbox.close();
  });
  it('acts once on each contract, over a restart, without consuming', async () => {
    const { sandbox, alice, ledger } = await world(10);
    const rule = {
      name: 'touch',
      query: { parties: [alice] },
      actAs: [alice],
      userId: 'app',
      act: ({ contractId }: { contractId: string }) => touch(contractId),
    };
    await firstValueFrom(automate(ledger, rule).pipe(take(10), toArray()));
    const again = await firstValueFrom(automate(ledger, rule).pipe(take(10), toArray()));
    expect(again).toMatchObject(Array(10).fill({ _tag: 'Committed', isRepeated: true }));
    expect(sandbox.updates).toHaveLength(11);
    sandbox.prune(11);
    const pruned = await firstValueFrom(automate(ledger, rule).pipe(take(10), toArray()));
    expect(pruned[0]).toMatchObject({ _tag: 'Failed', error: { _tag: 'RuleError', reason: 'pruned' } });
    await sandbox.close();
  });
});
