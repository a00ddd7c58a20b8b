import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BehaviorSubject } from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { contractsFor } from '../../src/contracts/contractsFor.js';
import type { LiveState } from '../../src/contracts/LiveState.js';
import { remoteContracts } from '../../src/sse/index.js';
import { effort } from '../helpers/effort.js';
import { observe, type Observed } from '../helpers/observe.js';
import { stopClock } from '../helpers/time.js';
import { AppServer, settle, url } from './remoteSupport.js';
import { alice, bob, carol, contract, secretOf, ServerView } from './support.js';

const everybody = [alice, bob, carol] as const;
const some = (minLength: number): fc.Arbitrary<string[]> => fc.subarray([...everybody], { minLength });

/** What happens next. Numbers choose among what there is. */
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      add: fc.array(some(1), { maxLength: 2 }),
      remove: fc.array(fc.nat(9), { maxLength: 1 }),
      move: fc.array(fc.nat(9), { maxLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('parties' as const), user: fc.nat(1), parties: some(0) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), page: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stall' as const), page: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), user: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), isReplaced: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lag' as const), isCaughtUp: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const) }) },
);

const anyPlan = fc.record({
  steps: fc.array(anyStep, { minLength: 4, maxLength: 30 }),
  maxBuffered: fc.constantFrom(1, 2, 5, 1_000),
  keepMs: fc.constantFrom(0, 0, 100, Infinity),
  // how many bytes arrive at once; 0 is the end of a connection
  pieces: fc.array(fc.oneof({ weight: 30, arbitrary: fc.integer({ min: 1, max: 3_000 }) }, fc.constant(0)), {
    minLength: 1,
    maxLength: 40,
  }),
});

/** A text that is the same for equal values, whatever the order of their fields. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

const textOfAll = (contracts: Iterable<AnyContract>): string => Array.from(contracts, textOf).sort().join('\n');

/** Everything that a user has ever had, in order: an offset and the contracts. */
class Truth {
  readonly moments: { readonly offset: number; readonly contracts: string }[] = [];
  private readonly contracts = new Map<string, AnyContract>();

  add(change: ContractChange): void {
    if (change._tag === 'Reset') {
      this.contracts.clear();
      for (const each of change.contracts) this.contracts.set(each.contractId, each);
    }
    if (change._tag === 'ContractsChanged') {
      for (const { contractId } of change.removed) this.contracts.delete(contractId);
      for (const each of [...change.added, ...change.moved.map((move) => move.contract)])
        this.contracts.set(each.contractId, each);
    }
    this.mark(change.offset);
  }

  /** At this offset, the user has what they had before. */
  mark(offset: number): void {
    this.moments.push({ offset, contracts: textOfAll(this.contracts.values()) });
  }
}

/** A user of the server, with two pages. */
interface User {
  readonly parties$: BehaviorSubject<readonly string[]>;
  readonly had: Set<string>;
  readonly truth: Truth;
  readonly pages: readonly Page[];
}

interface Page {
  readonly server: AppServer;
  readonly states: Observed<LiveState>;
  readonly changes: Observed<ContractChange>;
  isStalled: boolean;
}

/** Fails if a page has shown anything but what the user had, in this order. Returns the last moment that it has shown. */
function checkPage({ states, changes }: Page, { moments }: Truth): void {
  expect([states.error, changes.error]).toEqual([undefined, undefined]);
  let index = 0;
  for (const state of states.values) {
    if (state.data === 'loading') continue;
    const contracts = textOfAll(state.contracts);
    const found = moments.findIndex(
      (moment, at) => at >= index && moment.offset === state.offset && moment.contracts === contracts,
    );
    if (found < 0) expect({ offset: state.offset, contracts, after: index }).toEqual(moments.slice(index));
    index = found;
  }
  const last = states.values.at(-1);
  const sum = new Truth();
  for (const change of changes.values) sum.add(change);
  if (last !== undefined && last.data !== 'loading')
    expect(sum.moments.at(-1)?.contracts).toBe(textOfAll(last.contracts));
}

describe('a page', () => {
  it('has exactly what its user had at the place that it has reached, and nothing of another user is sent to it (G81)', async () => {
    const { advance } = stopClock();
    await fc.assert(
      fc.asyncProperty(anyPlan, async ({ steps, maxBuffered, keepMs, pieces }) => {
        const server = new ServerView();
        let piece = 0;
        const options = { maxBuffered, keepMs, heartbeatMs: 50 };
        const users = [alice, bob].map((party): User => {
          const parties$ = new BehaviorSubject<readonly string[]>([party]);
          const truth = new Truth();
          contractsFor(server.live, parties$).changes$.subscribe((change) => {
            truth.add(change);
          });
          const view = contractsFor(server.live, parties$);
          const pages = [0, 1].map((): Page => {
            const app = new AppServer(view, options);
            const { state$, changes$ } = remoteContracts(
              url,
              {},
              { fetch: app.fetch, idleTimeoutMs: 400, retry: { baseDelayMs: 20, maxDelayMs: 100 } },
            );
            const page: Page = { server: app, states: observe(state$), changes: observe(changes$), isStalled: false };
            app.line = {
              isStalled: () => page.isStalled,
              nextBytes: () => {
                piece += 1;
                return pieces[piece % pieces.length] ?? 1;
              },
            };
            return page;
          });
          return { parties$, had: new Set([party]), truth, pages };
        });
        const pages = users.flatMap((user) => user.pages);
        const partiesOf = new Map<string, readonly string[]>();
        let created = 0;
        const create = (parties: readonly string[]): AnyContract => {
          created += 1;
          const contractId = `00c${created}`;
          partiesOf.set(contractId, parties);
          return contract(contractId, parties, { offset: server.offset + 1 });
        };
        const chosen = (numbers: readonly number[]): string[] =>
          numbers.flatMap(
            (number) => server.contracts[number % Math.max(1, server.contracts.length)]?.contractId ?? [],
          );
        server.reset([create([alice]), create([bob]), create([alice, bob]), create([carol])]);
        for (const step of steps) {
          await settle(2);
          switch (step.kind) {
            case 'change': {
              const remove = chosen(step.remove);
              const move = chosen(step.move).filter((id) => !remove.includes(id));
              server.change({ add: step.add.map(create), remove, move });
              break;
            }
            case 'parties': {
              const user = users[step.user];
              for (const party of step.parties) user?.had.add(party);
              user?.parties$.next(step.parties);
              break;
            }
            case 'cut':
              pages[step.page]?.server.cut();
              break;
            case 'stall': {
              const page = pages[step.page];
              if (page === undefined) break;
              page.isStalled = !page.isStalled;
              page.server.resume();
              break;
            }
            case 'wait':
              await advance(step.ms);
              break;
            case 'restart': {
              const user = users[step.user];
              if (user === undefined) break;
              const view = contractsFor(server.live, user.parties$);
              for (const page of user.pages) {
                page.server.live = view;
                page.server.cut();
              }
              break;
            }
            case 'reset': {
              const contracts = step.isReplaced ? [create([alice, bob])] : server.contracts.slice(1);
              server.reset(contracts, step.isReplaced ? 'ledgerReset' : 'pruned', step.isReplaced ? 1 : undefined);
              break;
            }
            case 'lag':
              server.catchUp(step.isCaughtUp);
              break;
            case 'checkpoint':
              server.checkpoint();
          }
          // a view that begins now is at the offset of the server, also if that changed nothing for it
          for (const { truth } of users) truth.mark(server.offset);
        }
        server.catchUp(true);
        for (const page of pages) {
          page.isStalled = false;
          page.server.line = {};
          page.server.resume();
        }
        for (let turn = 0; turn < 10; turn += 1) {
          await settle(3);
          await advance(100);
        }
        await settle(5);
        for (const { pages: own, truth, had } of users)
          for (const page of own) {
            checkPage(page, truth);
            const last = page.states.values.at(-1);
            if (last?.data !== 'live') throw new Error(`not live: ${JSON.stringify(last)}`);
            expect(textOfAll(last.contracts)).toBe(truth.moments.at(-1)?.contracts);
            const sent = page.server.sent.join('');
            for (const [contractId, parties] of partiesOf) {
              const isSeen = parties.some((party) => had.has(party));
              if (!isSeen) expect([contractId, sent.includes(secretOf(contractId))]).toEqual([contractId, false]);
              if (!isSeen) expect(sent).not.toContain(`"${contractId}"`);
            }
          }
        for (const { states, changes } of pages)
          for (const { subscription } of [states, changes]) subscription.unsubscribe();
        await advance(101);
        server.end();
      }),
      { numRuns: effort(60, 2_000, 80) },
    );
  });
});
