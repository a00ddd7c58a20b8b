import { asyncScheduler, queueScheduler } from 'rxjs';

/**
 * Returns the milliseconds of a clock that cannot be set. Durations and time limits are differences of two readings, so that
 * a change of the machine's clock affects none of them. The clock says nothing about the time of day, and may stand still
 * while the machine sleeps. In a test in virtual time, it is the clock of the schedulers.
 */
export function monotonicNow(): number {
  const before = Date.now();
  const scheduled = queueScheduler.now();
  const after = Date.now();
  // read twice, because the clock may be set between two readings
  const isMachineTime = Math.min(before, after) <= scheduled && scheduled <= Math.max(before, after);
  return isMachineTime ? Math.round(performance.now()) : scheduled;
}

/** Starts to measure a duration. Returns a function that returns the milliseconds since then. */
export function stopwatch(): () => number {
  const startedAt = monotonicNow();
  return () => monotonicNow() - startedAt;
}

/**
 * Starts to measure an age. Returns a function that returns the milliseconds since then, by the clock that makes them more:
 * the machine's may have been set back, and the monotonic one stands still while the machine sleeps. For what may be too old
 * and never too young. A clock that is set makes it old immediately.
 */
export function startAge(): () => number {
  const startedAt = asyncScheduler.now();
  const tookMs = stopwatch();
  return () => Math.max(tookMs(), Math.abs(asyncScheduler.now() - startedAt));
}
