import { filter, type OperatorFunction, pipe, take, takeWhile } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';

/**
 * Finds a committed transaction in a feed: emits the feed's transaction with the same update id, and completes. If the
 * feed's format selects none of its events, it completes without a value once the feed has passed the offset.
 *
 * @param transaction - a transaction, such as the one that `executeAndWaitForTransaction` emits
 * @example
 * ```ts
 * import { acsDelta, createLedger, ofTransaction, type Transaction } from 'canton-rx';
 * import type { Observable } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const updateFormat = acsDelta({ parties: 'any' });
 * const asOthersSeeIt = (committed: Transaction): Observable<Transaction> =>
 *   ledger.updates({ beginExclusive: committed.offset - 1, updateFormat }).pipe(ofTransaction(committed));
 * ```
 * @category Operators
 */
export const ofTransaction = ({
  updateId,
  offset,
}: Pick<Transaction, 'updateId' | 'offset'>): OperatorFunction<Update, Transaction> =>
  pipe(
    takeWhile((update) => update.offset <= offset),
    filter((update): update is Transaction => update._tag === 'Transaction' && update.updateId === updateId),
    take(1),
  );
