import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, takeWhile, tap } from 'rxjs';
import { contractChanges, liveContracts } from '../../../src/contracts/index.js';
import { createLedger, ledgerEffects, type LedgerOptions } from '../../../src/index.js';
import { contractsFeed, memoryStore, processFeed, updatesFeed } from '../../../src/process/index.js';
import { type Sandbox, type SandboxProfile, startSandbox } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { undiciPort } from '../../../src/undici/index.js';
import { webSocketTransport } from '../../../src/ws/index.js';
import { observe } from '../../helpers/observe.js';
import { until } from '../../helpers/time.js';
import { campaignRuns, checkInLanes } from './runs.js';

const hours = 3_600_000;

/** Another ledger takes the place of the first while readers catch up or follow. */
interface Replacement {
  readonly profile: SandboxProfile;
  readonly client: Pick<LedgerOptions, 'port' | 'transport'>;
  readonly isSameParticipant: boolean;
  /** After how many requests. */
  readonly afterRequests: number;
  readonly seed: number;
  readonly updates: number;
}

const replacement: fc.Arbitrary<Replacement> = fc.record({
  profile: fc.constantFrom<SandboxProfile>('3.3', '3.4', '3.5', '3.6', '3.7'),
  client: fc.constantFrom({}, { port: undiciPort() }, { transport: webSocketTransport() }),
  isSameParticipant: fc.boolean(),
  afterRequests: fc.integer({ min: 1, max: 30 }),
  seed: fc.integer({ min: 1, max: 1_000 }),
  updates: fc.integer({ min: 30, max: 150 }),
});

/** Restarts the ledger, and then puts another one in its place that has grown past the first. */
async function replace(sandbox: Sandbox, { isSameParticipant, seed }: Replacement): Promise<void> {
  const end = sandbox.ledgerEnd;
  await sandbox.restart({
    ...(!isSameParticipant && { participantId: 'second::1220ab' }),
    // longer than a feed waits between two polls
    downMs: 1_100,
    whileDown: () => {
      sandbox.restore(0);
      while (sandbox.ledgerEnd <= end + 20) sandbox.generate(20, { seed: seed + 5_000 });
    },
  });
}

/** Starts a sandbox, runs a test against it, and closes it. */
async function withLedger(given: Replacement, test: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await startSandbox({
    profile: given.profile,
    participantId: 'first::1220ab',
    maxListElements: 1_000,
  });
  try {
    sandbox.generate(given.updates, { seed: given.seed });
    await test(sandbox);
  } finally {
    await sandbox.close();
  }
}

const connect = (sandbox: Sandbox, { client }: Replacement) =>
  createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5, maxDelayMs: 50 }, ...client });

/** All contract ids of a ledger, and all ids of its updates. */
const contractIds = ({ updates }: Sandbox) =>
  new Set(Array.from(JSON.stringify(updates).matchAll(/"contractId":"([^"]+)"/g), ([, id = '']) => id));
const updateIds = ({ updates }: Sandbox) => updates.map((update) => updateValue(update).updateId);

describe('where another ledger takes the place of the first', () => {
  it(
    'a view never has contracts of both, and ends with those of the second (G30)',
    async () => {
      const { seed, numRuns } = campaignRuns(4, 60);
      const property = fc.asyncProperty(replacement, (given) =>
        withLedger(given, async (sandbox) => {
          const ledger = connect(sandbox, given);
          const states: (readonly string[])[] = [];
          let isLive = false;
          const seen = observe(
            liveContracts(ledger, { parties: 'any' }).state$.pipe(
              tap((state) => {
                isLive = state.data === 'live';
                if (state.data !== 'loading') states.push([...state.contracts].map(({ contractId }) => contractId));
              }),
            ),
          );
          await until(() => sandbox.requests.length >= given.afterRequests || isLive);
          const first = contractIds(sandbox);
          await replace(sandbox, given);
          const second = contractIds(sandbox);
          const fresh = await lastValueFrom(
            contractChanges(createLedger({ baseUrl: sandbox.url }), { parties: 'any' }).pipe(
              takeWhile(({ _tag }) => _tag !== 'Reset', true),
            ),
          );
          const expected = fresh._tag === 'Reset' ? fresh.contracts.map(({ contractId }) => contractId).sort() : [];
          await until(() => isLive && states.at(-1)?.toSorted().join() === expected.join());
          seen.subscription.unsubscribe();
          for (const ids of states)
            expect([ids.every((id) => first.has(id)), ids.every((id) => second.has(id))]).toContain(true);
        }),
      );
      await checkInLanes(property, { runs: numRuns, seed, lanes: 4 });
    },
    hours,
  );

  it(
    'a processor handles nothing of the second, and ends with a CursorError (G46)',
    async () => {
      const { seed, numRuns } = campaignRuns(4, 60);
      const property = fc.asyncProperty(replacement, (given) =>
        withLedger(given, async (sandbox) => {
          const ledger = connect(sandbox, given);
          const handled: string[] = [];
          const rows = new Set<string>();
          const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
          let caughtUp = 0;
          const log = observe(
            processFeed(
              updatesFeed(ledger, request),
              (update) => {
                if ('updateId' in update) handled.push(update.updateId);
              },
              {
                name: 'log',
                store: memoryStore(),
              },
            ).pipe(tap(({ isCaughtUp }) => (caughtUp |= isCaughtUp ? 1 : 0))),
          );
          const table = observe(
            processFeed(
              contractsFeed(ledger, { parties: 'any', onGap: 'fail' }),
              (work) => {
                for (const { contractId } of work._tag === 'ResetBatch' ? work.contracts : work.added)
                  rows.add(contractId);
              },
              { name: 'table', store: memoryStore() },
            ).pipe(tap(({ isCaughtUp }) => (caughtUp |= isCaughtUp ? 2 : 0))),
          );
          await until(() => caughtUp === 3);
          const [first, firstContracts] = [updateIds(sandbox), contractIds(sandbox)];
          await replace(sandbox, given);
          await until(() => log.error !== undefined && table.error !== undefined);
          expect(handled).toEqual(first);
          expect([...rows].every((id) => firstContracts.has(id))).toBe(true);
          expect([log.error, table.error]).toMatchObject([{ _tag: 'CursorError' }, { _tag: 'CursorError' }]);
        }),
      );
      await checkInLanes(property, { runs: numRuns, seed, lanes: 4 });
    },
    hours,
  );
});
