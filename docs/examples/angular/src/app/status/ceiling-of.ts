/** The highest value of the chart. A burst is cut off, so that it does not flatten the minutes around it. */
export function ceilingOf(rates: readonly number[]): number {
  const sorted = rates.filter((rate) => rate > 0).sort((a, b) => a - b);
  const middle = sorted[sorted.length >> 1] ?? 0;
  return Math.max(5, Math.min((sorted.at(-1) ?? 0) * 1.15, middle * 5));
}
