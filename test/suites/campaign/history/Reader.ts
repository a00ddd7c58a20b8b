import { asyncScheduler, type Observable, type Subscription, tap } from 'rxjs';
import type { AnyContract } from '../../../../src/contracts/Contract.js';
import { contractChanges } from '../../../../src/contracts/index.js';
import { acsDelta, type Ledger, type LedgerPosition, positions, type Update } from '../../../../src/index.js';
import { contractsFeed, memoryStore, processFeed, updatesFeed } from '../../../../src/process/index.js';
import type { HistorySchedule, ReaderKind } from './Schedule.js';

/** What a reader read, as the law sees it. */
export interface Reading {
  /** The updates that it emitted, with the time in milliseconds. */
  readonly emitted: { readonly updateId: string; readonly offset: number; readonly at: number }[];
  /** The contracts that it has, after each change. */
  readonly states: { readonly contractIds: readonly string[]; readonly offset: number; readonly at: number }[];
  /** Why it has read the contracts again. */
  readonly resets: { readonly reason: string; readonly at: number }[];
  error: unknown;
  /** When it ended by itself, in milliseconds. */
  endedAt: number | undefined;
}

/** A reader that is stopped, and started again where it was. */
export interface Reader {
  readonly reading: Reading;
  start(): void;
  stop(): void;
}

/** What is needed to read: where to read, how, and where to note it. */
export interface ReaderWorld {
  /** Another client for each start, as in a process that is started again. */
  readonly client: () => Ledger;
  readonly schedule: HistorySchedule;
  readonly reading: Reading;
}

/** Starts a run of a reader. A run keeps its position outside of itself. */
type Runs = (world: ReaderWorld) => () => Observable<unknown>;

const updateFormat = acsDelta({ parties: ['alice::1220ab'] });

/** Notes updates. */
const note = ({ reading }: ReaderWorld, update: Update): void => {
  if ('updateId' in update)
    reading.emitted.push({ updateId: update.updateId, offset: update.offset, at: asyncScheduler.now() });
};

/** A caller that keeps a position of its own. */
const updatesRuns: Runs = (world) => {
  let saved: LedgerPosition | undefined;
  const { maxPageSize, onOtherNode } = world.schedule;
  return () => {
    const start = saved === undefined ? { beginExclusive: 0 } : { after: saved };
    const updates$ = world.client().updates({ ...start, updateFormat }, { maxPageSize, onOtherNode });
    return updates$.pipe(
      positions(),
      tap(([update, position]) => {
        note(world, update);
        // as from a store
        saved = JSON.parse(JSON.stringify(position)) as LedgerPosition;
      }),
    );
  };
};

const processorRuns: Runs = (world) => {
  const store = memoryStore();
  const { maxPageSize, onOtherNode } = world.schedule;
  return () =>
    processFeed(
      updatesFeed(world.client(), { beginExclusive: 0, updateFormat }, { maxPageSize, onOtherNode }),
      (update) => {
        note(world, update);
      },
      { name: 'log', store },
    );
};

/** A table of contracts. */
const rowsRuns: Runs = (world) => {
  const store = memoryStore();
  const rows = new Set<string>();
  const { onOtherNode } = world.schedule;
  return () => {
    const feed = contractsFeed(world.client(), { parties: ['alice::1220ab'] }, { batchSize: Infinity, onOtherNode });
    const committed$ = processFeed(
      feed,
      (work) => {
        if (work._tag === 'ResetBatch') {
          rows.clear();
          world.reading.resets.push({ reason: work.reason, at: asyncScheduler.now() });
        }
        apply(rows, work._tag === 'ResetBatch' ? { added: work.contracts, removed: [] } : work);
      },
      { name: 'rows', store },
    );
    return committed$.pipe(
      tap(({ offset, role, isCaughtUp }) => {
        if (role !== undefined || !isCaughtUp) return;
        world.reading.states.push({ contractIds: [...rows], offset, at: asyncScheduler.now() });
      }),
    );
  };
};

const viewRuns: Runs = (world) => () => {
  const contracts = new Set<string>();
  const { onOtherNode } = world.schedule;
  return contractChanges(world.client(), { parties: ['alice::1220ab'] }, { onOtherNode }).pipe(
    tap((change) => {
      if (change._tag === 'Reset') {
        contracts.clear();
        world.reading.resets.push({ reason: change.reason, at: asyncScheduler.now() });
      }
      if (change._tag === 'Reset') apply(contracts, { added: change.contracts, removed: [] });
      if (change._tag === 'ContractsChanged') apply(contracts, change);
      world.reading.states.push({ contractIds: [...contracts], offset: change.offset, at: asyncScheduler.now() });
    }),
  );
};

const apply = (
  ids: Set<string>,
  { added, removed }: { readonly added: readonly AnyContract[]; readonly removed: readonly AnyContract[] },
): void => {
  for (const { contractId } of removed) ids.delete(contractId);
  for (const { contractId } of added) ids.add(contractId);
};

const runsOf: Readonly<Record<ReaderKind, Runs>> = {
  updates: updatesRuns,
  processor: processorRuns,
  rows: rowsRuns,
  view: viewRuns,
};

/** A reader of the kind that a schedule wants. */
export const readerOf = (world: ReaderWorld): Reader => runnable(world.reading, runsOf[world.schedule.reader](world));

/** A reader that subscribes to a run at each start. After an error it stays as it is. */
export function runnable(reading: Reading, run: () => Observable<unknown>): Reader {
  let subscription: Subscription | undefined;
  return {
    reading,
    start: () => {
      if (reading.endedAt !== undefined || subscription?.closed === false) return;
      const end = (error?: unknown): void => {
        reading.endedAt = asyncScheduler.now();
        reading.error = error ?? 'completed';
      };
      subscription = run().subscribe({ error: end, complete: end });
    },
    stop: () => {
      subscription?.unsubscribe();
    },
  };
}
