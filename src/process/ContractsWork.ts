import type { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractsBatch, ContractsChanged, ReconcileReason, Reset } from '../contracts/ContractChange.js';
import type { Parties } from '../contracts/selection/Selection.js';
import { advance, type Batch } from '../history/positions.js';
import { type ContractsPosition, isOfParties, loadAfter, loadedAt, positionAfter } from './ContractsPosition.js';
import type { FeedEntry } from './Feed.js';

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
  /**
   * Why all contracts are read. With a {@link ReconcileReason}, they are read at the offset that the handler has reached,
   * after a restart: the ledger is the same, and no update is left out, but the participant shows other contracts there
   * than before, or more of each. A handler that keeps a history can keep it.
   */
  readonly reason: Reset['reason'] | ReconcileReason;
  /** The offset of the snapshot, the same for all of its batches. Changes continue after it. */
  readonly offset: Offset;
  /** The contracts of the batch, empty if there are no contracts at all. Each contract is in exactly one batch. */
  readonly contracts: readonly C[];
  /** Whether this is the first batch: the handler must remove the contracts it has. */
  readonly isFirst: boolean;
  /** Whether this is the last batch, with which the contracts are complete. */
  readonly isLast: boolean;
}

/** All contracts at an offset, and why the handler gets them. */
interface Load {
  readonly reason: ResetBatch['reason'];
  readonly offset: Offset;
  readonly contracts: readonly AnyContract[];
}

/** How to make batches. */
interface Batching {
  readonly batchSize: number;
  readonly hasBlobs: boolean;
  readonly selectionOf: (parties: Parties) => string;
}

/**
 * Returns the batches of a change of the contracts after a position. An empty one at the initial position comes before the contracts are
 * read again, and before the first batch of them: from then on the contracts of the handler are not complete.
 */
export function batchesOf(
  {
    items: changes,
    position: read,
    offset,
    isCaughtUp,
    reloads,
    differs,
    contracts,
    origin,
    parties,
  }: ContractsBatch<AnyContract>,
  last: ContractsPosition,
  { batchSize, hasBlobs, selectionOf }: Batching,
): readonly Batch<Entry, ContractsPosition>[] {
  const reason = reloads ?? differs ?? changes.find((change): change is Reset => change._tag === 'Reset')?.reason;
  const after = parties === undefined ? last : selecting(last, selectionOf(parties), offset);
  if (reason !== undefined) {
    const begin = loadAfter(after, reason, read.participantId);
    const marker = { items: [], position: begin, isCaughtUp: false };
    if (reloads !== undefined) return [marker];
    const { selection } = after;
    const end = { ...loadedAt({ ...begin, selection }, offset, contracts, hasBlobs), ...read };
    const items = resetBatches({ reason, offset, contracts: contracts.toArray() }, begin, end, batchSize);
    return [marker, { items, position: end, isCaughtUp }];
  }
  let position = after;
  let before = origin.before;
  const items = changes.flatMap((change): readonly Entry[] => {
    if (change._tag === 'Reset') return [];
    position =
      change._tag === 'ContractsChanged'
        ? positionAfter(position, change, contracts)
        : { ...position, offset: change.offset };
    // a change without an update was not read
    const isUpdate = change._tag === 'OffsetCheckpoint' || change.updateId !== undefined;
    before = isUpdate ? advance(before, [change], origin.isAddressed) : before;
    position = { ...position, ...before };
    return [{ position, content: change }];
  });
  const reached = { ...position, ...read };
  // the contracts may be newer than what a feed has read again after its last update
  const end = origin.isAddressed ? { ...reached, offset } : reached;
  return [{ items, position: end, isCaughtUp }];
}

/** Returns a position with a selection, which has an offset if it replaces another one: what was read before is not of it. */
const selecting = (last: ContractsPosition, selection: string, offset: Offset): ContractsPosition => ({
  ...last,
  selection,
  ...(isOfParties(last.selection) && last.selection !== selection && { selectedSince: offset }),
});

type Entry = FeedEntry<ContractsWork, ContractsPosition>;

/** Returns the batches of a reset. Only with the last one are its contracts complete. */
function resetBatches(
  { reason, offset, contracts }: Load,
  begin: ContractsPosition,
  end: ContractsPosition,
  batchSize: number,
): readonly Entry[] {
  const size = Math.min(batchSize, Math.max(1, contracts.length));
  const count = Math.max(1, Math.ceil(contracts.length / size));
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    return {
      position: isLast ? end : { ...begin, loading: index + 1 },
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
