import { first, map, type OperatorFunction, pipe } from 'rxjs';
import { checkNotNegative } from '../codecs/internal/field.js';
import type { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';

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
  checkNotNegative({ offset }, true);
  return pipe(
    first((update) => update.offset >= offset),
    map((update) => update.offset),
  );
}
