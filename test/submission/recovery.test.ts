import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { campaignRuns } from '../suites/campaign/runs.js';
import { findFlaws } from './recovery/flaws.js';
import { endOf, play } from './recovery/play.js';
import { rejected, repeated, type Schedule, single, unsubscribed } from './recovery/Schedule.js';

/** How many subscriptions ended in each way. */
const ends = new Map<string, number>();

/** Plays schedules and expects no flaws. `full` is their number in CI. */
function campaign(full: number, schedules: fc.Arbitrary<Schedule>): void {
  const { seed, numRuns, endOnFailure } = campaignRuns(Math.ceil(full / 50), full);
  fc.assert(
    fc.property(schedules, (schedule) => {
      const outcome = play(schedule);
      for (const end of outcome.subscriptions.map(endOf)) ends.set(end, (ends.get(end) ?? 0) + 1);
      expect(findFlaws(outcome)).toEqual([]);
    }),
    { seed, numRuns, endOnFailure },
  );
}

afterAll(() => {
  process.stdout.write(`campaign: ${[...ends].map(([end, count]) => `${end} ${count}`).join(', ')}\n`);
});

const hours = 3_600_000;

describe('a submission is committed at most once, and its result agrees with the ledger', () => {
  it(
    'after any faults (G59)',
    () => {
      campaign(1_000, single);
    },
    hours,
  );

  it(
    'when it is forged or out of its time bounds',
    () => {
      campaign(300, rejected);
    },
    hours,
  );

  it(
    'with several subscriptions to the same Observable',
    () => {
      campaign(500, repeated);
    },
    hours,
  );

  it(
    'with an unsubscription at any time',
    () => {
      campaign(200, unsubscribed);
    },
    hours,
  );
});
