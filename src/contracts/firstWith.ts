import { defer, filter, map, type Observable, take } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLater } from '../operators/recordTimes.js';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch } from './ContractChange.js';
import { type ContractsKnown, isKnown, knownStateOf, resetOf, type View } from './LiveState.js';

/**
 * Where a transaction is in the history of its ledger.
 *
 * @inline
 */
export type TransactionPlace = Pick<Transaction, 'offset' | 'synchronizerId' | 'recordTime'>;

/** Emits the first state of a view that includes a transaction, and completes. */
export const firstWith = <C extends AnyContract>(
  view$: Observable<View<C>>,
  transaction: TransactionPlace,
): Observable<ContractsKnown<C>> =>
  defer(() => {
    const includes = inclusionOf(transaction);
    return view$.pipe(
      filter(isKnown),
      filter(({ known }) => includes(known)),
      take(1),
      map(knownStateOf),
    );
  });

/**
 * Returns a function of the steps of a view, in order: whether they include a transaction. It throws a `LedgerResetError` when
 * another ledger takes the place of that of the transaction.
 *
 * An offset is an address on one participant. After the view has moved to another one, or to other offsets, only record times
 * show what it includes.
 */
export function inclusionOf(transaction: TransactionPlace): (known: ContractsBatch<AnyContract>) => boolean {
  let first: ContractsBatch<AnyContract> | undefined;
  let last: ContractsBatch<AnyContract> | undefined;
  let isIncluded = false;
  let isMoved = false;
  return (known) => {
    if (known === last) return isIncluded;
    // the first step is from before the call: its reset may be that to the ledger of the transaction
    if (last !== undefined && resetOf(known)?.reason === 'ledgerReset')
      throw new LedgerResetError(transaction.offset, known.offset, 'the view has left the ledger of the transaction');
    // a participant that was restored has other offsets from then on
    isMoved ||= last !== undefined && known.isMoved === true;
    first ??= known;
    last = known;
    isIncluded = (!isMoved && hasReached(known, first, transaction.offset)) || hasPassed(known, transaction);
    return isIncluded;
  };
}

/** Whether a step has reached an offset of the participant of the first step. */
function hasReached(
  { position, origin }: ContractsBatch<AnyContract>,
  first: ContractsBatch<AnyContract>,
  offset: number,
): boolean {
  const [before, now] = [first.position.participantId, position.participantId];
  const isSameParticipant = before === undefined || now === undefined || before === now;
  return isSameParticipant && origin.isAddressed && position.offset >= offset;
}

/** Whether a step has passed the record time of a transaction on its synchronizer, which is the same on every participant. */
export const hasPassed = (
  { position, items }: ContractsBatch<AnyContract>,
  { synchronizerId, recordTime }: TransactionPlace,
): boolean =>
  [
    { synchronizerId, ...position.recordTimes[synchronizerId] },
    ...items.flatMap((item) => (item._tag === 'OffsetCheckpoint' ? item.synchronizerTimes : [])),
  ].some(
    (read) =>
      read.synchronizerId === synchronizerId && read.recordTime !== undefined && !isLater(recordTime, read.recordTime),
  );
