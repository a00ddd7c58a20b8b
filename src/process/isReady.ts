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
   * How old its status may be, in milliseconds.
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
 * Whether a processor is where it should be, for a readiness probe: it has caught up, or nearly, or stands by; and its status
 * is not an old one.
 *
 * @example
 * ```ts
 * import { isReady } from 'canton-rx';
 *
 * const at = Date.now();
 * isReady({ state: 'caughtUp', offset: 7, handled: 3, updatesPerSecond: 0.3, at }); // true
 * isReady({ state: 'catchingUp', offset: 7, lagOffsets: 20, handled: 3, updatesPerSecond: 0.3, at }); // false
 * ```
 */
export function isReady(
  { state, lagOffsets = Infinity, at }: ProcessStatus,
  { maxLagOffsets = 0, maxAgeMs = 60_000, isStandbyReady = true }: ReadyOptions = {},
): boolean {
  if (asyncScheduler.now() - at > maxAgeMs) return false;
  return state === 'waiting' ? isStandbyReady : state === 'caughtUp' || lagOffsets <= maxLagOffsets;
}
