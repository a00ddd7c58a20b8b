import { asyncScheduler } from 'rxjs';
import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';

/** What the deduplication period of an attempt depends on. */
interface Reach {
  /** The period that the caller requests; `Empty` or absent: all that the participant remembers. */
  readonly requested: DeduplicationPeriod | null | undefined;
  /** The ledger end before the first attempt, if it is known. */
  readonly since: Offset | undefined;
  /** Whether an earlier attempt was sent. */
  readonly isLater: boolean;
  /** The time since the first attempt was sent, in milliseconds. */
  readonly elapsedMs: number;
  /** The longest time from sending an attempt until the participant checks it for duplicates, in milliseconds. */
  readonly attemptMs: number;
}

/**
 * Returns the deduplication period of an attempt. The participant measures a duration back from the moment at which it checks
 * the attempt, so that a fixed duration looks less far back with each attempt. The law of this function: however long an
 * attempt takes, its period reaches back to before the first attempt, and as far beyond that as the caller requests.
 *
 * An offset does so at any time. A requested duration is therefore extended by the time that has passed. The first attempt,
 * too, may be checked after a later one was committed: its duration is at least as long as an attempt may take.
 */
export function deduplicationPeriod(reach: Reach): DeduplicationPeriod {
  const { requested, since, isLater, elapsedMs, attemptMs } = reach;
  if (requested != null && 'DeduplicationOffset' in requested)
    return offsetPeriod(Math.min(requested.DeduplicationOffset.value, since ?? Infinity));
  const passedSeconds = Math.ceil(((isLater ? elapsedMs : 0) + attemptMs) / 1_000);
  if (requested != null && 'DeduplicationDuration' in requested) {
    const { seconds } = requested.DeduplicationDuration.value;
    if (!isLater && seconds > passedSeconds) return requested;
    return durationPeriod(isLater ? seconds + 1 + passedSeconds : 1 + passedSeconds);
  }
  return durationPeriod(Math.max(longestSeconds, 1 + passedSeconds));
}

/** The longest period that participants remember by default, in seconds: a week. Some are configured for 30 seconds. */
const longestSeconds = 604_800;

const offsetPeriod = (value: Offset): DeduplicationPeriod => ({ DeduplicationOffset: { value } });

const durationPeriod = (seconds: number): DeduplicationPeriod => ({
  // an int64 that JSON can hold
  DeduplicationDuration: { value: { seconds: Math.min(seconds, Number.MAX_SAFE_INTEGER), nanos: 0 } },
});

/**
 * The maximum duration of an attempt in request timeouts: two tokens, the response, and its arrival after the client
 * gave up.
 */
const timeoutsPerAttempt = 4;

/** Returns the maximum duration of an attempt, in milliseconds, if the participant does not hold it. */
export const attemptMs = (requestTimeoutMs: number): number => timeoutsPerAttempt * requestTimeoutMs;

/**
 * Returns the time since the first attempt, in milliseconds: the longer one, if the machine's clock was set. A period that is
 * too short could commit a change twice.
 */
export const sinceFirstAttempt = (sentAt: number, sinceSentMs?: () => number): number =>
  Math.max(0, asyncScheduler.now() - sentAt, sinceSentMs?.() ?? 0);
