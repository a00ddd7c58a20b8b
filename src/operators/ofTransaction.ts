import { filter, type OperatorFunction, pipe, take, takeWhile } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';

/**
 * Finds a committed transaction in a feed: passes the transaction with the same update id, as the feed shows it, and
 * completes; completes without one when the feed goes beyond its offset, as it does where its format shows nothing of it.
 *
 * @param transaction - such as `executeAndWaitForTransaction` emits
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
