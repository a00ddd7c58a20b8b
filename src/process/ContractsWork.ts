import type * as t from 'io-ts';
import { integer, oneOfStrings, optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { OffsetCheckpoint, SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractsChanged, Reset } from '../contracts/ContractChange.js';
import type { JoinStep } from '../contracts/join.js';
import { type FeedPosition, LastUpdate } from './Cursor.js';
import type { FeedEntry, FeedPage } from './Feed.js';

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
  /**
   * While the contracts are loaded again: the offset of those that the handler has. No snapshot before it is loaded.
   * Absent if the handler has none of this ledger.
   */
  readonly notBefore?: Offset | undefined;
  /** The last update that the handler has, which proves that the ledger is still the same. */
  readonly lastUpdate?: LastUpdate | undefined;
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
  notBefore: optional(Offset),
  lastUpdate: optional(LastUpdate),
  digest: optional(text),
  reason: optional(oneOfStrings<Reset['reason']>('ResetReason', 'start', 'pruned', 'ledgerReset', 'packageFound')),
});

/** The position before the first batch, from which nothing can be resumed. */
export const nothingLoaded = (reason?: Reset['reason']): ContractsPosition => ({
  offset: 0,
  loading: 0,
  reason,
  lastUpdate: undefined,
});

/**
 * Returns the position before the first batch of a load that follows another position. If the ledger is the same, it has
 * what proves that after a restart: the contracts of the handler may then be extended, and not only replaced.
 */
const loadAfter = (
  position: ContractsPosition,
  reason: Reset['reason'],
): ContractsPosition & { readonly participantId?: undefined } =>
  reason === 'ledgerReset'
    ? // the cursor gets the ID of the other participant at the next start
      { ...nothingLoaded(reason), participantId: undefined }
    : {
        ...nothingLoaded(reason),
        notBefore: resumeOffset(position) ?? position.notBefore,
        lastUpdate: position.lastUpdate,
      };

/** Returns the offset to resume after; `undefined` if the contracts are not complete. */
export const resumeOffset = (position: ContractsPosition): Offset | undefined =>
  loadedBatches(position) < 0 ? position.offset : undefined;

/** By offset, and then by batch: the contracts at an offset are complete before another load begins. */
export const compareContracts = (a: ContractsPosition, b: ContractsPosition): number =>
  a.offset - b.offset || loadedBatches(a) - loadedBatches(b);

/** Returns the number of loaded batches; -1 if the contracts are complete. A store may return null for an absent field. */
const loadedBatches = ({ loading }: ContractsPosition): number => (typeof loading === 'number' ? loading : -1);

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
  const begin = reason === undefined ? after : loadAfter(after, reason);
  const marker: Page = { entries: [], reached: begin, isCaughtUp: false };
  if (reloads !== undefined) return [marker];
  let { digest, lastUpdate } = begin;
  const entries = changes.flatMap((change) => {
    if (change._tag === 'Reset') {
      digest = digestOf(change.contracts);
      return batchesOf(change, begin, { offset: change.offset, digest, lastUpdate }, batchSize);
    }
    if (change._tag === 'ContractsChanged') {
      // from now on the ID of the update is the proof
      digest = undefined;
      lastUpdate = { offset: change.offset, updateId: change.updateId };
    }
    return [{ position: { offset: change.offset, digest, lastUpdate }, content: change }];
  });
  const page: Page = { entries, reached: { offset, digest, lastUpdate }, isCaughtUp };
  return reason === undefined ? [page] : [marker, page];
}

type Page = FeedPage<ContractsWork, ContractsPosition>;

/** Returns the batches of a reset. Only with the last one are its contracts complete. */
function batchesOf(
  { reason, offset, contracts }: Reset,
  begin: ContractsPosition,
  end: ContractsPosition,
  batchSize: number,
): readonly FeedEntry<ContractsWork, ContractsPosition>[] {
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
