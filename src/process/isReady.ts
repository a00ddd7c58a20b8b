import { asyncScheduler } from 'rxjs';
import type { ProcessStatus } from './ProcessStatus.js';

/** When a processor counts as ready. */
export interface ReadyOptions {
  /**
   * How many offsets it may be behind, where it has not caught up.
   *
   * @defaultValue 0
   */
  readonly maxLagOffsets?: number | undefined;
  /**
   * For how long the ledger may not have been seen, and for how long it may have ended beyond what is handled, in
   * milliseconds. On a quiet ledger the place follows the end within a minute.
   *
   * @defaultValue 60000
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Whether one that waits for another of its name to end is ready: to take over, that is.
   *
   * @defaultValue true
   */
  readonly isStandbyReady?: boolean | undefined;
}

/**
 * Whether a processor is where it should be, for a readiness probe: it sees the ledger, and has caught up, or nearly, or
 * stands by. One that waits may also do so for a store that does not answer: that shows in `events$`, and as an error in
 * the end.
 *
 * @example
 * ```ts
 * import { isReady } from 'canton-rx';
 *
 * const seen = { ledgerEnd: 27, seenAt: Date.now(), handled: 3, updatesPerSecond: 0.3, at: Date.now() };
 * isReady({ state: 'caughtUp', offset: 27, lagOffsets: 0, ...seen }); // true
 * isReady({ state: 'catchingUp', offset: 7, lagOffsets: 20, ...seen }); // false
 * ```
 */
export function isReady(
  { state, lagOffsets = Infinity, seenAt = 0, behindSince = Infinity }: ProcessStatus,
  { maxLagOffsets = 0, maxAgeMs = 60_000, isStandbyReady = true }: ReadyOptions = {},
): boolean {
  const now = asyncScheduler.now();
  if (now - seenAt > maxAgeMs) return false;
  if (state === 'waiting') return isStandbyReady;
  const isNear = lagOffsets <= maxLagOffsets;
  return isNear || (state === 'caughtUp' && now - behindSince <= maxAgeMs);
}
