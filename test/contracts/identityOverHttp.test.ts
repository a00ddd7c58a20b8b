import { afterEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, mergeMap, takeWhile } from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { contractsFeed, memoryStore, processFeed } from '../../src/process/index.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { until } from '../helpers/time.js';

let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
});

const idsOf = (contracts: Iterable<AnyContract>): string[] => [...contracts].map(({ contractId }) => contractId).sort();

const retry = { baseDelayMs: 10, maxDelayMs: 50 };

describe('a view whose ledger is replaced while it is live', () => {
  it.each([
    ['by that of another participant', 0, `participant2::1220${'22'.repeat(32)}`, undefined],
    ['by a reset one of the same participant', 0, undefined, undefined],
    ['by a backup that has grown past it', 90, undefined, undefined],
    ['by a reset one, over a WebSocket', 0, undefined, webSocketTransport()],
  ] as const)('is loaded again as a whole, %s', async (_, kept, participantId, transport) => {
    sandbox = await startSandbox({ profile: '3.6' });
    sandbox.generate(100, { seed: 1 });
    const ledger = createLedger({ baseUrl: sandbox.url, retry, transport });
    const { state$, changes$ } = liveContracts(ledger, { parties: 'any' });
    const resets: string[] = [];
    let shown: readonly string[] = [];
    const subscription = changes$.subscribe((change) => {
      if (change._tag === 'Reset') resets.push(change.reason);
    });
    subscription.add(
      state$.subscribe((state) => {
        if (state.data === 'live') shown = idsOf(state.contracts);
      }),
    );
    await until(() => shown.length > 0);
    const old = new Set(shown);
    await sandbox.restart({
      ...(participantId !== undefined && { participantId }),
      whileDown: () => {
        sandbox?.restore(kept);
        sandbox?.generate(200 - kept, { seed: 2 });
      },
    });
    await until(() => resets.includes('ledgerReset'));
    const fresh = liveContracts(createLedger({ baseUrl: sandbox.url }), { parties: 'any' });
    const expected = await firstValueFrom(
      fresh.state$.pipe(mergeMap((state) => (state.data === 'live' ? [idsOf(state.contracts)] : []))),
    );
    await until(() => shown.join() === expected.join());
    expect(resets).toEqual(['start', 'ledgerReset']);
    expect(expected.every((id) => old.has(id))).toBe(false);
    subscription.unsubscribe();
  });
});

describe('a processor of contracts whose ledger is replaced while it runs', () => {
  it('loads those of the other participant, and continues after a restart', async () => {
    sandbox = await startSandbox({ profile: '3.6' });
    sandbox.generate(100, { seed: 1 });
    const ledger = createLedger({ baseUrl: sandbox.url, retry });
    const store = memoryStore();
    const resets: string[] = [];
    const committed$ = processFeed(
      contractsFeed(ledger, { parties: 'any' }),
      (work) => {
        if (work._tag === 'ResetBatch' && work.isLast) resets.push(work.reason);
      },
      { name: 'contracts', store },
    );
    const caughtUp = () => firstValueFrom(committed$.pipe(filter(({ isCaughtUp }) => isCaughtUp)));
    const running = lastValueFrom(committed$.pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp || resets.length < 2)));
    await until(() => resets.length === 1);
    await sandbox.restart({
      participantId: `participant2::1220${'22'.repeat(32)}`,
      whileDown: () => {
        sandbox?.restore(0);
        sandbox?.generate(200, { seed: 2 });
      },
    });
    await running;
    expect(resets).toEqual(['start', 'ledgerReset']);
    await caughtUp();
    expect(resets).toHaveLength(2);
  });
});
