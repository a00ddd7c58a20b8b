import type * as t from 'io-ts';
import { flag, integer, oneOfStrings, optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractsChanged, ContractsDifference, ReconcileReason, Reset } from '../contracts/ContractChange.js';
import type { ContractSet } from '../contracts/ContractSet.js';
import { type LedgerPosition, positionFields } from '../codecs/LedgerPosition.js';
import type { FeedPosition } from './CheckpointStore.js';

/**
 * The position of a processor in the contracts of a ledger.
 *
 * @category Processing
 */
export interface ContractsPosition extends FeedPosition, Omit<Partial<LedgerPosition>, 'recordTimes'> {
  /** The participant to which the offsets belong; absent if it is not known. */
  readonly participantId?: string | undefined;
  /** How far each synchronizer has been read. */
  readonly recordTimes?: LedgerPosition['recordTimes'] | undefined;
  /** The offset at which the contracts are complete; 0 while they are being loaded. */
  readonly offset: Offset;
  /** The number of handled batches of a load that is not complete; absent if the contracts at the offset are. */
  readonly loading?: number | undefined;
  /** Why the contracts are loaded; absent for the first load. */
  readonly reason?: Reset['reason'] | ReconcileReason | undefined;
  /**
   * While the contracts are loaded again: the offset of those that the handler has. No snapshot before it is loaded.
   * Absent if the handler has none of this ledger.
   */
  readonly notBefore?: Offset | undefined;
  /**
   * The ID of the contract that was newest when the contracts were loaded. Until the first update after them, it proves
   * that the ledger is still the same.
   */
  readonly newestContractId?: string | undefined;
  /**
   * The number of contracts that the handler has, and a hash of their IDs, locations and views: the participant may show
   * others by now, or show them elsewhere or with further views.
   */
  readonly checksum?: string | undefined;
  /** A hash of what the contracts were selected by. */
  readonly selection?: string | undefined;
  /** The offset at which that replaced another selection; absent if the handler has had no other one since its first load. */
  readonly selectedSince?: Offset | undefined;
  /** Whether the handler has the blobs of its contracts for explicit disclosure. */
  readonly hasBlobs?: boolean | undefined;
}

/** The reasons of a load at the offset that the handler has reached. */
const reconcileReasons = ['packageFound', 'appeared', 'selectionChanged'] as const;

/**
 * Codec of `ContractsPosition`.
 *
 * @category Processing
 */
export const ContractsPosition: t.Type<ContractsPosition, unknown> = message<ContractsPosition>('ContractsPosition', {
  offset: Offset,
  loading: optional(integer('Batches', 0, Infinity, 'a whole number')),
  notBefore: optional(Offset),
  participantId: positionFields.participantId,
  lastUpdate: positionFields.lastUpdate,
  recordTimes: optional(positionFields.recordTimes),
  newestContractId: optional(text),
  checksum: optional(text),
  selection: optional(text),
  selectedSince: optional(Offset),
  hasBlobs: optional(flag),
  reason: optional(
    oneOfStrings<Reset['reason'] | ReconcileReason>(
      'ResetReason',
      'start',
      'pruned',
      'ledgerReset',
      ...reconcileReasons,
    ),
  ),
});

/** Returns the position in a cursor. From now on the contracts have blobs, or not. */
export const beginAt = (cursor: ContractsPosition, hasBlobs: boolean): ContractsPosition => {
  const { offset, loading, reason, notBefore, participantId, lastUpdate, recordTimes } = cursor;
  const { newestContractId, checksum, selection, selectedSince } = cursor;
  const read = { participantId, lastUpdate, recordTimes: recordTimes ?? {} };
  const state = typeof loading === 'number' ? { loading, reason, notBefore } : {};
  return {
    offset,
    ...state,
    ...read,
    newestContractId,
    checksum,
    selection,
    selectedSince,
    ...(hasBlobs && { hasBlobs }),
  };
};

/** The position before the first batch, from which nothing can be resumed. */
export const nothingLoaded = (reason?: ContractsPosition['reason']): ContractsPosition => ({
  offset: 0,
  loading: 0,
  reason,
  lastUpdate: undefined,
});

/**
 * Returns the position before the first batch of a load that follows another position. If the ledger is the same, it has
 * what proves that after a restart: the contracts of the handler may then be extended, and not only replaced. If not, it
 * names the participant of the other ledger, so that a restart with the wrong address does not load a third one.
 */
export const loadAfter = (
  position: ContractsPosition,
  reason: Reset['reason'] | ReconcileReason,
  participantId: string | undefined,
): ContractsPosition =>
  reason === 'ledgerReset'
    ? { ...nothingLoaded(reason), participantId, recordTimes: {} }
    : {
        ...nothingLoaded(reason),
        notBefore: resumeOffset(position) ?? position.notBefore,
        participantId: position.participantId,
        lastUpdate: position.lastUpdate,
        recordTimes: position.recordTimes ?? {},
        selectedSince: position.selectedSince,
      };

/** Returns what was read of the ledger before a position; `undefined` if nothing shows which ledger it was. */
export function readIn(position: ContractsPosition): LedgerPosition | undefined {
  const { participantId, lastUpdate, recordTimes, notBefore } = position;
  const offset = resumeOffset(position) ?? notBefore ?? undefined;
  if (offset === undefined || (participantId === undefined && lastUpdate === undefined)) return undefined;
  return { offset, participantId, lastUpdate, recordTimes: recordTimes ?? {} };
}

/** Returns the position after the last batch of a load. */
export const loadedAt = (
  { participantId, lastUpdate, recordTimes, selection, selectedSince }: ContractsPosition,
  offset: Offset,
  contracts: Iterable<AnyContract>,
  hasBlobs: boolean,
): ContractsPosition => ({
  ...(participantId !== undefined && { participantId }),
  ...{
    offset,
    lastUpdate,
    recordTimes: recordTimes ?? {},
    checksum: checksumOf(contracts),
    newestContractId: newestIn(contracts),
    selection,
    selectedSince,
  },
  ...(hasBlobs && { hasBlobs }),
});

/**
 * Returns the position after a change.
 *
 * @param contracts - those after the change
 */
export function positionAfter(
  position: ContractsPosition,
  change: ContractsChanged,
  contracts: Iterable<AnyContract>,
): ContractsPosition {
  const { offset, updateId, reason } = change;
  // contracts that were read again may have other views than those that were added
  const isReadAgain = reason === 'packageFound' || reason === 'appeared';
  const checksum = isReadAgain ? checksumOf(contracts) : checksumAfter(position.checksum, change);
  if (updateId === undefined) return { ...position, offset, checksum };
  // from now on the ID of the update is the proof
  return { ...position, offset, checksum, lastUpdate: { offset, updateId }, newestContractId: undefined };
}

/** Returns the offset to resume after; `undefined` if the contracts must be loaded at a later one. */
export function resumeOffset({ offset, reason, notBefore, loading }: ContractsPosition): Offset | undefined {
  // a store may return null for an absent field
  if (typeof loading !== 'number') return offset;
  return isReconciling(reason) ? (notBefore ?? undefined) : undefined;
}

/** Whether the contracts are loaded at the offset that the handler has reached, so that no change is left out. */
export const isReconciling = (reason: ContractsPosition['reason'] | null): reason is ReconcileReason =>
  reconcileReasons.some((each) => each === reason);

/**
 * Returns a function that compares the contracts at the offset of a position with those that the handler has.
 *
 * A processor has no access to what its handler has, and a participant may show other contracts at the same offset than
 * before: after the upload of a package, for example. The list of packages would not show that, because it changes with
 * uploads that concern no contract, may not be readable, and is silent about the other causes. So the position has a
 * checksum of the contracts, which each change updates. If it differs, nothing is wrong: all contracts are given to the
 * handler again. A checksum that differs by mistake costs a load; one that is equal by chance is one in 2^32.
 */
export const compareWith =
  ({ newestContractId, checksum, hasBlobs, reason }: ContractsPosition, needsBlobs: boolean) =>
  (contracts: ContractSet): 'same' | ReconcileReason | 'otherLedger' => {
    // The snapshot at an offset always lists the same contracts. A contract ID names a contract of one ledger only.
    if (typeof newestContractId === 'string' && !contracts.has(newestContractId)) return 'otherLedger';
    if (isReconciling(reason)) return reason;
    if (needsBlobs && hasBlobs !== true) return 'selectionChanged';
    return typeof checksum === 'string' && checksum !== checksumOf(contracts) ? 'appeared' : 'same';
  };

/** The beginning of each selection: cursors of an updates feed belong to no contracts. */
export const contractsKind = 'contracts:';

/** Whether a selection is that of parties, and not one from before the first list of them. */
export const isOfParties = (selection = ''): boolean => selection.length > contractsKind.length;

/** By offset, and then by batch: the contracts at an offset are complete before another load begins. */
export const compareContracts = (a: ContractsPosition, b: ContractsPosition): number =>
  a.offset - b.offset || loadedBatches(a) - loadedBatches(b);

/** Returns the number of loaded batches; -1 if the contracts are complete. A store may return null for an absent field. */
const loadedBatches = ({ loading }: ContractsPosition): number => (typeof loading === 'number' ? loading : -1);

/** The contract that was created or assigned last. */
const newestIn = (contracts: Iterable<AnyContract>): string | undefined => {
  let newest: AnyContract | undefined;
  for (const contract of contracts) if (contract.offset > (newest?.offset ?? 0)) newest = contract;
  return newest?.contractId;
};

/** Returns a text that distinguishes sets of contracts: their number, and the sum of the hashes of their IDs, locations and views. */
const checksumOf = (contracts: Iterable<AnyContract>): string =>
  checksumAfter('0:0', { added: [...contracts], removed: [], moved: [] }) ?? '';

/** Returns the checksum after a change; `undefined` if the one before is not known. */
function checksumAfter(
  checksum: string | undefined | null,
  { added, removed, moved }: ContractsDifference,
): string | undefined {
  if (typeof checksum !== 'string') return undefined;
  const [count = 0, before = 0] = checksum.split(':').map(Number);
  let sum = before;
  const add = (hash: number): void => {
    sum = (sum + hash + 2 ** 48) % 2 ** 48;
  };
  for (const contract of added) add(hashOf(contract));
  for (const contract of removed) add(-hashOf(contract));
  for (const { contract, from } of moved) add(hashOf(contract) - hashOf(contract, from));
  return `${count + added.length - removed.length}:${sum}`;
}

/**
 * A new package may add a view to a contract, or make a view work. A participant that is not connected to the target of a
 * reassignment keeps the contract in flight; another participant shows it at the target.
 */
function hashOf({ contractId, location, createdEvent: { interfaceViews } }: AnyContract, at = location): number {
  const place = 'inFlight' in at ? `${at.inFlight.source} ${at.inFlight.target}` : at.synchronizerId;
  let hash = hashAfter(hashAfter(0, contractId), place);
  // their order is up to the participant
  for (const text of interfaceViews.map(({ interfaceId, viewStatus }) => `${interfaceId} ${viewStatus.code}`).sort())
    hash = hashAfter(hash, text);
  return hash >>> 0;
}

function hashAfter(before: number, text: string): number {
  let hash = before;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
