import { filter, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { synchronizersOf } from './recordTimes.js';

/**
 * Emits only the updates of the given synchronizers.
 *
 * - A checkpoint matches if its `synchronizerTimes` contain one of the synchronizers. It stays unchanged.
 * - A reassignment matches by its `synchronizerId`. From a 3.3 ledger, which does not send it, it matches by the source
 *   of its unassignments or the target of its assignments.
 * - An update of an unknown variant matches if its undecoded value contains a matching `synchronizerId`, directly or
 *   within `value`.
 *
 * Order, errors and completion are those of the source.
 *
 * @param id - the id of a synchronizer: `name::fingerprint`
 * @param ids - further synchronizers
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { onSynchronizer, type Update } from 'canton-rx';
 *
 * const recordTime = '2026-07-24T10:00:00.123456Z';
 * const updates: Update[] = [
 *   { _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [{ synchronizerId: 'global::1220ab', recordTime }] },
 *   { _tag: 'OffsetCheckpoint', offset: 8, synchronizerTimes: [{ synchronizerId: 'private::1220cd', recordTime }] },
 * ];
 *
 * from(updates)
 *   .pipe(onSynchronizer('global::1220ab'))
 *   .subscribe(({ offset }) => {
 *     console.log(offset); // 7
 *   });
 * ```
 * @category Operators
 */
export function onSynchronizer(
  id: string,
  ...ids: readonly string[]
): <U extends Update>(source: Observable<U>) => Observable<U> {
  const isSelected = (synchronizer: string): boolean => synchronizer === id || ids.includes(synchronizer);
  const passes = (update: Update): boolean =>
    // allocates no list for a transaction, the most frequent update
    update._tag === 'Transaction' ? isSelected(update.synchronizerId) : synchronizersOf(update).some(isSelected);
  return <U extends Update>(source: Observable<U>) => source.pipe(filter<U>(passes));
}
