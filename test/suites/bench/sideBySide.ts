import type { Outcome } from './Load.js';
import { run, type Job } from './run.js';

/** What came of each job, one for each set. */
export type SideBySide<K extends string> = Readonly<Record<K, readonly Outcome[]>>;

/** Measures jobs against each other: all of them in each set, one after the other, every other set the other way round. */
export async function sideBySide<K extends string>(
  sets: number,
  jobs: Readonly<Record<K, Job>>,
): Promise<SideBySide<K>> {
  const outcomes = Object.fromEntries(Object.keys(jobs).map((name) => [name, []])) as unknown as Record<K, Outcome[]>;
  const names = Object.keys(jobs) as K[];
  for (let set = 0; set < sets; set += 1) {
    for (const name of set % 2 === 0 ? names : names.toReversed()) outcomes[name].push(await run(jobs[name]));
  }
  return outcomes;
}

/** What one thing costs for each of the sets, over another of the same set. */
export const costRatios = (ours: readonly Outcome[], over: readonly Outcome[]): readonly number[] =>
  ours.map(({ cost }, set) => cost / (over[set]?.cost ?? NaN));

/** How many times as fast: the other way round. */
export const speedRatios = (ours: readonly Outcome[], over: readonly Outcome[]): readonly number[] =>
  costRatios(over, ours);
