import { describe, expect, it } from '@jest/globals';
import { EMPTY, of, tap, throwError, timer } from 'rxjs';
import { connectionOf, withConnection } from '../../src/ledger/connection.js';
import { contractsFeed, type ContractsWork } from '../../src/process/contractsFeed.js';
import type { Cursor } from '../../src/process/CheckpointStore.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { processFeed } from '../../src/process/processFeed.js';
import type { HandlerResult } from '../../src/process/ProcessOptions.js';
import { isReady, toStatus } from '../../src/process/ProcessStatus.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe, type Observed } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { updateFormat } from '../helpers/world.js';
import { checkpoint, errorBody, errorReply } from '../helpers/wire.js';
import { type ContractsWorld, contractsTable, contractsWorld, describeWork, positionIn } from './contractsSupport.js';
import { mockPlatform, name, PlainStore, until } from './support.js';
import { MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const each = { commitEvery: { updates: 1 } };
const positions = ({ saves }: PlainStore) => saves.map(positionIn);

/** Runs a processor on a ledger for some time. */
function run(
  prepare: (world: ContractsWorld) => void,
  {
    store = new PlainStore(),
    batchSize = 2,
    onGap = 'reload',
    ms = 20_000,
    table = contractsTable(),
    ...options
  }: {
    readonly store?: PlainStore;
    readonly batchSize?: number;
    readonly onGap?: 'reload' | 'fail';
    readonly ms?: number;
    readonly table?: ReturnType<typeof contractsTable>;
    readonly commitEvery?: { readonly updates: number };
    readonly handle?: (work: ContractsWork) => HandlerResult;
    readonly signal?: AbortSignal;
    readonly handlerRetry?: { readonly giveUpAfterMs: number };
    readonly participantId?: string;
    readonly counters?: Readonly<Record<string, number>>;
  } = {},
) {
  let seen: Observed<{ readonly offset: number; readonly isCaughtUp: boolean }> | undefined;
  let snapshots: readonly number[] = [];
  const { handle = table.handle, participantId, counters, ...rest } = options;
  marbles(({ flush }) => {
    const world = contractsWorld(participantId === undefined ? {} : { participantId }, counters);
    ({ snapshots } = world);
    prepare(world);
    const feed = world.contractsFeed({ batchSize }, { onGap });
    seen = observe(processFeed(feed, handle, { store, name, ...rest }).pipe(until(ms)));
    flush();
    expect(world.service.open).toBe(0);
  });
  return {
    store,
    table,
    works: table.works,
    ids: [...table.ids],
    snapshots,
    commits: seen?.values ?? [],
    error: seen?.error,
    isCompleted: seen?.completed ?? false,
  };
}

/** Five contracts, of which one is archived, at offset 6. */
const five = ({ commit }: ContractsWorld): void => {
  commit(2, ['a', 'b', 'c']);
  commit(4, ['d', 'e', 'f']);
  commit(6, [], ['b']);
};

/** The store of a processor that has them. */
const storeAt6 = (): PlainStore => new PlainStore().withRecord(run(five).store.cursor);

const archiveAll = ({ commit }: ContractsWorld): void => {
  commit(1, ['a']);
  commit(3, [], ['a']);
};

describe('contracts to work on', () => {
  it('come in batches, and then as the changes of each update', () => {
    const { works, ids, commits } = run((world) => {
      five(world);
      timer(10_000).subscribe(() => {
        world.commit(8, ['g'], ['a']);
        world.commit(9, ['h']);
      });
    });
    expect(works).toEqual(['start@6[a c', 'start@6 d e', 'start@6 f]', '@8+g-a', '@9+h']);
    expect(ids).toEqual(['c', 'd', 'e', 'f', 'g', 'h']);
    expect(commits.at(-1)).toMatchObject({ offset: 9, isCaughtUp: true });
  });

  it('are complete at their offset only after the last batch (pitfall 53)', () => {
    const { store } = run(five, each);
    expect(positions(store).slice(0, 4)).toEqual([
      { offset: 0, loading: 0 },
      { offset: 0, loading: 1, reason: 'start' },
      { offset: 0, loading: 2, reason: 'start' },
      { offset: 6 },
    ]);
    expect(positionIn(store.cursor)).toEqual({ offset: 6 });
  });

  it.each([
    ['on an empty ledger', (): void => undefined, 0],
    ['if all of them are archived', archiveAll, 3],
  ])('are one empty batch %s, and changes follow', (_, prepare, offset) => {
    const { works, store } = run((world) => {
      prepare(world);
      timer(10_000).subscribe(() => {
        world.commit(offset + 1, ['g']);
      });
    });
    expect(works).toEqual([`start@${offset}[]`, `@${offset + 1}+g`]);
    expect(positions(store)[1]).toEqual({ offset });
  });

  it.each([
    [1, 2],
    [4, 4],
    [5, 4],
    [5, 5],
    [6, 5],
  ])('are %i in batches of %i', (count, batchSize) => {
    const all = Array.from({ length: count }, (_, index) => `c${index}`);
    const { works, ids } = run(
      ({ commit }) => {
        commit(1, all);
      },
      { batchSize },
    );
    expect(works).toHaveLength(Math.ceil(count / batchSize));
    expect(works.filter((work) => work.includes('['))).toHaveLength(1);
    expect(works.filter((work) => work.includes(']'))).toHaveLength(1);
    expect(ids).toEqual(all);
  });

  it('are given to a handler of batches, too', () => {
    const got: string[][] = [];
    marbles(({ flush }) => {
      const world = contractsWorld();
      five(world);
      const batch = { size: 2, withinMs: 100 };
      observe(
        processFeed(world.contractsFeed({ batchSize: 2 }), (works) => void got.push(works.map(describeWork)), {
          batch,
        }).pipe(until(10_000)),
      );
      flush();
    });
    expect(got).toEqual([['start@6[a c', 'start@6 d e'], ['start@6 f]']]);
  });

  it('move the cursor with checkpoints, which the handler does not get', () => {
    const { works, store } = run((world) => {
      five(world);
      timer(10_000).subscribe(() => {
        world.ledger.append(12, checkpoint(12));
      });
    });
    expect(works).toHaveLength(3);
    expect(store.cursor).toMatchObject({ offset: 12, recordTimes: { 'sync1::1220ab': expect.any(String) } });
  });
});

describe('a processor of contracts that is restarted', () => {
  it('in the middle of a load begins it again from a clean state (pitfall 53)', () => {
    const first = run(five, { ...each, ...failAfter(2) });
    expect(first.error).toMatchObject({ _tag: 'HandlerError', offset: 6 });
    expect(positionIn(first.store.cursor)).toEqual({ offset: 0, loading: 2, reason: 'start' });
    const table = contractsTable();
    table.ids.add('x');
    const { works, ids, store } = run(
      (world) => {
        five(world);
        world.commit(7, [], ['c']);
      },
      { store: new PlainStore().withRecord(first.store.cursor), table },
    );
    expect(works).toEqual(['start@7[a d', 'start@7 e f]']);
    expect(ids).toEqual(['a', 'd', 'e', 'f']);
    expect(positionIn(store.cursor)).toEqual({ offset: 7 });
  });

  it('after the load gets only the changes after its cursor (pitfall 54)', () => {
    const { works, snapshots, store } = run(
      (world) => {
        five(world);
        world.commit(7, ['g'], ['d']);
      },
      { store: storeAt6() },
    );
    expect(works).toEqual(['@7+g-d']);
    expect(snapshots).toEqual([6]);
    expect(positionIn(store.cursor)).toEqual({ offset: 7 });
  });

  it('gets the last value of a contract that was archived meanwhile', () => {
    const removed: unknown[] = [];
    run(
      (world) => {
        five(world);
        world.commit(7, [], ['d']);
      },
      {
        store: storeAt6(),
        handle: (work) => {
          if (work._tag === 'ContractsChanged') removed.push(...work.removed.map(({ createdEvent }) => createdEvent));
        },
      },
    );
    expect(removed).toMatchObject([{ contractId: 'd', createArgument: { size: 7 } }]);
  });

  it('resumes from a record with null in place of what is absent', () => {
    const record = { ...storeAt6().cursor, loading: null, reason: null };
    const { works, error } = run(five, { store: new PlainStore().withRecord(record) });
    expect(works).toEqual([]);
    expect(error).toBeUndefined();
  });

  it('keeps no sign of a load in a store that keeps undefined', () => {
    const store = memoryStore();
    marbles(({ flush }) => {
      const world = contractsWorld();
      five(world);
      const feed = world.contractsFeed({ batchSize: 2 });
      observe(processFeed(feed, () => undefined, { store, name, ...each }).pipe(until(10_000)));
      flush();
    });
    const [record] = store.load(name) as readonly Cursor[];
    expect(positionIn(record)).toEqual({ offset: 6 });
  });
});

describe('a processor of contracts whose ledger was pruned after its cursor', () => {
  const pruned = (world: ContractsWorld): void => {
    five(world);
    world.commit(8, ['g'], ['a']);
    world.commit(9, [], ['c']);
    world.ledger.pruned = 8;
  };

  it('gets all contracts again, and counts as incomplete until it has them', () => {
    const { works, store } = run(pruned, { store: storeAt6(), ...each });
    expect(works).toEqual(['pruned@9[d e', 'pruned@9 f g]']);
    expect(positions(store)).toEqual([
      { offset: 0, loading: 0, reason: 'pruned' },
      { offset: 0, loading: 1, reason: 'pruned' },
      { offset: 9 },
    ]);
  });

  it('keeps the reason if that load is interrupted', () => {
    const first = run(pruned, { store: storeAt6(), ...each, ...failAfter(1) });
    const { works } = run(pruned, { store: new PlainStore().withRecord(first.store.cursor) });
    expect(works).toEqual(['pruned@9[d e', 'pruned@9 f g]']);
  });

  it('is not ready before it has them', () => {
    const ready: (readonly [boolean, boolean])[] = [];
    const store = storeAt6();
    marbles(({ flush }) => {
      const world = contractsWorld();
      pruned(world);
      const table = contractsTable();
      const feed = world.contractsFeed({ batchSize: 1 });
      const handler = (work: ContractsWork) => {
        table.handle(work);
        return timer(2_000);
      };
      const work$ = processFeed(feed, handler, { store, name, ...each }).pipe(until(20_000));
      observe(
        work$.pipe(
          toStatus(feed.end$),
          tap((status) => {
            if (table.works.length > 0) ready.push([isReady(status, { maxLagOffsets: 5 }), table.ids.size === 4]);
          }),
        ),
      );
      flush();
    });
    expect(ready.filter(([isUp, isWhole]) => isUp && !isWhole)).toEqual([]);
    expect(ready.at(-1)).toEqual([true, true]);
  });

  it('loads them in one call of the handler, whatever fails, if the batches are infinite', () => {
    const committed: Tx = { effects: [], parked: new Map(), json: JSON.stringify(storeAt6().cursor) };
    const store = new MemoryTransactions(undefined, undefined, committed);
    const sizes = new Set<number>();
    let failures = 0;
    marbles(({ flush }) => {
      const world = contractsWorld();
      pruned(world);
      const handler = (work: ContractsWork, { effects }: Tx) => {
        if (work._tag !== 'ResetBatch') return;
        effects.push(...work.contracts.map(({ offset }) => offset));
        failures += 1;
        if (failures === 1) throw new Error('busy');
      };
      for (let at = 0; at < 10_000; at += 10) timer(at).subscribe(() => sizes.add(committed.effects.length));
      observe(processFeed(world.contractsFeed({ batchSize: Infinity }), handler, { store, name }).pipe(until(20_000)));
      flush();
    });
    expect([...sizes]).toEqual([0, 4]);
    expect(positionIn(store.cursor)).toEqual({ offset: 9 });
  });

  it("ends with a PrunedError if the query says 'fail'", () => {
    const { works, error, store } = run(pruned, { store: storeAt6(), onGap: 'fail' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 8 });
    expect(positionIn(store.cursor)).toEqual({ offset: 6 });
  });
});

describe('a processor of contracts whose ledger was replaced', () => {
  /** Another ledger with the same participant id, which has other updates at the same offsets. */
  const replaced = (world: ContractsWorld): void => {
    world.commit(1, ['x', 'y', 'z']);
    world.commit(9, ['w']);
  };
  /** The store of a processor that has handled an update of the old one. */
  const storeAt7 = (): PlainStore => {
    const { store } = run(
      (world) => {
        five(world);
        world.commit(7, ['g']);
      },
      { store: storeAt6() },
    );
    return new PlainStore().withRecord(store.cursor);
  };

  it('gets all contracts again, and forgets what it knew of the old ledger', () => {
    const { works, store, ids } = run(replaced, { store: storeAt7(), ...each });
    expect(works).toEqual(['ledgerReset@9[x y', 'ledgerReset@9 z w]']);
    expect(ids).toEqual(['x', 'y', 'z', 'w']);
    expect(positions(store)).toEqual([
      { offset: 0, loading: 0, reason: 'ledgerReset' },
      { offset: 0, loading: 1, reason: 'ledgerReset' },
      { offset: 9 },
    ]);
    expect(store.cursor).not.toHaveProperty('lastUpdate');
    // so that the next restart does not find it missing again
    expect(run(replaced, { store: new PlainStore().withRecord(store.cursor) }).works).toEqual([]);
  });

  it('reports the gap at the start, with the offset from which it resumes', () => {
    let reported: Observed<Diagnostic> | undefined;
    const { store } = run(
      (world) => {
        replaced(world);
        reported = observe(world.client.diagnostics$);
      },
      { store: storeAt7() },
    );
    expect(store.cursor?.offset).toBe(9);
    expect(reported?.values.filter(({ _tag }) => _tag === 'GapFound')).toMatchObject([
      { cursor: 7, resumesFrom: 0, processor: name, cause: { _tag: 'LedgerResetError', cursor: 7 } },
    ]);
  });

  it.each([
    ['after the first load', five],
    [
      'after a load because of pruning',
      (world: ContractsWorld): void => {
        five(world);
        world.ledger.pruned = 6;
      },
    ],
  ])('%s, when no update has been handled since, gets all contracts again', (_, before) => {
    const { store, table } = run(before, before === five ? {} : { store: storeAt6() });
    expect(store.cursor).not.toHaveProperty('lastUpdate');
    const { works, ids } = run(replaced, { table, store: new PlainStore().withRecord(store.cursor) });
    expect(works.slice(-2)).toEqual(['ledgerReset@9[x y', 'ledgerReset@9 z w]']);
    expect(ids).toEqual(['x', 'y', 'z', 'w']);
  });

  it.each<[string, readonly string[], Record<string, number>, readonly string[]]>([
    ['that are the same, in another order', ['b', 'a'], { b: 1 }, []],
    ['that are fewer', ['a'], {}, ['ledgerReset@2[a]']],
    ['of which one is another', ['a', 'c'], { c: 1 }, ['ledgerReset@2[a c]']],
    ['of which one was reassigned', ['a', 'b'], { b: 2 }, ['ledgerReset@2[a b]']],
  ])('by one with contracts %s, after the first load, is recognized by them', (_, ids, counters, expected) => {
    const load = (contracts: readonly string[], options: Parameters<typeof run>[1]) =>
      run(({ commit }) => {
        commit(2, contracts);
      }, options);
    const { store } = load(['a', 'b'], { counters: { b: 1 } });
    expect(load(ids, { counters, store: new PlainStore().withRecord(store.cursor) }).works).toEqual(expected);
  });

  it('goes on after the first load if the contracts are the same, also past checkpoints', () => {
    const quiet = (world: ContractsWorld): void => {
      five(world);
      world.ledger.append(7, checkpoint(7));
    };
    const { store } = run(quiet);
    const { works } = run(
      (world) => {
        quiet(world);
        world.commit(8, ['g']);
      },
      { store: new PlainStore().withRecord(store.cursor) },
    );
    expect(works).toEqual(['@8+g']);
  });

  it('is not ready while the contracts of the new one are read', () => {
    const states: string[] = [];
    marbles(({ flush }) => {
      const world = contractsWorld({
        fault: ({ path }) =>
          path.startsWith('/v2/state/active-contracts') && world.ledger.end === 4
            ? of(errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1)))
            : undefined,
      });
      five(world);
      world.commit(7, ['g']);
      timer(10_000).subscribe(() => {
        world.restore(4);
      });
      const feed = world.contractsFeed();
      const work$ = processFeed(feed, () => undefined, { store: new PlainStore(), name }).pipe(until(100_000));
      observe(
        work$.pipe(
          toStatus(feed.end$),
          tap((status) => states.push(`${status.state} ${isReady(status)}`)),
        ),
      );
      flush();
    });
    expect(states).toContain('caughtUp true');
    expect(states.at(-1)).toBe('catchingUp false');
  });

  it('is told so by a batch of its own', () => {
    const got: (readonly string[])[] = [];
    marbles(({ flush }) => {
      const world = contractsWorld();
      five(world);
      timer(70_000).subscribe(() => {
        world.commit(12, ['g']);
      });
      timer(71_000).subscribe(() => {
        world.restore(4);
      });
      const batch = { size: 50, withinMs: 60_000 };
      const handler = (works: readonly ContractsWork[]) => {
        got.push(works.map(describeWork));
      };
      const options = { store: new PlainStore(), name, batch };
      observe(processFeed(world.contractsFeed({ batchSize: 10 }), handler, options).pipe(until(400_000)));
      flush();
    });
    expect(got).toEqual([['start@6[a c d e f]'], ['@12+g'], ['ledgerReset@4[a b c d e f]']]);
  });

  it('has no reason where its store has null for what is absent', () => {
    const record = { ...run(five, { ...each, ...failAfter(0) }).store.cursor, reason: null, digest: null };
    const { works } = run(five, { store: new PlainStore().withRecord(record) });
    expect(works[0]).toBe('start@6[a c');
  });

  it("is refused with a CursorError if the query says 'fail'", () => {
    const { works, error } = run(replaced, { store: storeAt7(), onGap: 'fail' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
  });

  it('and ends before its cursor, gets all contracts again', () => {
    const { works, store, error } = run(
      ({ commit }) => {
        commit(3, ['x']);
      },
      { store: storeAt7(), ms: 60_000 },
    );
    expect(error).toBeUndefined();
    expect(works).toEqual(['ledgerReset@3[x]']);
    expect(positionIn(store.cursor)).toEqual({ offset: 3 });
    expect(store.cursor).not.toHaveProperty('lastUpdate');
  });

  it('by an older backup while it runs, gets all contracts again', () => {
    const { works, store, error, ids } = run(
      (world) => {
        five(world);
        world.commit(7, ['g']);
        timer(10_000).subscribe(() => {
          world.restore(4);
        });
      },
      { ms: 60_000, batchSize: 10 },
    );
    expect(error).toBeUndefined();
    expect(works).toEqual(['start@7[a c d e f g]', 'ledgerReset@4[a b c d e f]']);
    expect(ids).toHaveLength(6);
    expect(positionIn(store.cursor)).toEqual({ offset: 4 });
  });

  it.each([
    ['by a restored one', 'participant1::1220ab', 0, 0],
    ['by that of another participant', 'other::1220ab', 0, 0],
    ['by that of another participant, which is pruned', 'other::1220ab', 0, 9],
    ['by that of another participant, after pruning', 'other::1220ab', 8, 0],
  ])('%s while it reads the contracts after a restart, gets all contracts again', (_, participantId, pruned, then) => {
    const store = storeAt7();
    const table = contractsTable();
    marbles(({ flush }) => {
      // the first request is refused if the ledger is pruned
      let requests = pruned === 0 ? 1 : 2;
      const world = contractsWorld({
        fault: ({ path }) => {
          if (path !== '/v2/state/active-contracts') return undefined;
          requests -= 1;
          if (requests !== 0) return undefined;
          world.restore(0);
          world.ledger.pruned = then;
          world.ledger.reconfigure({ participantId });
          replaced(world);
          return of(errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1)));
        },
      });
      five(world);
      world.commit(7, ['g']);
      world.commit(8, ['h']);
      world.ledger.pruned = pruned;
      observe(processFeed(world.contractsFeed(), table.handle, { store, name }).pipe(until(60_000)));
      flush();
    });
    expect(table.works).toEqual(['ledgerReset@9[x y z w]']);
  });

  it('goes on if the ledger is the same after an outage while it reads the contracts after a restart', () => {
    const { store } = run(five);
    const table = contractsTable();
    marbles(({ flush }) => {
      let hasFailed = false;
      const world = contractsWorld({
        fault: ({ path }) => {
          if (path !== '/v2/state/active-contracts' || hasFailed) return undefined;
          hasFailed = true;
          return of(errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1)));
        },
      });
      five(world);
      world.commit(7, ['g']);
      const resumed = new PlainStore().withRecord(store.cursor);
      observe(processFeed(world.contractsFeed(), table.handle, { store: resumed, name }).pipe(until(60_000)));
      flush();
    });
    expect(table.works).toEqual(['@7+g']);
  });

  it('by that of another participant is refused with a CursorError', () => {
    const { works, error } = run(five, { store: storeAt6(), participantId: 'other::1220ab' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'participant' });
  });
});

describe('a handler of contracts', () => {
  it('that is stopped in the middle of a load saves that it is not complete', () => {
    const stopping = new AbortController();
    const table = contractsTable();
    const { works, isCompleted, store } = run(five, {
      table,
      signal: stopping.signal,
      handle: (work) => {
        if (table.works.length === 1) stopping.abort();
        table.handle(work);
        return timer(10);
      },
    });
    expect(works).toEqual(['start@6[a c', 'start@6 d e']);
    expect(isCompleted).toBe(true);
    expect(positionIn(store.cursor)).toEqual({ offset: 0, loading: 2, reason: 'start' });
  });

  it('that hangs has no more than two pages of changes requested', () => {
    marbles(({ flush }) => {
      const world = contractsWorld();
      five(world);
      for (let n = 10; n < 1_000; n += 1)
        timer(n * 20).subscribe(() => {
          world.commit(n, [`c${n}`]);
        });
      const feed = world.contractsFeed({ batchSize: 2, maxPageSize: 10 });
      observe(processFeed(feed, () => timer(36_000_000), { stopWithinMs: 0 }).pipe(until(1_000_000)));
      flush();
      const ends = world.service.requests.map(({ body }) => Number(body['beginExclusive'] ?? 0));
      // the snapshot at 6 is three batches, and the next page is requested before they are handled
      expect(Math.max(...ends)).toBeLessThanOrEqual(6 + 2 * 10 + 10);
    });
  });
});

describe('contractsFeed', () => {
  const { client, contractsFeed: feedOf } = contractsWorld();
  const parties = ['alice::1220ab'];

  it.each(['park', 'skip'] as const)(
    'does not %s: contracts without a change are none that the ledger had',
    (onPoison) => {
      const options = { store: memoryStore(), name, onPoison };
      expect(() => processFeed(feedOf(), () => undefined, options)).toThrow(
        new TypeError("onPoison must be 'stop' with this feed"),
      );
    },
  );

  it('has its runs wrapped by what a ledger has for that, as telemetry', () => {
    const runs: unknown[] = [];
    const handled: string[] = [];
    marbles(({ flush }) => {
      const world = contractsWorld();
      five(world);
      const connection = connectionOf(world.client);
      if (connection === undefined) throw new Error('it is a ledger');
      const ledger = withConnection(
        { ...world.client, updates: () => EMPTY },
        {
          ...connection,
          runProcessor: ({ name, request, handler, run }) => {
            runs.push(name, request.updateFormat?.includeReassignments);
            const wrapped: typeof handler = (work, tx) => {
              handled.push(describeWork(work));
              return handler(work, tx);
            };
            return run(connection.service, wrapped);
          },
        },
      );
      const table = contractsTable();
      const feed = contractsFeed(ledger, { parties });
      observe(processFeed(feed, table.handle, { name, store: memoryStore() }).pipe(until(10_000)));
      flush();
      expect(table.works).toEqual(handled);
    });
    expect(runs).toEqual([name, expect.objectContaining({ filtersByParty: expect.anything() })]);
    expect(handled).toEqual(['start@6[a c d e f]']);
  });

  it('does not wait for unknown packages: a table without their contracts would look complete', () => {
    // @ts-expect-error -- nor do the types allow it
    expect(() => contractsFeed(client, { parties, onUnknownPackage: 'wait' })).toThrow(TypeError);
  });

  it.each([0, -1, 1.5, NaN])('rejects batches of %p', (batchSize) => {
    expect(() => feedOf({ batchSize })).toThrow(TypeError);
  });

  it('rejects a query without parties, and a ledger whose updates were replaced', () => {
    expect(() => contractsFeed(client, { parties: [] })).toThrow(TypeError);
    expect(() => contractsFeed({ ...client, updates: () => EMPTY }, { parties })).toThrow(TypeError);
  });

  it.each<[string, (world: ContractsWorld) => Parameters<typeof processFeed>[0]]>([
    ['of updates', ({ client }) => updatesFeed(client, { beginExclusive: 0, updateFormat }) as never],
    ['of other contracts', ({ contractsFeed }) => contractsFeed({}, { parties: ['bob::1220ab'] }) as never],
  ])('refuses the cursor of a feed %s (pitfall 35)', (_, other) => {
    const store = new PlainStore();
    let seen: Observed<unknown> | undefined;
    marbles(({ flush }) => {
      const world = contractsWorld();
      five(world);
      observe(processFeed(other(world), () => undefined, { store, name }).pipe(until(10_000)));
      timer(20_000).subscribe(() => {
        seen = observe(processFeed(world.contractsFeed(), () => undefined, { store, name }));
      });
      flush();
    });
    expect(seen?.error).toMatchObject({ _tag: 'CursorError', reason: 'selection' });
  });
});

/** A handler that handles so many batches, and then fails for good. */
function failAfter(count: number) {
  let handled = 0;
  const handle = (): HandlerResult => ((handled += 1) > count ? throwError(() => new Error('dead')) : undefined);
  return { handle, handlerRetry: { giveUpAfterMs: 0 } };
}
