import { delay, of } from 'rxjs';
import { contractsFeed, type ContractsFeedOptions, type ContractsFeedQuery } from '../../src/process/contractsFeed.js';
import type { ContractsWork } from '../../src/process/ContractsWork.js';
import type { Cursor } from '../../src/process/CheckpointStore.js';
import type { ContractsPosition } from '../../src/process/ContractsPosition.js';
import type { Feed } from '../../src/process/Feed.js';
import { active, archived, created, transactionOf } from '../helpers/contractEvents.js';
import type { Reply, ServiceRequest } from '../helpers/scripted.js';
import { errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { world, type World, type WorldOptions } from '../helpers/world.js';

const synchronizer = 'sync1::1220ab';
const latencyMs = 5;

/** A ledger with contracts, each named by a letter or more. */
export interface ContractsWorld extends World {
  /** Commits an update that creates some contracts and archives others. */
  readonly commit: (offset: number, created: readonly string[], archived?: readonly string[]) => void;
  /** Commits updates in the words of {@link describeWork}: `@6+c-a` creates `c` and archives `a` at offset 6. */
  readonly play: (updates: string) => void;
  /** Shows an update before the ledger end that no request selected before. */
  readonly show: (offset: number, created: readonly string[]) => void;
  /** Returns the ledger to an earlier end. */
  readonly restore: (offset: number) => void;
  readonly contractsFeed: (
    options?: ContractsFeedOptions,
    query?: Partial<ContractsFeedQuery>,
  ) => Feed<ContractsWork, ContractsPosition>;
  /** The offsets of the snapshots that were requested. */
  readonly snapshots: number[];
}

/** A ledger that serves its contracts as one list, as 3.4 does. `counters` are those of reassigned contracts. */
export function contractsWorld(
  options: WorldOptions = {},
  counters: Readonly<Record<string, number>> = {},
): ContractsWorld {
  const snapshots: number[] = [];
  let commits: {
    readonly offset: number;
    readonly created: readonly string[];
    readonly archived: readonly string[];
  }[] = [];
  const snapshotAt = (end: number): Reply => {
    snapshots.push(end);
    const { ledger } = made;
    if (end > ledger.end) return errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
    if (end < ledger.pruned)
      return errorReply(
        400,
        errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: String(ledger.pruned) }),
      );
    const seen = commits.filter(({ offset }) => offset <= end);
    const gone = new Set(seen.flatMap(({ archived }) => archived));
    return ok(
      seen.flatMap(({ offset, created }) =>
        created
          .filter((contractId) => !gone.has(contractId))
          .map((contractId) => active({ contractId, offset }, synchronizer, counters[contractId])),
      ),
    );
  };
  const fault = (request: ServiceRequest, count: number): ReturnType<NonNullable<WorldOptions['fault']>> => {
    const faulty = options.fault?.(request, count);
    if (faulty !== undefined) return faulty;
    if (request.path === '/v2/state/active-contracts-page') return notFound;
    if (request.path !== '/v2/state/active-contracts') return undefined;
    return of(snapshotAt(Number(request.body['activeAtOffset']))).pipe(delay(latencyMs));
  };
  const made = world({ latencyMs, participantId: 'participant1::1220ab', ...options, fault });
  const commit: ContractsWorld['commit'] = (offset, ids, archivedIds = []) => {
    commits.push({ offset, created: ids, archived: archivedIds });
    const events = [
      ...ids.map((contractId, nodeId) => created({ contractId, offset, nodeId })),
      ...archivedIds.map((contractId, index) => archived(contractId, offset, ids.length + index)),
    ];
    made.ledger.append(offset, transactionOf(offset, synchronizer, events));
  };
  return {
    ...made,
    snapshots,
    commit,
    play: (updates) => {
      for (const [, offset, changes = ''] of updates.matchAll(/@(\d+)(\S*)/g)) {
        const idsAfter = (sign: string) =>
          [...changes.matchAll(RegExp(`\\${sign}(\\w+)`, 'g'))].map(([, id = '']) => id);
        commit(Number(offset), idsAfter('+'), idsAfter('-'));
      }
    },
    show: (offset, ids) => {
      commits.push({ offset, created: ids, archived: [] });
      const events = ids.map((contractId, nodeId) => created({ contractId, offset, nodeId }));
      made.ledger.insert(offset, transactionOf(offset, synchronizer, events));
    },
    restore: (end) => {
      commits = commits.filter(({ offset }) => offset <= end);
      made.ledger.restore(end);
    },
    contractsFeed: (feedOptions, query) =>
      contractsFeed(made.client, { parties: ['alice::1220ab'], ...query }, feedOptions),
  };
}

/** A table of contracts, and what its handler got: `start@5[a b` is the first batch of a reset, `@6+c-a` a change. */
export function contractsTable(): {
  readonly ids: Set<string>;
  readonly works: string[];
  readonly handle: (work: ContractsWork) => void;
} {
  const ids = new Set<string>();
  const works: string[] = [];
  const handle = (work: ContractsWork): void => {
    works.push(describeWork(work));
    if (work._tag === 'ResetBatch' && work.isFirst) ids.clear();
    for (const { contractId } of work._tag === 'ResetBatch' ? work.contracts : work.added) ids.add(contractId);
    for (const { contractId } of work._tag === 'ResetBatch' ? [] : work.removed) ids.delete(contractId);
  };
  return { ids, works, handle };
}

const idsOf = (contracts: readonly { readonly contractId: string }[], separator: string): string =>
  contracts.map(({ contractId }) => contractId).join(separator);

export function describeWork(work: ContractsWork): string {
  const { offset } = work;
  if (work._tag === 'ContractsChanged')
    return [
      `@${offset}`,
      ...work.added.map((c) => `+${c.contractId}`),
      ...work.removed.map((c) => `-${c.contractId}`),
    ].join('');
  return `${work.reason}@${offset}${work.isFirst ? '[' : ' '}${idsOf(work.contracts, ' ')}${work.isLast ? ']' : ''}`;
}

/** The position in a cursor, as a store has it. */
export const positionIn = (cursor: Cursor | undefined): Partial<ContractsPosition> | undefined => {
  if (cursor === undefined) return undefined;
  const { offset, loading, reason } = JSON.parse(JSON.stringify(cursor)) as ContractsPosition;
  return { offset, ...(loading !== undefined && { loading }), ...(reason !== undefined && { reason }) };
};
