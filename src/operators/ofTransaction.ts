import { filter, first, map, type OperatorFunction, pipe, take, takeWhile } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import type { Update } from '../codecs/Update.js';
import type { Completion, CompletionResponse } from '../codecs/Completion.js';
import type { Offset, Party } from '../codecs/scalars.js';
import { checkOffset } from '../codecs/internal/numbers.js';
import { hasPartiesOf } from '../codecs/internal/submissionId.js';

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

/**
 * Identifies a change: the participant commits it once.
 *
 * @inline
 */
interface ChangeId {
  /** The command id. */
  readonly commandId: string;
  /** The user that submitted. Default: any user. */
  readonly userId?: string | undefined;
  /** The parties that act. Neither their order nor repetition has a meaning. */
  readonly actAs: readonly Party[];
}

/**
 * Options of `ofChange`.
 *
 * @inline
 */
interface ChangeOptions {
  /**
   * The parties of the request, if it lacks parties that act: a completion has only those parties of `actAs` that the
   * request names. Default: the request names all parties that act.
   */
  readonly parties?: readonly Party[] | undefined;
}

/**
 * Emits only the completions of a change: of all its attempts, in order. There can be any number of rejections, and one
 * transaction.
 *
 * Committed reassignments are left out: an automatic one has the command id of the transaction that needs it, and that
 * transaction is still open. A completion does not show parties that the request does not name. The submission ids of this
 * library have the number of parties, so that the change of more parties is left out. With other programs, use each command
 * id for one change.
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { type CompletionResponse, ofChange } from 'canton-rx';
 *
 * const completions: CompletionResponse[] = [];
 * from(completions)
 *   .pipe(ofChange({ commandId: 'order-7', actAs: ['alice::1220ab', 'bob::1220cd'] }))
 *   .subscribe(({ outcome }) => {
 *     console.log(outcome);
 *   });
 * ```
 * @category Operators
 */
export function ofChange(
  { commandId, userId, actAs }: ChangeId,
  { parties = actAs }: ChangeOptions = {},
): OperatorFunction<CompletionResponse, Completion> {
  const expected = new Set(actAs.filter((party) => parties.includes(party)));
  const hasParties = (found: readonly Party[]): boolean =>
    new Set(found).size === expected.size && found.every((party) => expected.has(party));
  return filter(
    (element): element is Completion =>
      element._tag === 'Completion' &&
      element.commandId === commandId &&
      (userId === undefined || element.userId === userId) &&
      element.outcome !== 'reassigned' &&
      hasParties(element.actAs) &&
      hasPartiesOf(element, actAs) !== false,
  );
}

/**
 * Waits until a running feed has reached an offset. Emits the offset of the first update or checkpoint at or after it,
 * and completes. Apply it after the operator that handles the updates, so that later reads see their effects.
 *
 * It waits indefinitely if the feed emits neither an update nor a checkpoint at or after the offset, so add `timeout`.
 * If the feed completes first, it fails with RxJS's `EmptyError`.
 *
 * @param offset - an offset, such as that of the transaction that `executeAndWaitForTransaction` emits
 * @throws TypeError if `offset` is not an offset
 * @example
 * ```ts
 * import { acsDelta, awaitIngested, createLedger } from 'canton-rx';
 * import { share, timeout } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed$ = ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }).pipe(share());
 * feed$.pipe(awaitIngested(12), timeout(10_000)).subscribe((offset) => {
 *   console.log(`everything up to ${offset} is there`);
 * });
 * ```
 * @category Operators
 */
export function awaitIngested(offset: Offset): OperatorFunction<Pick<Update, 'offset'>, Offset> {
  checkOffset(offset);
  return pipe(
    first((update) => update.offset >= offset),
    map((update) => update.offset),
  );
}
