import { distinctUntilChanged, filter, type OperatorFunction, pipe, scan } from 'rxjs';
import type { Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isLater, timesOf } from './internal/times.js';

type RecordTimes = ReadonlyMap<string, Timestamp>;

/**
 * Emits the latest record time of each synchronizer, by its id, whenever one of them advances.
 *
 * Transactions, reassignments, topology transactions and checkpoints advance times; updates of an unknown variant do not.
 * Every emission is a new map with all synchronizers so far. A checkpoint that advances several times causes one emission;
 * an update that advances none causes none. Times never go back. They are compared as instants with all their digits, and
 * remain the ledger's own text. Record times of different synchronizers are not comparable. Errors and completion are those
 * of the source; each subscription starts without times.
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { recordTimes, type Update } from 'canton-rx';
 *
 * const synchronizerId = 'global::1220ab';
 * const updates: Update[] = [
 *   { _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [{ synchronizerId, recordTime: '2026-07-24T10:00:00Z' }] },
 *   { _tag: 'OffsetCheckpoint', offset: 8, synchronizerTimes: [{ synchronizerId, recordTime: '2026-07-24T10:00:00.5Z' }] },
 * ];
 *
 * from(updates)
 *   .pipe(recordTimes())
 *   .subscribe((times) => {
 *     console.log(times.get(synchronizerId)); // 2026-07-24T10:00:00Z, then 2026-07-24T10:00:00.5Z
 *   });
 * ```
 * @category Operators
 */
export function recordTimes(): OperatorFunction<Update, ReadonlyMap<string, Timestamp>> {
  return pipe(
    scan<Update, RecordTimes>(advance, new Map()),
    distinctUntilChanged(),
    filter((times) => times.size > 0),
  );
}

/** Returns the same map if the update advances no time, otherwise a new one. */
function advance(times: RecordTimes, update: Update): RecordTimes {
  return timesOf(update).reduce((latest, { synchronizerId, recordTime }) => {
    const before = latest.get(synchronizerId);
    const advances = before === undefined || isLater(recordTime, before);
    return advances ? new Map(latest).set(synchronizerId, recordTime) : latest;
  }, times);
}
