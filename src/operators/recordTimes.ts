import { distinctUntilChanged, filter, type OperatorFunction, pipe, scan } from 'rxjs';
import type { Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isLater, timesOf } from './internal/times.js';

type RecordTimes = ReadonlyMap<string, Timestamp>;

/**
 * Emits the latest record time of each synchronizer, by synchronizer id, whenever one of the times advances.
 *
 * Each emission is a new map with all synchronizers so far. Transactions, reassignments, topology transactions and
 * checkpoints advance times; updates of an unknown variant do not. A checkpoint that advances several times causes one
 * emission. An update that advances none causes no emission.
 *
 * Times never decrease. They are compared as instants, to the last digit, and stay the text that the ledger sent.
 * Record times of different synchronizers are not comparable. Errors and completion are those of the source. Each
 * subscription starts with an empty map.
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

/** Returns a new map, or the same map if the update advances no time. */
function advance(times: RecordTimes, update: Update): RecordTimes {
  return timesOf(update).reduce((latest, { synchronizerId, recordTime }) => {
    const before = latest.get(synchronizerId);
    const advances = before === undefined || isLater(recordTime, before);
    return advances ? new Map(latest).set(synchronizerId, recordTime) : latest;
  }, times);
}
