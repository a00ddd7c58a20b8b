import { firstValueFrom, type Observable, switchMap } from 'rxjs';
import { liveContracts } from '../../../src/contracts/index.js';
import { type CommandsRequest, createLedger } from '../../../src/index.js';
import { createSandbox } from '../../../src/sandbox/index.js';
import { sandboxRegistry, tokenTemplates } from '../../../src/sandbox/tokens/index.js';
import { Holding, tokenCommands, type TokenSubmission, type TokenTransfer } from '../../../src/tokens/index.js';

/** A sandbox with tokens, a registry, and what the wallets of two users do. */
export function wallets() {
  const sandbox = createSandbox({ templates: tokenTemplates, confirmationMs: 0 });
  const [admin, alice, bob] = ['bank', 'alice', 'bob'].map((hint) => sandbox.hostedParty(hint)) as [
    string,
    string,
    string,
  ];
  const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port });
  const registry = sandboxRegistry(sandbox, { admin });
  const tokens = tokenCommands(registry.post);
  const gold = { admin, id: 'Gold' };

  const transferOf = (fields: Partial<TokenTransfer>): TokenTransfer => ({
    sender: alice,
    receiver: bob,
    amount: '4.0',
    instrumentId: gold,
    requestedAt: new Date(Date.now() - 1_000).toISOString(),
    executeBefore: new Date(Date.now() + 60_000).toISOString(),
    inputHoldingCids: [],
    meta: { values: {} },
    ...fields,
  });

  const effects: NonNullable<CommandsRequest['transactionFormat']> = {
    eventFormat: { filtersForAnyParty: {} },
    transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
  };

  /** Submits what the registry gives a context for, and returns the result of the choice. */
  const submit = async (
    made$: Observable<TokenSubmission>,
    ...actAs: readonly [string, ...string[]]
  ): Promise<unknown> => {
    const submitted$ = made$.pipe(
      switchMap((made) =>
        ledger.submitAndWaitForTransaction({
          userId: 'wallet',
          actAs,
          ...made,
          transactionFormat: effects,
        }),
      ),
    );
    const { events } = await firstValueFrom(submitted$);
    const [first] = events;
    return first?._tag === 'ExercisedEvent' ? first.exerciseResult : undefined;
  };

  /** The holdings of a party: their amounts, and what locks them. */
  const holdings = async (party: string): Promise<readonly string[]> =>
    (await firstValueFrom(liveContracts(ledger, { types: { holding: Holding }, parties: [party] }).all$()))
      .flatMap((contract) => {
        if (contract._tag !== 'Contract' || contract.payload.owner !== party) return [];
        const { amount, instrumentId, lock } = contract.payload;
        return [`${amount} ${instrumentId.id}${lock ? ` locked: ${lock.context}` : ''}`];
      })
      .sort();

  return { sandbox, ledger, registry, tokens, admin, alice, bob, gold, transferOf, submit, holdings };
}
