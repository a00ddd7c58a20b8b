/**
 * The range of the chart's rates, with room above the highest. The scale is logarithmic, so that the burst of catching up
 * is there as a whole and does not flatten the minutes after it.
 */
export const rangeOf = (rates: readonly number[]): [number, number] => [0, 1.5 * Math.max(5, ...rates)];

/** The rates with a line and a number: zero, and powers of ten, of which there is room for three. */
export function ticksUpTo(highest: number): number[] {
  const top = Math.floor(Math.log10(highest));
  if (top < 1) return [0, 5];
  const step = Math.ceil(top / 3);
  const powers = Array.from({ length: top }, (_, at) => top - at).filter((_, at) => at % step === 0);
  return [0, ...powers.map((power) => 10 ** power).reverse()];
}
