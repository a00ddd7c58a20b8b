import { distinctUntilChanged, filter, type OperatorFunction, pipe, scan } from 'rxjs';
import type { Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isRecord } from '../codecs/internal/Codec.js';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { ReassignmentEvent } from '../codecs/Reassignment.js';

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

/**
 * Whether `a` is a later instant than `b`, to the last fraction digit. They cannot be compared as text: seconds and
 * fraction may be omitted (`:00Z` is earlier than `:00.5Z`, but 'Z' sorts after '.'), and years have four to nine
 * digits.
 */
export const isLater = (a: Timestamp, b: Timestamp): boolean => {
  // both have four-digit years and the same length, as a ledger sends them
  if (a.length === b.length && a.indexOf('-') === 4 && b.indexOf('-') === 4) return a > b;
  const left = parts(a);
  const right = parts(b);
  return left.year === right.year ? left.rest > right.rest : left.year > right.year;
};

const midnight = '00:00:00.000000000';

/** Splits a timestamp into the year as a number, and the rest padded to full length, which can be compared as text. */
function parts(timestamp: Timestamp): { readonly year: number; readonly rest: string } {
  const [date = '', clock = ''] = timestamp.replace('Z', '').split('T');
  const monthAndDay = date.slice(-'-MM-DD'.length);
  return {
    year: Number(date.slice(0, -monthAndDay.length)),
    rest: `${monthAndDay}T${clock}${midnight.slice(clock.length)}`,
  };
}

/** Returns the synchronizers of an update; none if it names none. */
export function synchronizersOf(update: Update): readonly string[] {
  switch (update._tag) {
    case 'Transaction':
    case 'TopologyTransaction':
      return [update.synchronizerId];
    case 'Reassignment':
      return update.synchronizerId === undefined ? update.events.flatMap(synchronizerOf) : [update.synchronizerId];
    case 'OffsetCheckpoint':
      return update.synchronizerTimes.map(({ synchronizerId }) => synchronizerId);
    case 'UnknownUpdate':
      return synchronizerIdsIn(update.value);
  }
}

/** Returns the synchronizer of a reassignment's event. In 3.3, only the events name it. */
function synchronizerOf(event: ReassignmentEvent): readonly string[] {
  if (event._tag === 'UnknownEvent') return [];
  return [event._tag === 'UnassignedEvent' ? event.source : event.target];
}

/** Reads `{"synchronizerId": ...}`, with or without the `{"value": ...}` that wraps updates on the wire. */
function synchronizerIdsIn(value: unknown): readonly string[] {
  if (!isRecord(value)) return [];
  const wrapped = isRecord(value['value']) ? value['value']['synchronizerId'] : undefined;
  return [value['synchronizerId'], wrapped].filter((id) => typeof id === 'string');
}

/** Returns the record times of an update, by synchronizer. */
export function timesOf(update: Update): readonly SynchronizerTime[] {
  if (update._tag === 'OffsetCheckpoint') return update.synchronizerTimes;
  if (update._tag === 'UnknownUpdate') return [];
  const { recordTime } = update;
  return synchronizersOf(update).map((synchronizerId) => ({ synchronizerId, recordTime }));
}
