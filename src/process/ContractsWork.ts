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
 * The input of a handler for a `contractsFeed`: first all contracts, in batches, then the changes of each update of the
 * ledger.
 *
 * @category Processing
 */
export type ContractsWork<C extends AnyContract = AnyContract> = ResetBatch<C> | ContractsChanged<C>;

/**
 * Some of the contracts at an offset. The batches from the first to the last replace all contracts that the handler
 * has.
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
  /** The contracts of the batch, empty if there are no contracts at all. Each contract is in exactly one batch. */
  readonly contracts: readonly C[];
  /** Whether this is the first batch: the handler must remove the contracts it has. */
  readonly isFirst: boolean;
  /** Whether this is the last batch, with which the contracts are complete. */
  readonly isLast: boolean;
}

/**
 * The position of a processor in the contracts of a ledger.
 *
 * @category Processing
 */
export interface ContractsPosition extends FeedPosition {
  /** The offset at which the contracts are complete; 0 while they are being loaded. */
  readonly offset: Offset;
  /** The number of handled batches of a load that is not complete; absent if the contracts at the offset are. */
  readonly loading?: number | undefined;
  /** Why the contracts are loaded; absent for the first load. */
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

/** The position before the first batch, from which nothing can be resumed. */
export const nothingLoaded = (reason?: Reset['reason']): ContractsPosition => ({
  offset: 0,
  loading: 0,
  reason,
  digest: undefined,
});

/** Returns the offset to resume after; `undefined` if the contracts are not complete. */
export const resumeOffset = ({ offset, loading }: ContractsPosition): Offset | undefined =>
  // a store may return null for an absent field
  typeof loading === 'number' ? undefined : offset;

const byOffset = orderBy<ContractsPosition>(({ offset }) => offset);
const byLoading = orderBy<ContractsPosition>(({ loading }) => (typeof loading === 'number' ? loading : -1));

/** By offset, and then by batch: the contracts at an offset are complete before another load begins. */
export const contractsOrder: ord.Ord<ContractsPosition> = {
  equals: (a, b) => byOffset.equals(a, b) && byLoading.equals(a, b),
  compare: (a, b) => byOffset.compare(a, b) || byLoading.compare(a, b),
};

/**
 * Returns the pages of a step after a position. An empty page at the initial position comes before the contracts are
 * read again, and before the first batch of them: from then on the contracts of the handler are not complete.
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
    // from now on the ID of the update is the proof
    if (change._tag === 'ContractsChanged') digest = undefined;
    return [{ position: completeAt(change.offset, digest), content: change }];
  });
  const page: Page = { entries, reached: completeAt(offset, digest), isCaughtUp };
  return reason === undefined ? [page] : [marker, page];
}

type Page = FeedPage<ContractsWork, ContractsPosition>;

/** Returns the batches of a reset. Only with the last one are its contracts complete. */
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

/**
 * Returns the position at which the contracts are complete. Sets every field, because positions are merged into a
 * cursor.
 */
const completeAt = (offset: Offset, digest: string | undefined): ContractsPosition => ({
  offset,
  loading: undefined,
  reason: undefined,
  digest,
});

/**
 * Returns a digest that distinguishes two sets of contracts regardless of order: their number, and the sum of the
 * hashes of each.
 */
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

/** Returns the record times of a change, by synchronizer. */
export function contractsTimes(content: ContractsWork | OffsetCheckpoint): readonly SynchronizerTime[] {
  if (content._tag === 'OffsetCheckpoint') return content.synchronizerTimes;
  if (content._tag === 'ResetBatch' || content.synchronizerId === undefined) return [];
  const { synchronizerId, recordTime } = content;
  return [{ synchronizerId, recordTime }];
}
