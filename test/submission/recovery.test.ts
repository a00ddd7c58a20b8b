import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { schedules } from '../suites/campaign/schedules.js';
import { flawsOf } from './recovery/flawsOf.js';
import { endOf, play } from './recovery/play.js';
import { again, left, once, refused, type Schedule } from './recovery/Schedule.js';

/** How often a submission ended in which way. */
const ends = new Map<string, number>();

/** Plays schedules and finds nothing wrong with any of them. */
function campaign(inCi: number, schedule: fc.Arbitrary<Schedule>): void {
  const { seed, numRuns } = schedules(inCi);
  fc.assert(
    fc.property(schedule, (given) => {
      const outcome = play(given);
      for (const end of outcome.subscribed.map(endOf)) ends.set(end, (ends.get(end) ?? 0) + 1);
      expect(flawsOf(outcome)).toEqual([]);
    }),
    { seed, numRuns },
  );
}

afterAll(() => {
  process.stdout.write(`campaign: ${[...ends].map(([end, count]) => `${end} ${count}`).join(', ')}\n`);
});

const hours = 3_600_000;

describe('what a submission ends with never contradicts the ledger, and it is committed once at most', () => {
  it(
    'whatever goes wrong',
    () => {
      campaign(1_000, once);
    },
    hours,
  );

  it(
    'where it is signed wrongly, or too old',
    () => {
      campaign(300, refused);
    },
    hours,
  );

  it(
    'however often the Observable is subscribed',
    () => {
      campaign(500, again);
    },
    hours,
  );

  it(
    'whenever it is unsubscribed',
    () => {
      campaign(200, left);
    },
    hours,
  );
});
