import { describe, expect, it } from '@jest/globals';
import { filter, lastValueFrom, map, takeUntil, toArray } from 'rxjs';
import { automate } from '../../src/automation/index.js';
import { liveContracts } from '../../src/contracts/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { sandboxWith } from './client.js';
import { transactionPath } from './commands.js';

const templateId = '#sandbox-assets:Main:Asset';

const archive = (contractId: string) => ({
  ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} },
});

/** A sandbox with contracts of one party. */
async function world(count: number) {
  const sandbox = await sandboxWith();
  const alice = sandbox.hostedParty('alice');
  const ledger = createLedger({ baseUrl: sandbox.url });
  const createArguments = { owner: alice, amount: '1.0', tag: null, serial: '1' };
  const commands = Array.from({ length: count }, () => ({ CreateCommand: { templateId, createArguments } }));
  const intent = { userId: 'app', actAs: [alice] };
  const { events } = await lastValueFrom(
    ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [alice], commands }),
  );
  /** Archives a contract, in one attempt. Returns the code of the error. */
  const tryArchive = async (contractId: string): Promise<string | undefined> => {
    const body = JSON.stringify({ commands: { ...intent, commandId: contractId, commands: [archive(contractId)] } });
    const response = await fetch(`${sandbox.url}${transactionPath}`, { method: 'POST', body });
    return ((await response.json()) as { code?: string }).code;
  };
  return {
    sandbox,
    alice,
    ledger,
    tryArchive,
    ids: events.flatMap((event) => (event._tag === 'CreatedEvent' ? [event.contractId] : [])),
  };
}

describe('contention', () => {
  it('lets another transaction archive, replace or lock the contract of a submission first', async () => {
    const { sandbox, tryArchive, ids } = await world(40);
    sandbox.configure({ contention: 1 });
    const codes = new Set<string | undefined>();
    for (const contractId of ids) codes.add(await tryArchive(contractId));
    expect([...codes].sort()).toEqual(['CONTRACT_NOT_FOUND', 'LOCAL_VERDICT_LOCKED_CONTRACTS']);
    const rivals = sandbox.updates.slice(1).map((update) => {
      const events = 'Transaction' in update ? update.Transaction.value.events : [];
      return events.map((event) => Object.keys(event).join()).join();
    });
    expect(new Set(rivals)).toEqual(
      new Set(['ArchivedEvent,ExercisedEvent', 'ArchivedEvent,ExercisedEvent,CreatedEvent']),
    );
  });

  it('is off by default', async () => {
    const { sandbox, tryArchive, ids } = await world(20);
    for (const contractId of ids) expect(await tryArchive(contractId)).toBeUndefined();
    expect(sandbox.updates).toHaveLength(21);
  });

  it('does not keep a rule from acting on all contracts', async () => {
    const { sandbox, alice, ledger } = await world(30);
    sandbox.configure({ contention: 0.5 });
    const query = { parties: [alice] };
    const isDone$ = liveContracts(ledger, query)
      .count$()
      .pipe(filter((count) => count === 0));
    const intent = { userId: 'app', actAs: [alice] };
    const acted$ = automate(ledger, {
      ...intent,
      name: 'archive',
      query,
      act: ({ contractId }) => archive(contractId),
    });
    const tags = await lastValueFrom(
      acted$.pipe(
        map(({ _tag }) => _tag),
        takeUntil(isDone$),
        toArray(),
      ),
    );
    expect(new Set(tags)).toEqual(new Set(['Committed', 'Obsolete']));
  });
});
