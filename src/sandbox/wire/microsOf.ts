/** Microseconds since the epoch of an ISO timestamp; `Date` alone would lose the last three digits. */
export function microsOf(timestamp: string): number {
  const fraction = /\.(\d+)Z$/.exec(timestamp)?.[1] ?? '';
  const whole = Date.parse(timestamp.replace(/\.\d+Z$/, 'Z'));
  return whole * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
