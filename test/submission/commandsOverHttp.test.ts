import { describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { liveContracts } from '../../src/contracts/index.js';
import type { CommandsRequest, TransactionEvent } from '../../src/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Fault, SandboxProfile } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
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

/** Errors of a browser have no code. */
const fetchOfBrowser: typeof fetch = (...args) =>
  fetch(...args).catch(() => {
    throw new TypeError('Failed to fetch');
  });

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
    const { sandbox, alice, result } = await submit(
      { kind: 'reject', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT' },
      false,
    );
    await expect(result).rejects.toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'traffic' });
    const failed = { commandId: 'cmd-1', status: { code: expect.any(Number) } };
    expect(await completionsOf(sandbox, alice)).toMatchObject([{}, failed]);
  });

  it.each(['OUTDATED_TRAFFIC_COST', 'SEQUENCER_REQUEST_FAILED'])('sends the commands again after %s', async (code) => {
    const { result } = await submit({ kind: 'reject', code }, false);
    expect(await result).toMatchObject({ _tag: 'Transaction', commandId: 'cmd-1' });
  });

  it('finds its commits on a ledger that has taken the place of the first', async () => {
    const { sandbox, alice } = await withParties();
    const ledger = createLedger({ baseUrl: sandbox.url });
    const submit = (commandId: string) => {
      const request = { commands: [createAsset(alice)], actAs: [alice], commandId, userId: 'app' } as const;
      return lastValueFrom(ledger.submitAndWaitForTransaction(request));
    };
    sandbox.generate(500);
    await submit('before');
    await sandbox.restart({
      whileDown: () => {
        sandbox.restore(0);
      },
    });
    const all = await Promise.all([submit('first'), submit('second')]);
    // each names an offset of the former ledger, after which the participant finds nothing
    const again = [await submit('first'), await submit('second')];
    expect(again).toMatchObject(all.map(({ offset }) => ({ offset, isRepeated: true })));
    expect(sandbox.updates).toHaveLength(2);
  });

  it.each([0, 1_500])(
    'sends nothing to another participant than a feed has seen (G61): down for %d ms',
    async (downMs) => {
      const { sandbox, alice } = await withParties();
      const ledger = createLedger({ baseUrl: sandbox.url, fetch: fetchOfBrowser, retry: { maxDelayMs: 100 } });
      const view = liveContracts(ledger, { parties: [alice] })
        .all$()
        .subscribe();
      const isIdSent = (): boolean =>
        sandbox.requests.some(({ path, status }) => path === '/v2/parties/participant-id' && status === 200);
      await until(isIdSent);
      // its answer is read before this one
      await lastValueFrom(ledger.ledgerEnd());
      const request = { commands: [createAsset(alice)], actAs: [alice], userId: 'app' } as const;
      let result: Promise<unknown> = Promise.resolve();
      await sandbox.restart({
        ...{ participantId: `other::1220${'ab'.repeat(32)}`, downMs },
        whileDown: () => {
          sandbox.restore(0);
          result = lastValueFrom(ledger.submitAndWaitForTransaction(request));
          // observed below
          result.catch(() => undefined);
        },
      });
      view.unsubscribe();
      await expect(result).rejects.toMatchObject({ _tag: 'NotSentError' });
      expect(sandbox.updates).toEqual([]);
      // the caller knows: what is submitted now is for this participant
      expect(await lastValueFrom(ledger.submitAndWaitForTransaction(request))).toMatchObject({ _tag: 'Transaction' });
    },
  );

  it.each([false, true])('emits what the parties of readAs see; response lost: %p', async (isLost) => {
    const { sandbox, alice } = await withParties();
    const [carol, dora] = ['carol', 'dora'].map((hint) => sandbox.hostedParty(hint)) as [string, string];
    const ledger = createLedger({ baseUrl: sandbox.url });
    const transfer = (contractId: string, newOwner: string) => exerciseAsset(contractId, 'Transfer', { newOwner });
    const submit = async (request: Pick<CommandsRequest, 'actAs' | 'readAs' | 'commands'>) =>
      (await lastValueFrom(ledger.submitAndWaitForTransaction({ userId: 'app', ...request }))).events;
    const created = (events: readonly TransactionEvent[]): string =>
      events.flatMap((event) => (event._tag === 'CreatedEvent' ? event.contractId : []))[0] ?? '';
    const first = created(await submit({ actAs: [carol], commands: [createAsset(carol)] }));
    const second = created(await submit({ actAs: [carol], commands: [transfer(first, alice)] }));
    if (isLost) sandbox.fault({ kind: 'reset', when: 'after' }, { path: transactionPath });
    // of the two, only carol sees the new contract
    const events = await submit({ actAs: [alice], readAs: [carol], commands: [transfer(second, dora)] });
    expect(events.map(({ _tag }) => _tag)).toEqual(['ArchivedEvent', 'CreatedEvent']);
  });
});
