import type { Goal, Row } from './Line.js';

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (i: number): number => sorted[i] ?? NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}

export const goalText = ({ atMost, atLeast }: Goal): string =>
  atMost === undefined ? `>= ${(atLeast ?? NaN).toFixed(2)}` : `<= ${atMost.toFixed(2)}`;

/** Whether a row's goal is met; `undefined` where there is none, or nothing was measured. */
export function isMet({ goal, ratios }: Row): boolean | undefined {
  if (goal === undefined || ratios.length === 0) return undefined;
  const { atMost = Infinity, atLeast = -Infinity } = goal;
  const value = median(ratios);
  return value <= atMost && value >= atLeast;
}
