import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';
import { clampTimer } from '../http/retry.js';

/** What the deduplication period of an attempt depends on. */
interface Reach {
  /** The period that the caller requests; `Empty` or absent: all that the participant remembers. */
  readonly requested: DeduplicationPeriod | null | undefined;
  /** The ledger end before the first attempt, if it is known. */
  readonly since?: Offset | undefined;
  /** The earliest offset that a pruned participant allows. It replaces only the longest period, which the caller leaves open. */
  readonly earliest?: Offset | undefined;
  /** Whether an earlier attempt was sent. */
  readonly isLater: boolean;
  /** The time since the first attempt was sent, in milliseconds. */
  readonly ageMs: number;
  /** The longest time from sending an attempt until the participant checks it for duplicates, in milliseconds. */
  readonly attemptMs: number;
}

/**
 * Returns the deduplication period of an attempt. The participant measures a duration back from the moment at which it checks
 * the attempt, so that a fixed duration looks less far back with each attempt. The law of this function: however long an
 * attempt takes, its period reaches back to before the first attempt, and as far beyond that as the caller requests.
 *
 * An offset before the start does so at any time. One that the caller requests proves nothing if the start is unknown: the
 * longest period takes its place. A requested duration is therefore extended by the time that has passed. The first attempt,
 * too, may be checked after a later one was committed: its duration is at least as long as an attempt may take. The default
 * of the participant is never used, because it can be as short as 30 seconds.
 */
export function deduplicationPeriod(reach: Reach): DeduplicationPeriod {
  const { requested, since, earliest, isLater, ageMs, attemptMs } = reach;
  const offset =
    requested != null && 'DeduplicationOffset' in requested ? requested.DeduplicationOffset.value : undefined;
  // without the ledger end, an offset may be after what this ledger commits, unless it is its beginning
  if (offset !== undefined && (since !== undefined || offset === 0)) return offsetPeriod(Math.min(offset, since ?? 0));
  const passedSeconds = 1 + Math.ceil(((isLater ? ageMs : 0) + attemptMs) / 1_000);
  if (requested != null && 'DeduplicationDuration' in requested) {
    const { seconds } = requested.DeduplicationDuration.value;
    if (!isLater && seconds >= passedSeconds) return requested;
    return durationPeriod(isLater ? seconds + passedSeconds : passedSeconds);
  }
  if (earliest !== undefined) return offsetPeriod(Math.min(earliest, since ?? earliest));
  return durationPeriod(Math.max(longestSeconds, passedSeconds));
}

/** The longest period that participants remember by default, in seconds: a week. Some are configured for 30 seconds. */
const longestSeconds = 604_800;

/** The period that begins at an offset. */
export const offsetPeriod = (value: Offset): DeduplicationPeriod => ({ DeduplicationOffset: { value } });

/** A period of so many seconds. */
export const durationPeriod = (seconds: number): DeduplicationPeriod => ({
  // an int64 that JSON can hold
  DeduplicationDuration: { value: { seconds: Math.min(seconds, Number.MAX_SAFE_INTEGER), nanos: 0 } },
});

/**
 * The maximum duration of an attempt in request timeouts: two tokens, the response, and its arrival after the client
 * gave up.
 */
const timeoutsPerAttempt = 4;

/**
 * Returns the maximum duration of an attempt, in milliseconds, if the participant does not hold it. A timeout is at most as long as
 * a timer: a participant refuses a period that begins before its calendar.
 */
export const attemptMs = (requestTimeoutMs: number): number => timeoutsPerAttempt * clampTimer(requestTimeoutMs);

/** Whether a caller leaves the period to the library. */
export const isLongest = (requested: DeduplicationPeriod | null | undefined): boolean =>
  requested == null || 'Empty' in requested;
