import type { Outcome } from './play.js';

/** What a campaign has come to, for those who run it. */
export class Tally {
  private schedules = 0;
  private requests = 0;
  private updates = 0;
  private readonly counts = new Map<string, number>();
  private readonly ends = new Map<string, number>();
  private readonly startedAt = Date.now();

  add({ seen, askedAt, inflicted, gaps, schedule }: Outcome): void {
    this.schedules += 1;
    this.requests += askedAt.length;
    this.updates += seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint').length;
    for (const [name, count] of inflicted) raise(this.counts, name, count);
    for (const { kind } of schedule.changes) raise(this.counts, kind, 1);
    if (schedule.lag !== null) raise(this.counts, 'lag', 1);
    if (gaps.length > 0) raise(this.ends, 'gaps', gaps.length);
    const failed = seen.error instanceof Error ? seen.error.name : 'unsubscribed';
    raise(this.ends, seen.completed ? 'completed' : failed, 1);
  }

  toString(): string {
    const seconds = ((Date.now() - this.startedAt) / 1_000).toFixed(1);
    return [
      `${this.schedules} schedules, ${this.requests} requests, ${this.updates} updates in ${seconds} s`,
      `faults: ${listOf(this.counts)}`,
      `ends: ${listOf(this.ends)}`,
    ].join('\ncampaign: ');
  }
}

const raise = (counts: Map<string, number>, name: string, by: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + by);
};

const listOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
