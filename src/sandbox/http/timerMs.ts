/** A time that timers take: beyond these bounds they would fire at once. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0), 2 ** 31 - 1);
}
