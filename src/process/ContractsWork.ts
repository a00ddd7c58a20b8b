import type { ord } from 'fp-ts';
import type * as t from 'io-ts';
import { integer, oneOfStrings, optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { OffsetCheckpoint, SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractsChanged, Reset } from '../contracts/ContractChange.js';
import type { JoinStep } from '../contracts/join.js';
import { type FeedEntry, type FeedPage, type FeedPosition, orderBy } from './Feed.js';

/**
 * What a handler gets of a `contractsFeed`: all contracts, in batches, and then what each update of the ledger changed.
 *
 * @category Processing
 */
export type ContractsWork<C extends AnyContract = AnyContract> = ResetBatch<C> | ContractsChanged<C>;

/**
 * Some of all contracts at an offset. The batches from the first to the last replace whatever the handler has.
 *
 * @category Processing
 */
export interface ResetBatch<C extends AnyContract = AnyContract> {
  /** The discriminant. */
  readonly _tag: 'ResetBatch';
  /** Why all contracts are read. */
  readonly reason: Reset['reason'];
  /** The offset of the snapshot, the same for all of its batches. Changes continue after it. */
  readonly offset: Offset;
  /** The contracts of the batch; none if there are no contracts at all. Each contract is in one batch. */
  readonly contracts: readonly C[];
  /** Whether it is the first batch: what the handler has from before must be removed. */
  readonly isFirst: boolean;
  /** Whether it is the last batch: the contracts are complete with it. */
  readonly isLast: boolean;
}

/**
 * The position of a processor in the contracts of a ledger.
 *
 * @category Processing
 */
export interface ContractsPosition extends FeedPosition {
  /** The offset at which the contracts are complete; 0 while they are loaded. */
  readonly offset: Offset;
  /** How many batches of other contracts are handled, which are not complete; absent if the contracts at the offset are. */
  readonly loading?: number | undefined;
  /** Why they are loaded; absent for the first time. */
  readonly reason?: Reset['reason'] | undefined;
  /** A digest of the contracts, until the first update after them proves that the ledger is still the same. */
  readonly digest?: string | undefined;
}

/**
 * Codec of `ContractsPosition`.
 *
 * @category Processing
 */
export const ContractsPosition: t.Type<ContractsPosition, unknown> = message<ContractsPosition>('ContractsPosition', {
  offset: Offset,
  loading: optional(integer('Batches', 0, Infinity, 'a whole number')),
  digest: optional(text),
  reason: optional(oneOfStrings<Reset['reason']>('ResetReason', 'start', 'pruned', 'ledgerReset', 'packageFound')),
});

/** The position before the first batch, with nothing that could be continued. */
export const nothingLoaded = (reason?: Reset['reason']): ContractsPosition => ({
  offset: 0,
  loading: 0,
  reason,
  digest: undefined,
});

/** Where to resume: after the contracts at an offset, unless they are not complete. */
export const resumeOffset = ({ offset, loading }: ContractsPosition): Offset | undefined =>
  // a store may have null for what is absent
  typeof loading === 'number' ? undefined : offset;

const byOffset = orderBy<ContractsPosition>(({ offset }) => offset);
const byLoading = orderBy<ContractsPosition>(({ loading }) => (typeof loading === 'number' ? loading : -1));

/** By offset, and then by batches: the contracts at an offset are complete before others are loaded. */
export const contractsOrder: ord.Ord<ContractsPosition> = {
  equals: (a, b) => byOffset.equals(a, b) && byLoading.equals(a, b),
  compare: (a, b) => byOffset.compare(a, b) || byLoading.compare(a, b),
};

/**
 * The pages of a step after a position. Before the contracts are read again, and before the first batch of those, there is a
 * page without entries at the start of everything: from then on, what the handler has is not complete.
 */
export function pagesOf(
  { changes, offset, isCaughtUp, reloads }: JoinStep<AnyContract>,
  after: ContractsPosition,
  batchSize: number,
): readonly Page[] {
  const reason = reloads ?? changes.find((change): change is Reset => change._tag === 'Reset')?.reason;
  const marker: Page = { entries: [], reached: nothingLoaded(reason), isCaughtUp: false };
  if (reloads !== undefined) return [marker];
  let { digest } = after;
  const entries = changes.flatMap((change) => {
    if (change._tag === 'Reset') {
      digest = digestOf(change.contracts);
      return batchesOf(change, digest, batchSize);
    }
    // the id of the update is the proof from now on
    if (change._tag === 'ContractsChanged') digest = undefined;
    return [{ position: completeAt(change.offset, digest), content: change }];
  });
  const page: Page = { entries, reached: completeAt(offset, digest), isCaughtUp };
  return reason === undefined ? [page] : [marker, page];
}

type Page = FeedPage<ContractsWork, ContractsPosition>;

/** The batches of a reset. Only the last one makes its contracts complete. */
function batchesOf(
  { reason, offset, contracts }: Reset,
  digest: string,
  batchSize: number,
): readonly FeedEntry<ContractsWork, ContractsPosition>[] {
  const size = Math.min(batchSize, Math.max(1, contracts.length));
  const count = Math.max(1, Math.ceil(contracts.length / size));
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    return {
      position: isLast ? completeAt(offset, digest) : { ...nothingLoaded(reason), loading: index + 1 },
      content: {
        _tag: 'ResetBatch',
        reason,
        offset,
        contracts: contracts.slice(index * size, (index + 1) * size),
        isFirst: index === 0,
        isLast,
      },
    };
  });
}

/** The contracts are complete. Sets every field, since positions are merged into a cursor. */
const completeAt = (offset: Offset, digest: string | undefined): ContractsPosition => ({
  offset,
  loading: undefined,
  reason: undefined,
  digest,
});

/** Tells two sets of contracts apart, whatever their order: their number, and the sum of a hash of each. */
export function digestOf(contracts: Iterable<AnyContract>): string {
  let count = 0;
  let sum = 0;
  for (const { contractId, reassignmentCounter } of contracts) {
    let hash = reassignmentCounter;
    for (let i = 0; i < contractId.length; i += 1) hash = Math.imul(hash ^ contractId.charCodeAt(i), 0x01000193);
    count += 1;
    sum = (sum + (hash >>> 0)) % Number.MAX_SAFE_INTEGER;
  }
  return `${count}:${sum}`;
}

/** The record times of a change, by synchronizer. */
export function contractsTimes(content: ContractsWork | OffsetCheckpoint): readonly SynchronizerTime[] {
  if (content._tag === 'OffsetCheckpoint') return content.synchronizerTimes;
  if (content._tag === 'ResetBatch' || content.synchronizerId === undefined) return [];
  const { synchronizerId, recordTime } = content;
  return [{ synchronizerId, recordTime }];
}
