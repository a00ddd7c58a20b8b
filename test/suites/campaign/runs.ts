import process from 'node:process';
import fc from 'fast-check';
import { effort } from '../../helpers/effort.js';
import { recordRun } from '../../helpers/recordRun.js';
import { isReplacementVisible } from './flaws.js';
import type { Outcome } from './play.js';

/** Environment variables that choose another number of schedules, or repeat the schedules of one seed. */
const { CANTON_RX_CAMPAIGN_RUNS: chosenRuns, CANTON_RX_CAMPAIGN_SEED: chosenSeed } = process.env;
/** The seed of CI. */
const { CANTON_RX_SEED: seedOfCi = Math.trunc(Math.random() * 2 ** 31) } = process.env;

/** How many schedules a test plays. */
export interface Runs {
  readonly seed: number;
  readonly numRuns: number;
  /** Whether there are so many that every kind of fault and of end must have occurred. */
  readonly isMany: boolean;
  /** Whether a failure is reported as it is: to reduce one takes up to an hour, so only a chosen seed is worth it. */
  readonly endOnFailure: boolean;
}

/**
 * The part of a campaign that CI plays, unless a campaign names a number for CI. `npm run campaign` plays all of it, each time
 * with another seed.
 */
const shareInCi = 0.03;

/**
 * The number of schedules and their seed. The seed is printed, so that a failure can be repeated:
 * `CANTON_RX_CAMPAIGN_SEED=… npm run campaign`.
 */
export function campaignRuns(sample: number, full: number, ci = Math.ceil(full * shareInCi)): Runs {
  const numRuns = chosenRuns === undefined ? effort(sample, full, ci) : Number(chosenRuns);
  const seed = campaignSeed();
  process.stdout.write(`campaign: ${numRuns} schedules of seed ${seed}\n`);
  recordRun({ seed, schedules: numRuns });
  return { seed, numRuns, isMany: numRuns >= ci, endOnFailure: chosenSeed === undefined };
}

/** The seed of a check that is not counted as a campaign. */
export const campaignSeed = (): number => Number(chosenSeed ?? seedOfCi);

/** Checks a property in several lanes at once, each with a seed of its own that follows from the first. */
export function checkInLanes<A>(
  property: fc.IAsyncProperty<[A]>,
  { runs, seed, lanes }: { readonly runs: number; readonly seed: number; readonly lanes: number },
): Promise<unknown> {
  const count = Math.min(lanes, Math.ceil(runs));
  return Promise.all(
    Array.from({ length: count }, (_, lane) =>
      fc.assert(property, { numRuns: Math.ceil(runs / count), seed: seed + lane, endOnFailure: true }),
    ),
  );
}

/** Counts what happened in a campaign, for the log. */
export class Tally {
  private schedules = 0;
  private requests = 0;
  private updates = 0;
  private readonly faults = new Map<string, number>();
  private readonly ends = new Map<string, number>();
  private readonly startedAt = Date.now();

  add(outcome: Outcome): void {
    const { seen, requestTimes, faultCounts, gaps, schedule } = outcome;
    this.schedules += 1;
    this.requests += requestTimes.length;
    this.updates += seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint').length;
    for (const [name, count] of faultCounts) increase(this.faults, name, count);
    for (const { kind } of schedule.changes) increase(this.faults, kind);
    if (isReplacementVisible(outcome)) increase(this.ends, 'replacements to notice');
    if (schedule.lag !== null) increase(this.faults, 'lag');
    if (gaps.length > 0) increase(this.ends, 'gaps', gaps.length);
    const failure = seen.error instanceof Error ? seen.error.name : 'unsubscribed';
    increase(this.ends, seen.completed ? 'completed' : failure);
  }

  /** Adds what happened to the records of the test file. */
  record(): void {
    const faults = [...this.faults.values()].reduce((sum, count) => sum + count, 0);
    recordRun({ updates: this.updates, faults });
  }

  toString(): string {
    const seconds = ((Date.now() - this.startedAt) / 1_000).toFixed(1);
    return [
      `${this.schedules} schedules, ${this.requests} requests, ${this.updates} updates in ${seconds} s`,
      `faults: ${formatCounts(this.faults)}`,
      `ends: ${formatCounts(this.ends)}`,
    ].join('\ncampaign: ');
  }
}

/** Adds to one of several counters. */
export const increase = (counts: Map<string, number>, name: string, by = 1): void => {
  counts.set(name, (counts.get(name) ?? 0) + by);
};

/** Counters as text, the highest first. */
export const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

/** A seeded `Math.random` (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
