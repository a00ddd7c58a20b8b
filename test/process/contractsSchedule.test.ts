import { describe, expect, it } from '@jest/globals';
import type { HandlerResult } from '../../src/process/ProcessOptions.js';
import fc from 'fast-check';
import { concatMap, defer, from, type Observable, takeUntil, tap, timer } from 'rxjs';
import type { ContractsChanged } from '../../src/contracts/ContractChange.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import { processFeed } from '../../src/process/processFeed.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { type ContractsWorld, contractsWorld, positionIn } from './contractsSupport.js';
import { mockPlatform, name } from './support.js';
import { MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

/** What one life of a processor meets. */
interface Life {
  /** How many contracts each new update creates, and how many of those before it archives. */
  readonly updates: readonly { readonly created: number; readonly archived: number }[];
  /** How many of the last updates are left when the ledger is pruned; `undefined` if it is not. */
  readonly pruned: number | undefined;
  readonly batchSize: number;
  readonly commitEvery: number;
  readonly handlerMs: number;
  /** After how many works the handler fails once; none if it is beyond the works. */
  readonly failsAt: number;
  /** When the processor is killed, in milliseconds. */
  readonly killedAfterMs: number;
}

const lives: fc.Arbitrary<readonly Life[]> = fc.array(
  fc.record({
    updates: fc.array(fc.record({ created: fc.nat(4), archived: fc.nat(3) }), { maxLength: 6 }),
    pruned: fc.option(fc.nat(4), { nil: undefined }),
    batchSize: fc.integer({ min: 1, max: 4 }),
    commitEvery: fc.integer({ min: 1, max: 4 }),
    handlerMs: fc.constantFrom(0, 1, 40),
    failsAt: fc.nat(12),
    // never at the moment of a commit: this store does not keep the next life waiting until the one before has ended
    killedAfterMs: fc.integer({ min: 1, max: 600 }).map((ms) => ms + 0.5),
  }),
  { minLength: 1, maxLength: 6 },
);

/** Commits updates, and remembers the contracts after each. */
class Truth {
  private readonly states = new Map<number, readonly string[]>([[0, []]]);
  private contracts: readonly string[] = [];
  private count = 0;

  grow({ commit, ledger }: ContractsWorld, { updates, pruned }: Life): void {
    for (const { created, archived } of updates) {
      const ids = Array.from({ length: created }, () => `c${(this.count += 1)}`);
      const gone = this.contracts.slice(0, archived);
      this.contracts = [...this.contracts.slice(archived), ...ids];
      commit(ledger.end + 1, ids, gone);
      this.states.set(ledger.end, this.contracts);
    }
    if (pruned !== undefined) ledger.pruned = Math.max(ledger.pruned, ledger.end - pruned);
  }

  at(offset: number): readonly string[] | undefined {
    return this.states.get(offset);
  }
}

/** The effects of a handler in a transaction: 0 removes everything, a number adds a contract, and its negative removes it. */
function effectsOf(work: ContractsWork): readonly number[] {
  const numbers = (contracts: ContractsChanged['added']): number[] =>
    contracts.map(({ contractId }) => Number(contractId.slice(1)));
  if (work._tag === 'ResetBatch') return [...(work.isFirst ? [0] : []), ...numbers(work.contracts)];
  return [...numbers(work.removed).map((id) => -id), ...numbers(work.added)];
}

/** The table after some effects, none of which may add what is there or remove what is not. */
function tableAfter(effects: readonly number[]): readonly string[] {
  const ids = new Set<number>();
  for (const effect of effects) {
    if (effect === 0) ids.clear();
    else if (effect > 0 && !ids.has(effect)) ids.add(effect);
    else if (!ids.delete(-effect)) throw new Error(`${effect} is out of place`);
  }
  return [...ids].map((id) => `c${id}`);
}

/** Plays the lives of a processor one after another, and checks its table at each commit. */
function play(all: readonly Life[]): void {
  const truth = new Truth();
  const store = new MemoryTransactions();
  const check = (): void => {
    const position = positionIn(store.cursor);
    if (position?.offset === undefined || position.loading !== undefined) return;
    const table = tableAfter(store.committed.effects);
    expect({ position, table: table.toSorted() }).toEqual({ position, table: truth.at(position.offset)?.toSorted() });
  };
  marbles(({ flush }) => {
    const world = contractsWorld();
    const live = (life: Life): Observable<unknown> =>
      defer(() => {
        truth.grow(world, life);
        let works = 0;
        const handler = (work: ContractsWork, { effects }: Tx): HandlerResult => {
          works += 1;
          if (works === life.failsAt) throw new Error('busy');
          effects.push(...effectsOf(work));
          return life.handlerMs === 0 ? undefined : timer(life.handlerMs);
        };
        const { batchSize, commitEvery: updates } = life;
        const options = { store, name, commitEvery: { updates }, stopWithinMs: 0 };
        return processFeed(world.contractsFeed({ batchSize }), handler, options).pipe(tap(check));
      }).pipe(takeUntil(timer(life.killedAfterMs)));
    const seen = observe(from([...all, atRest]).pipe(concatMap(live)));
    flush();
    expect(seen.error).toBeUndefined();
    expect(positionIn(store.cursor)).toEqual({ offset: world.ledger.end });
    check();
  });
}

/** A life without trouble. */
const atRest: Life = {
  updates: [],
  pruned: undefined,
  batchSize: 3,
  commitEvery: 9,
  handlerMs: 0,
  failsAt: 0,
  killedAfterMs: 60_000,
};

describe('a table of contracts', () => {
  it('is that of the ledger at each commit that is no part of a load, whenever its processor is killed', () => {
    fc.assert(fc.property(lives, play), { numRuns: effort(30, 1_000) });
  });
});
