import type { ord } from 'fp-ts';
import type * as t from 'io-ts';
import { integer, oneOfStrings, optional } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { OffsetCheckpoint, SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractsChanged, Reset } from '../contracts/ContractChange.js';
import type { JoinStep } from '../contracts/join.js';
import { type FeedEntry, type FeedPage, type FeedPosition, orderBy } from './Feed.js';

/** What a handler gets of a `contractsFeed`: all contracts, in batches, and then what each update of the ledger changed. */
export type ContractsWork<C extends AnyContract = AnyContract> = ResetBatch<C> | ContractsChanged<C>;

/** Some of all contracts at an offset. The batches from the first to the last replace whatever the handler has. */
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

/** The position of a processor in the contracts of a ledger. */
export interface ContractsPosition extends FeedPosition {
  /** The offset at which the contracts were complete last; 0 if they never were. */
  readonly offset: Offset;
  /** How many batches of other contracts are handled, which are not complete; absent if the contracts at the offset are. */
  readonly loading?: number | undefined;
  /** Why they are loaded; absent for the first time. */
  readonly reason?: Reset['reason'] | undefined;
}

/** Codec of `ContractsPosition`. */
export const ContractsPosition: t.Type<ContractsPosition, unknown> = message<ContractsPosition>('ContractsPosition', {
  offset: Offset,
  loading: optional(integer('Batches', 0, Infinity, 'a whole number')),
  reason: optional(oneOfStrings<Reset['reason']>('ResetReason', 'start', 'pruned', 'ledgerReset', 'packageFound')),
});

/** The position before the first batch, with nothing that could be continued. */
export const nothingLoaded = (reason?: Reset['reason']): ContractsPosition => ({ offset: 0, loading: 0, reason });

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

/** The page of a step after a position, and one before it if the ledger was reset: nothing of the old one must be left. */
export function pagesOf(
  { changes, offset, isCaughtUp }: JoinStep<AnyContract>,
  after: ContractsPosition,
  batchSize: number,
): readonly Page[] {
  const reset = changes.find((change): change is Reset => change._tag === 'Reset');
  const isReplaced = reset?.reason === 'ledgerReset';
  const start = isReplaced ? nothingLoaded(reset.reason) : after;
  const entries = changes.flatMap((change) =>
    change._tag === 'Reset'
      ? batchesOf(change, start.offset, batchSize)
      : [{ position: completeAt(change.offset), content: change }],
  );
  const page: Page = { entries, reached: completeAt(offset), isCaughtUp };
  return isReplaced ? [{ entries: [], reached: start, isCaughtUp: false }, page] : [page];
}

type Page = FeedPage<ContractsWork, ContractsPosition>;

/** The batches of a reset. Only the last one makes its contracts complete. */
function batchesOf(
  { reason, offset, contracts }: Reset,
  completeBefore: Offset,
  batchSize: number,
): readonly FeedEntry<ContractsWork, ContractsPosition>[] {
  const count = Math.max(1, Math.ceil(contracts.length / batchSize));
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    return {
      position: isLast ? completeAt(offset) : { offset: completeBefore, loading: index + 1, reason },
      content: {
        _tag: 'ResetBatch',
        reason,
        offset,
        contracts: contracts.slice(index * batchSize, (index + 1) * batchSize),
        isFirst: index === 0,
        isLast,
      },
    };
  });
}

/** The contracts are complete. Sets every field, since positions are merged into a cursor. */
const completeAt = (offset: Offset): ContractsPosition => ({ offset, loading: undefined, reason: undefined });

/** The record times of a change, by synchronizer. */
export function contractsTimes(content: ContractsWork | OffsetCheckpoint): readonly SynchronizerTime[] {
  if (content._tag === 'OffsetCheckpoint') return content.synchronizerTimes;
  if (content._tag === 'ResetBatch' || content.synchronizerId === undefined) return [];
  const { synchronizerId, recordTime } = content;
  return [{ synchronizerId, recordTime }];
}
