import { describe, expect, it } from '@jest/globals';
import { EMPTY, merge, tap, throwError, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { FeedCall, Interceptor } from '../../src/client/Interceptor.js';
import type { CheckpointStore, Cursor, TransactionalStore } from '../../src/process/CheckpointStore.js';
import { contractsFeed } from '../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { processFeed } from '../../src/process/processFeed.js';
import type { Committed, HandlerResult } from '../../src/process/ProcessOptions.js';
import { isReady, type ProcessStatus } from '../../src/process/ProcessStatus.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import { crossed } from '../helpers/contractEvents.js';
import { observe } from '../helpers/observe.js';
import type { Reply } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { checkpoint, errorBody, errorReply, ok } from '../helpers/wire.js';
import { updateFormat } from '../helpers/world.js';
import { type ContractsWorld, contractsTable, contractsWorld, describeWork, positionIn } from './contractsSupport.js';
import { abortAfter, mockPlatform, name, PlainStore, until } from './support.js';
import { MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const each = { commitEvery: { updates: 1 } };
const positions = ({ saves }: PlainStore) => saves.map(positionIn);
const shuttingDown = errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1));

/** How {@link run} runs a processor; all else is as in most tests. */
interface RunOptions<S> {
  /** Changes the ledger before the processor begins, or plans that. */
  readonly prepare?: (world: ContractsWorld) => void;
  /** The updates that are committed after ten seconds. */
  readonly later?: string;
  readonly fault?: (path: string, world: ContractsWorld) => Reply | undefined;
  readonly store?: S;
  readonly batchSize?: number;
  readonly maxPageSize?: number;
  readonly onGap?: 'reload' | 'fail';
  readonly includeCreatedEventBlob?: boolean;
  readonly table?: ReturnType<typeof contractsTable>;
  /** Handles works in place of the table. */
  readonly handle?: (work: ContractsWork, tx: Tx) => HandlerResult;
  /** Gives the works to a handler of batches. */
  readonly batch?: { readonly size: number; readonly withinMs: number };
  readonly commitEvery?: { readonly updates: number };
  readonly handlerRetry?: { readonly giveUpAfterMs: number };
  readonly stopWithinMs?: number;
  /** When its signal is aborted. */
  readonly abortAt?: number;
  readonly onStatus?: (status: ProcessStatus) => void;
  /** How long its requests are retried, in milliseconds. */
  readonly giveUpAfterMs?: number;
  readonly participantId?: string;
  readonly counters?: Readonly<Record<string, number>>;
  /** When the processor is unsubscribed. */
  readonly ms?: number;
}

/** Runs a processor on a ledger with some updates, and returns what it did. */
function run<S extends CheckpointStore | TransactionalStore<Tx> = PlainStore>(
  updates: string,
  how: RunOptions<S> = {},
) {
  const { prepare, later, fault, store = new PlainStore() as unknown as S, table = contractsTable(), ...others } = how;
  const { batchSize = 2, maxPageSize = 200, onGap = 'reload', handle = table.handle, batch, ...more } = others;
  const {
    abortAt,
    onStatus,
    includeCreatedEventBlob,
    participantId = 'participant1::1220ab',
    counters,
    giveUpAfterMs = 300_000,
    ms = 60_000,
    ...options
  } = more;
  return marbles(({ flush }) => {
    const world = contractsWorld({ participantId, fault: ({ path }) => fault?.(path, world) }, counters);
    world.play(updates);
    prepare?.(world);
    if (later !== undefined)
      timer(10_000).subscribe(() => {
        world.play(later);
      });
    const diagnostics = observe(world.client.diagnostics$);
    const feed = world.contractsFeed(
      { batchSize, maxPageSize, retry: { giveUpAfterMs } },
      { onGap, includeCreatedEventBlob },
    );
    const signal = abortAt === undefined ? undefined : abortAfter(abortAt);
    const all = { store: store as TransactionalStore<Tx>, name, ...options, ...(signal && { signal }) };
    const batches: (readonly string[])[] = [];
    const committed$ =
      batch === undefined
        ? processFeed(feed, handle, all)
        : processFeed(feed, (works) => void batches.push(works.map(describeWork)), {
            ...all,
            batch,
            commitEvery: undefined,
          });
    const commits: Committed[] = [];
    const work$ = committed$.pipe(
      tap((committed) => commits.push(committed)),
      until(ms),
    );
    const status$ = onStatus === undefined ? EMPTY : committed$.status$.pipe(tap(onStatus), until(ms));
    const seen = observe<unknown>(merge(status$, work$));
    flush();
    expect(world.service.open).toBe(0);
    const { snapshots, service } = world;
    const { error, completed: isCompleted } = seen;
    const result = { store, table, works: table.works, ids: [...table.ids], batches, snapshots, service };
    return { ...result, commits, error, isCompleted, diagnostics: diagnostics.values };
  });
}

/** Five contracts, of which one is archived, at offset 6. */
const five = '@2+a+b+c @4+d+e+f @6-b';

const stored = (cursor: unknown): PlainStore => new PlainStore().withRecord(cursor);

/** The store of a processor that has them. */
const storeAt6 = (): PlainStore => stored(run(five).store.cursor);

describe('contracts to work on', () => {
  it('come in batches, and then as the changes of each update', () => {
    const { works, ids, commits } = run(five, { later: '@8+g-a @9+h' });
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
    ['on an empty ledger', '', 0],
    ['if all of them are archived', '@1+a @3-a', 3],
  ])('are one empty batch %s, and changes follow', (_, updates, offset) => {
    const { works, store } = run(updates, { later: `@${offset + 1}+g` });
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
    const { works, ids } = run(`@1+${all.join('+')}`, { batchSize });
    expect(works).toHaveLength(Math.ceil(count / batchSize));
    expect(works.filter((work) => work.includes('['))).toHaveLength(1);
    expect(works.filter((work) => work.includes(']'))).toHaveLength(1);
    expect(ids).toEqual(all);
  });

  it('are given to a handler of batches, too', () => {
    const { batches } = run(five, { batch: { size: 2, withinMs: 100 } });
    expect(batches).toEqual([['start@6[a c', 'start@6 d e'], ['start@6 f]']]);
  });

  it('move the cursor with checkpoints, which the handler does not get', () => {
    const { works, store } = run(five, {
      prepare: ({ ledger }) => {
        timer(10_000).subscribe(() => {
          ledger.append(12, checkpoint(12));
        });
      },
    });
    expect(works).toHaveLength(3);
    expect(store.cursor).toMatchObject({ offset: 12, recordTimes: { 'sync1::1220ab': { updateId: '12206' } } });
  });
});

describe('a processor of contracts that is restarted', () => {
  it('in the middle of a load begins it again from a clean state (pitfall 53)', () => {
    const first = run(five, { ...each, ...failAfter(2) });
    expect(first.error).toMatchObject({ _tag: 'HandlerError', offset: 6 });
    expect(positionIn(first.store.cursor)).toEqual({ offset: 0, loading: 2, reason: 'start' });
    const table = contractsTable();
    table.ids.add('x');
    const { works, ids, store } = run(`${five} @7-c`, { store: stored(first.store.cursor), table });
    expect(works).toEqual(['start@7[a d', 'start@7 e f]']);
    expect(ids).toEqual(['a', 'd', 'e', 'f']);
    expect(positionIn(store.cursor)).toEqual({ offset: 7 });
  });

  it('after the load gets only the changes after its cursor (pitfall 54)', () => {
    const { works, snapshots, store } = run(`${five} @7+g-d`, { store: storeAt6() });
    expect(works).toEqual(['@7+g-d']);
    expect(snapshots).toEqual([6]);
    expect(positionIn(store.cursor)).toEqual({ offset: 7 });
  });

  it('gets the last value of a contract that was archived meanwhile', () => {
    const works: ContractsWork[] = [];
    run(`${five} @7-d`, { store: storeAt6(), handle: (work) => void works.push(work) });
    const createdEvent = { contractId: 'd', createArgument: { size: 7 } };
    expect(works).toMatchObject([{ _tag: 'ContractsChanged', removed: [{ createdEvent }] }]);
  });

  it('resumes from a record with null in place of what is absent', () => {
    const { works, error } = run(five, { store: stored({ ...storeAt6().cursor, loading: null, reason: null }) });
    expect(works).toEqual([]);
    expect(error).toBeUndefined();
  });

  it('keeps no sign of a load in a store that keeps undefined', () => {
    const { store } = run(five, { ...each, store: memoryStore() });
    const [record] = store.load(name) as readonly Cursor[];
    expect(positionIn(record)).toEqual({ offset: 6 });
  });
});

describe('a processor of contracts whose ledger was pruned after its cursor', () => {
  const updates = `${five} @8+g-a @9-c`;
  const prune = ({ ledger }: ContractsWorld): void => {
    ledger.pruned = 8;
  };

  it('gets all contracts again, and counts as incomplete until it has them', () => {
    const { works, store } = run(updates, { prepare: prune, store: storeAt6(), ...each });
    expect(works).toEqual(['pruned@9[d e', 'pruned@9 f g]']);
    expect(positions(store)).toEqual([
      { offset: 0, loading: 0, reason: 'pruned' },
      { offset: 0, loading: 1, reason: 'pruned' },
      { offset: 9 },
    ]);
  });

  it('keeps the reason if that load is interrupted', () => {
    const first = run(updates, { prepare: prune, store: storeAt6(), ...each, ...failAfter(1) });
    const { works } = run(updates, { prepare: prune, store: stored(first.store.cursor) });
    expect(works).toEqual(['pruned@9[d e', 'pruned@9 f g]']);
  });

  it('is not ready before it has them', () => {
    const ready: (readonly [boolean, boolean])[] = [];
    const table = contractsTable();
    const handle = (work: ContractsWork) => {
      table.handle(work);
      return timer(2_000);
    };
    const onStatus = (status: ProcessStatus): void => {
      if (table.works.length > 0) ready.push([isReady(status, { maxLagOffsets: 5 }), table.ids.size === 4]);
    };
    run(updates, { prepare: prune, store: storeAt6(), ...each, batchSize: 1, handle, onStatus });
    expect(ready.filter(([isUp, isWhole]) => isUp && !isWhole)).toEqual([]);
    expect(ready.at(-1)).toEqual([true, true]);
  });

  it('loads them in one call of the handler, whatever fails, if the batches are infinite', () => {
    const committed: Tx = { effects: [], parked: new Map(), json: JSON.stringify(storeAt6().cursor) };
    const store = new MemoryTransactions(undefined, undefined, committed);
    const sizes = new Set<number>();
    let failures = 0;
    run(updates, {
      prepare: (world) => {
        prune(world);
        for (let at = 0; at < 10_000; at += 10) timer(at).subscribe(() => sizes.add(committed.effects.length));
      },
      store,
      batchSize: Infinity,
      handle: (work, { effects }) => {
        if (work._tag !== 'ResetBatch') return;
        effects.push(...work.contracts.map(({ offset }) => offset));
        if ((failures += 1) === 1) throw new Error('busy');
      },
    });
    expect([...sizes]).toEqual([0, 4]);
    expect(positionIn(store.cursor)).toEqual({ offset: 9 });
  });

  it("ends with a PrunedError if the query says 'fail'", () => {
    const { works, error, store } = run(updates, { prepare: prune, store: storeAt6(), onGap: 'fail' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 8 });
    expect(positionIn(store.cursor)).toEqual({ offset: 6 });
  });
});

describe('a processor of contracts that restarts where the snapshot has half of a contract in flight', () => {
  const fault = (path: string, { ledger }: ContractsWorld) =>
    path === '/v2/state/active-contracts' && ledger.end < 8
      ? ok([crossed('a', 'c', 6), crossed('c', 'c', 6)])
      : undefined;

  it('gets all contracts again at a later offset, and has no need of that after the next restart', () => {
    const { works, store, error, commits } = run(five, { store: storeAt6(), fault, later: '@8+g' });
    expect(error).toBeUndefined();
    expect(works).toEqual(['pruned@8[a c', 'pruned@8 d e', 'pruned@8 f g]']);
    expect(commits.at(-1)?.offset).toBe(8);
    const again = run(`${five} @8+g @9-a`, { store: stored(store.cursor) });
    expect(again.works).toEqual(['@9-a']);
  });

  it("ends with a DecodeError if the query says 'fail', and keeps its cursor", () => {
    const { works, error, store } = run(five, { store: storeAt6(), fault, onGap: 'fail' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'DecodeError', offset: 6 });
    expect(String(error)).toContain('an unassigned event of the contract a, which is in flight');
    expect(positionIn(store.cursor)).toEqual({ offset: 6 });
  });
});

describe('a processor of contracts whose ledger was replaced', () => {
  /** Another ledger with the same participant id, which has other updates at the same offsets. */
  const another = '@1+x+y+z @9+w';
  /** The store of a processor that has handled an update of the old one. */
  const storeAt7 = (): PlainStore => stored(run(`${five} @7+g`, { store: storeAt6() }).store.cursor);

  it('gets all contracts again, and forgets what it knew of the old ledger', () => {
    const { works, store, ids, diagnostics } = run(another, { store: storeAt7(), ...each });
    expect(works).toEqual(['ledgerReset@9[x y', 'ledgerReset@9 z w]']);
    expect(ids).toEqual(['x', 'y', 'z', 'w']);
    expect(positions(store)).toEqual([
      { offset: 0, loading: 0, reason: 'ledgerReset' },
      { offset: 0, loading: 1, reason: 'ledgerReset' },
      { offset: 9 },
    ]);
    expect(store.cursor).toMatchObject({ lastUpdate: { offset: 9 } });
    expect(diagnostics.filter(({ _tag }: Diagnostic) => _tag === 'GapFound')).toMatchObject([
      { cursor: 7, resumesFrom: 9, processor: name, cause: { _tag: 'LedgerResetError', cursor: 7 } },
    ]);
    // so that the next restart does not find it missing again
    expect(run(another, { store: stored(store.cursor) }).works).toEqual([]);
  });

  it.each<[string, () => PlainStore, number]>([
    ['after the first load', () => new PlainStore(), 0],
    ['after a load because of pruning', storeAt6, 6],
  ])('%s, when no update has been handled since, gets all contracts again', (_, before, pruned) => {
    const { store, table } = run(five, {
      store: before(),
      prepare: ({ ledger }) => {
        ledger.pruned = pruned;
      },
    });
    // the load has found the last update as a proof
    expect(store.cursor).toMatchObject({ offset: 6, lastUpdate: { offset: 6 } });
    const { works, ids } = run(another, { table, store: stored(store.cursor) });
    expect(works.slice(-2)).toEqual(['ledgerReset@9[x y', 'ledgerReset@9 z w]']);
    expect(ids).toEqual(['x', 'y', 'z', 'w']);
  });

  it('after the first load is recognized by the contract that was newest', () => {
    const { store } = run('@2+a @3+b');
    expect(run('@2+a @3+c', { store: stored(store.cursor) }).works).toEqual(['ledgerReset@3[a c]']);
  });

  it('goes on after the first load if the contracts are the same, also past checkpoints', () => {
    const restart = (updates: string, store = new PlainStore()) =>
      run(five, {
        prepare: ({ ledger, play }) => {
          ledger.append(7, checkpoint(7));
          play(updates);
        },
        store,
      });
    const { store } = restart('');
    expect(restart('@8+g', stored(store.cursor)).works).toEqual(['@8+g']);
  });

  it('is not taken for another one when the contract that was newest is archived', () => {
    const { store } = run('@2+a @3+b', { later: '@5-b' });
    expect(run('@2+a @3+b @5-b @6+c', { store: stored(store.cursor) }).works).toEqual(['@6+c']);
  });

  /** Restores an older backup after a time. */
  const restoreAfter =
    (ms: number) =>
    ({ restore }: ContractsWorld): void => {
      timer(ms).subscribe(() => {
        restore(4);
      });
    };

  it('is not ready while the contracts of the new one are read', () => {
    const states: string[] = [];
    run(`${five} @7+g`, {
      fault: (path, { ledger }) =>
        path.startsWith('/v2/state/active-contracts') && ledger.end === 4 ? shuttingDown : undefined,
      prepare: restoreAfter(10_000),
      giveUpAfterMs: 30_000,
      onStatus: (status) => states.push(`${status.state} ${isReady(status)}`),
      ms: 100_000,
    });
    expect(states).toContain('caughtUp true');
    expect(states.findLast((state) => !state.startsWith('ended'))).toBe('catchingUp false');
    expect(states.at(-1)).toBe('ended false');
  });

  it('is told so by a batch of its own', () => {
    const { batches } = run(five, {
      prepare: (world) => {
        timer(70_000).subscribe(() => {
          world.play('@12+g');
        });
        restoreAfter(71_000)(world);
      },
      batch: { size: 50, withinMs: 60_000 },
      batchSize: 10,
      giveUpAfterMs: 10_000,
      ms: 400_000,
    });
    expect(batches).toEqual([['start@6[a c d e f]'], ['@12+g'], ['ledgerReset@4[a b c d e f]']]);
  });

  it('has no reason where its store has null for what is absent', () => {
    const record = {
      ...run(five, { ...each, ...failAfter(0) }).store.cursor,
      reason: null,
      checksum: null,
      newestContractId: null,
      hasBlobs: null,
    };
    expect(run(five, { store: stored(record) }).works[0]).toBe('start@6[a c');
  });

  it("is refused with a CursorError if the query says 'fail'", () => {
    const { works, error } = run(another, { store: storeAt7(), onGap: 'fail' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
  });

  it('and ends before its cursor, gets all contracts again', () => {
    const { works, store, error } = run('@3+x', { store: storeAt7(), giveUpAfterMs: 10_000 });
    expect(error).toBeUndefined();
    expect(works).toEqual(['ledgerReset@3[x]']);
    expect(positionIn(store.cursor)).toEqual({ offset: 3 });
    expect(store.cursor).toMatchObject({ lastUpdate: { offset: 3 } });
  });

  it('by an older backup while it runs, gets all contracts again', () => {
    const { works, store, error, ids } = run(`${five} @7+g`, {
      prepare: restoreAfter(10_000),
      batchSize: 10,
      giveUpAfterMs: 10_000,
    });
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
    // the first request is refused if the ledger is pruned
    let requests = pruned === 0 ? 1 : 2;
    const { works } = run(`${five} @7+g @8+h`, {
      store: storeAt7(),
      batchSize: 100,
      prepare: ({ ledger }) => {
        ledger.pruned = pruned;
      },
      fault: (path, { ledger, restore, play }) => {
        if (path !== '/v2/state/active-contracts' || (requests -= 1) !== 0) return undefined;
        restore(0);
        ledger.pruned = then;
        ledger.reconfigure({ participantId });
        play(another);
        return shuttingDown;
      },
    });
    expect(works).toEqual(['ledgerReset@9[x y z w]']);
  });

  it('by one with half of a contract in flight while it reads the contracts, gets all contracts again', () => {
    let requests = 0;
    const { works } = run(`${five} @7+g @8+h`, {
      store: storeAt7(),
      batchSize: 100,
      fault: (path, { ledger, restore, play }) => {
        if (path !== '/v2/state/active-contracts') return undefined;
        requests += 1;
        if (requests === 2) return ok([crossed('x', 'y', 7), crossed('y', 'y', 7)]);
        if (requests > 2) return undefined;
        restore(0);
        ledger.reconfigure({ participantId: 'other::1220ab' });
        play(another);
        return shuttingDown;
      },
    });
    expect(works).toEqual(['ledgerReset@9[x y z w]']);
  });

  it('goes on if the ledger is the same after an outage while it reads the contracts after a restart', () => {
    let requests = 0;
    const { works } = run(`${five} @7+g`, {
      store: storeAt6(),
      fault: (path) => (path === '/v2/state/active-contracts' && (requests += 1) === 1 ? shuttingDown : undefined),
    });
    expect(requests).toBeGreaterThan(1);
    expect(works).toEqual(['@7+g']);
  });

  it('by that of another participant is refused with a CursorError', () => {
    const { works, error } = run(five, { store: storeAt6(), participantId: 'other::1220ab' });
    expect(works).toEqual([]);
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'participant' });
  });
});

describe('a processor of contracts whose participant shows other contracts at its cursor', () => {
  /** What it shows at first, and once a package is uploaded. */
  const before = '@2+a @6+c @7+d';
  const after = '@2+a @4+b @6+c @7+d';
  /** The store of a processor that has handled an update. */
  const storeAt7 = (): PlainStore => {
    const { store } = run('@2+a @6+c', { later: '@7+d' });
    return stored(store.cursor);
  };

  it('gets all contracts again at its cursor, and then the updates after it', () => {
    const { works, ids, store, diagnostics, snapshots, error } = run(`${after} @9+e-b`, { store: storeAt7(), ...each });
    expect(error).toBeUndefined();
    expect(works).toEqual(['appeared@7[a b', 'appeared@7 c d]', '@9+e-b']);
    expect(ids).toEqual(['a', 'c', 'd', 'e']);
    expect(snapshots).toEqual([7]);
    expect(positions(store).slice(0, 3)).toEqual([
      { offset: 0, loading: 0, reason: 'appeared' },
      { offset: 0, loading: 1, reason: 'appeared' },
      { offset: 7 },
    ]);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ _tag: 'ContractsReconciled', reason: 'appeared', offset: 7, contracts: 4 }),
    );
    expect(diagnostics.filter(({ _tag }: Diagnostic) => _tag === 'GapFound')).toEqual([]);
    // the next restart finds the same
    expect(run(`${after} @9+e-b @10+f`, { store: stored(store.cursor) }).works).toEqual(['@10+f']);
  });

  it('begins it again at the same offset if that load is interrupted', () => {
    const first = run(after, { store: storeAt7(), ...each, ...failAfter(1) });
    expect(positionIn(first.store.cursor)).toEqual({ offset: 0, loading: 1, reason: 'appeared' });
    const { works } = run(`${after} @9+e`, { store: stored(first.store.cursor) });
    expect(works).toEqual(['appeared@7[a b', 'appeared@7 c d]', '@9+e']);
  });

  it('gets them at a later offset if its own is pruned meanwhile', () => {
    const first = run(after, { store: storeAt7(), ...each, ...failAfter(1) });
    const { works } = run(`${after} @9+e`, {
      store: stored(first.store.cursor),
      prepare: ({ ledger }) => {
        ledger.pruned = 8;
      },
    });
    expect(works[0]).toBe('pruned@9[a b');
  });

  it('gets the same ones again if the query has blobs now, once', () => {
    const { store } = run(before, { store: storeAt7(), includeCreatedEventBlob: true });
    const { works } = run(before, { store: storeAt7(), includeCreatedEventBlob: true });
    expect(works).toEqual(['selectionChanged@7[a c', 'selectionChanged@7 d]']);
    expect(run(before, { store: stored(store.cursor), includeCreatedEventBlob: true }).works).toEqual([]);
    // without blobs, nothing is missing; with blobs again, those of the contracts since then are
    const without = run(`${before} @9+e`, { store: stored(store.cursor) });
    expect(without.works).toEqual(['@9+e']);
    const again = run(`${before} @9+e`, { store: stored(without.store.cursor), includeCreatedEventBlob: true });
    expect(again.works[0]).toBe('selectionChanged@9[a c');
  });

  it('gets what appears while it runs as one change without an update, and does not get it again', () => {
    const { works, store } = run('@2+a', {
      prepare: (world) => {
        timer(10_000).subscribe(() => {
          world.show(4, ['b', 'c']);
          world.commit(6, ['d'], ['c']);
        });
      },
    });
    expect(works).toEqual(['start@2[a]', '@6+d', '@6+b']);
    expect(store.cursor).toMatchObject({ offset: 6, lastUpdate: { offset: 6 } });
    expect(run('@2+a @4+b @6+d', { store: stored(store.cursor) }).works).toEqual([]);
  });
});

describe('a processor of contracts whose ledger was replaced while it ran', () => {
  const replaced = {
    giveUpAfterMs: 10_000,
    prepare: ({ restore }: ContractsWorld): void =>
      void timer(10_000).subscribe(() => {
        restore(4);
      }),
  };

  it('saves the participant of the contracts with each position, from the first on', () => {
    const { store } = run(`${five} @7+g`, { ...replaced, ...each });
    expect(store.saves.map(({ participantId }) => participantId)).toEqual(
      store.saves.map(() => 'participant1::1220ab'),
    );
    expect(positions(store)).toContainEqual({ offset: 0, loading: 0, reason: 'ledgerReset' });
  });

  it('reads the contracts again if another participant serves them', () => {
    let ids = 0;
    const { works, store, error } = run(`${five} @7+g`, {
      ...replaced,
      fault: (path, { ledger }) => {
        if (ledger.end !== 4 || path !== '/v2/parties/participant-id') return undefined;
        ids += 1;
        return ok({ participantId: ids < 4 ? `participant${ids}::1220ab` : 'other::1220ab' });
      },
      ms: 100_000,
    });
    expect(error).toBeUndefined();
    expect(works.at(-1)).toBe('ledgerReset@4 e f]');
    expect(store.cursor?.participantId).toBe('other::1220ab');
  });
});

describe('a handler of contracts', () => {
  it('that is stopped in the middle of a load saves that it is not complete', () => {
    const table = contractsTable();
    const handle = (work: ContractsWork) => {
      table.handle(work);
      return timer(1_000);
    };
    const { works, isCompleted, store } = run(five, { table, handle, abortAt: 1_500 });
    expect(works).toEqual(['start@6[a c', 'start@6 d e']);
    expect(isCompleted).toBe(true);
    expect(positionIn(store.cursor)).toEqual({ offset: 0, loading: 2, reason: 'start' });
  });

  it('that hangs has no more than two pages of changes requested', () => {
    const { service } = run(five, {
      prepare: ({ commit }) => {
        for (let n = 10; n < 1_000; n += 1)
          timer(n * 20).subscribe(() => {
            commit(n, [`c${n}`]);
          });
      },
      handle: () => timer(36_000_000),
      maxPageSize: 10,
      stopWithinMs: 0,
      ms: 1_000_000,
    });
    const ends = service.requests.map(({ body }) => Number(body['beginExclusive'] ?? 0));
    // the snapshot at 6 is three batches, and the next page is requested before they are handled
    expect(Math.max(...ends)).toBeLessThanOrEqual(6 + 2 * 10 + 10);
  });
});

describe('contractsFeed', () => {
  const { client, contractsFeed: feedOf } = contractsWorld();
  const parties = ['alice::1220ab'];

  it.each(['park', 'skip'] as const)(
    'does not %s: contracts without a change are none that the ledger had',
    (onHandlerFailure) => {
      const options = { store: memoryStore(), name, onHandlerFailure };
      expect(() => processFeed(feedOf(), () => undefined, options)).toThrow(
        new TypeError("onHandlerFailure must be 'stop' with this feed"),
      );
    },
  );

  it('has its runs and its handler seen by the interceptors of its ledger', () => {
    const feeds: FeedCall[] = [];
    const handled: unknown[] = [];
    const interceptor: Interceptor = {
      feed: (call) => {
        feeds.push(call);
        return undefined;
      },
      handler: ({ items, isBatch, processor }) => {
        handled.push([processor, isBatch, items.map(({ _tag, offset }) => `${_tag} ${offset}`)]);
        return undefined;
      },
    };
    marbles(({ flush }) => {
      const world = contractsWorld({ client: { interceptors: [interceptor] } });
      world.play(five);
      const feed = contractsFeed(world.client, { parties });
      observe(processFeed(feed, () => undefined, { name, store: memoryStore() }).pipe(until(10_000)));
      flush();
    });
    expect(feeds).toEqual([{ kind: 'contracts', isEndless: true, processor: { name } }]);
    expect(handled).toEqual([[name, false, ['ResetBatch 6']]]);
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

  it('refuses the cursor of a feed of updates (pitfall 35)', () => {
    const store = new PlainStore();
    marbles(({ flush }) => {
      const world = contractsWorld();
      world.play(five);
      const updates = updatesFeed(world.client, { beginExclusive: 0, updateFormat });
      observe(processFeed(updates, () => undefined, { store, name }).pipe(until(10_000)));
      flush();
    });
    expect(run(five, { store }).error).toMatchObject({ _tag: 'CursorError', reason: 'selection' });
  });
});

/** A handler that handles so many batches, and then fails for good. */
function failAfter(count: number) {
  let handled = 0;
  const handle = (): HandlerResult => ((handled += 1) > count ? throwError(() => new Error('dead')) : undefined);
  return { handle, handlerRetry: { giveUpAfterMs: 0 } };
}
