import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stoppingSocketFault } from './faults.js';
import { describeError, findFlaws, findMissing, hasFacts } from './flaws.js';
import { play, type Outcome } from './play.js';
import { campaignRuns, Tally } from './runs.js';
import type { Schedule } from './Schedule.js';
import {
  bySocket,
  downwardSchedule,
  outageSchedule,
  passingSchedule,
  prunedSchedule,
  restoredSchedule,
  stoppingSchedule,
  tokenSchedule,
} from './schedules.js';
import { statuses } from './statuses.js';

const hours = 3_600_000;
const tally = new Tally();

/** Plays schedules, and expects no flaw in any of them: neither in general nor by the rules of their kind. */
function campaign(
  full: number,
  schedules: fc.Arbitrary<Schedule>,
  findFlawsOfKind: (outcome: Outcome) => readonly string[],
): void {
  const { seed, numRuns } = campaignRuns(Math.ceil(full / 50), full);
  fc.assert(
    fc.property(schedules, (schedule) => {
      const outcome = play(schedule);
      tally.add(outcome);
      expect([...findFlaws(outcome), ...findFlawsOfKind(outcome)]).toEqual([]);
    }),
    { seed, numRuns },
  );
}

afterAll(() => {
  process.stdout.write(`campaign: ${String(tally)}\n`);
});

describe('a subscriber receives exactly the ledger', () => {
  it(
    'through every fault that passes',
    () => {
      campaign(2_500, passingSchedule, continues);
    },
    hours,
  );

  it(
    'through every fault that passes, over WebSockets with faults of their own',
    () => {
      campaign(1_500, bySocket(passingSchedule), continues);
    },
    hours,
  );

  it(
    'up to a message of a socket that does not decode',
    () => {
      campaign(300, bySocket(stoppingSchedule, stoppingSocketFault), continues);
    },
    hours,
  );

  it(
    'over WebSockets, up to where no valid token is left',
    () => {
      campaign(200, bySocket(tokenSchedule), continues);
    },
    hours,
  );

  it(
    'in descending order',
    () => {
      campaign(200, downwardSchedule, continues);
    },
    hours,
  );

  it(
    'up to an answer that ends the feed at once',
    () => {
      campaign(350, stoppingSchedule, continues);
    },
    hours,
  );

  it(
    'up to where it is pruned, and from where the caller chooses to continue',
    () => {
      campaign(350, prunedSchedule, continuesOverPruning);
      campaign(100, bySocket(prunedSchedule), continuesOverPruning);
    },
    hours,
  );

  it(
    'up to where an older backup was restored, and from where the caller chooses to continue',
    () => {
      campaign(300, restoredSchedule, continuesOverReset);
      campaign(100, bySocket(restoredSchedule), continuesOverReset);
    },
    hours,
  );

  it(
    'up to where the retry budget is spent, and not before',
    () => {
      campaign(250, outageSchedule, survivesOutage);
    },
    hours,
  );

  it(
    'up to where no valid token is left',
    () => {
      campaign(250, tokenSchedule, continues);
    },
    hours,
  );
});

/** The feed continues unless something forces it to end, and misses nothing. */
const continues = (outcome: Outcome): readonly string[] => {
  const { error } = outcome.seen;
  if (outcome.audit.end !== undefined) return [];
  return error === undefined ? findMissing(outcome) : [`ends with ${describeError(error)}`];
};

const continuesOverPruning = (outcome: Outcome): readonly string[] => {
  const displaced = outcome.gaps.filter(({ cursor, modelAt }) => cursor !== modelAt);
  return [...continues(outcome), ...displaced.map(({ cursor }) => `a gap at ${cursor} that the model does not have`)];
};

const continuesOverReset = (outcome: Outcome): readonly string[] => {
  const { audit, ledger, seen, schedule, gaps } = outcome;
  const restoredAt = schedule.changes[0]?.atMs ?? 0;
  const early = gaps.length > 0 || seen.error !== undefined ? resetReportedBefore(outcome, restoredAt + 10_000) : [];
  if (audit.cursor <= ledger.end) return [...continues(outcome), ...early];
  return hasFacts(seen.error, { _tag: 'LedgerResetError', cursor: audit.cursor })
    ? early
    : [`is at ${audit.cursor} of a ledger of ${ledger.end}, and ends with ${describeError(seen.error)}`];
};

/** A reset must be reported, and not before its grace period is over. */
const resetReportedBefore = ({ seen, log, gaps }: Outcome, ms: number): readonly string[] => {
  const reportTimes = log.flatMap((entry) =>
    'event' in entry && entry.event._tag === 'GapFound' ? [entry.event.at] : [],
  );
  const first = reportTimes[0];
  if (first === undefined) return gaps.length > 0 || seen.error !== undefined ? ['reports no gap'] : [];
  return first < ms ? [`reports a reset at ${first}, before ${ms}`] : [];
};

/**
 * A feed survives an outage that is shorter than its retry budget, and ends with the last error of a longer one. A poll
 * that is cut may not count as a failure at first, while the feed learns how long a poll may last.
 */
const survivesOutage = (outcome: Outcome): readonly string[] => {
  const { seen, schedule, requestTimes } = outcome;
  const { error, endedAt = 0, completed } = seen;
  const { giveUpAfterMs, faults } = schedule;
  const [{ when, fault } = {}] = faults;
  if (when === undefined || fault === undefined || !('fromMs' in when)) return ['has no outage'];
  const { fromMs, forMs } = when;
  if (completed || forMs + 1_000 <= giveUpAfterMs) return continues(outcome);
  if (error === undefined) {
    const isOver = requestTimes.some((ms) => ms >= fromMs + forMs);
    return forMs >= giveUpAfterMs + 30_000 && isOver
      ? ['outlives an outage that is longer than its retry budget']
      : findMissing(outcome);
  }
  const status = fault.kind === 'status' ? { _tag: 'ApiError', status: statusOf(fault.status) } : {};
  const hasRetryCount = typeof error === 'object' && error !== null && 'retried' in error;
  return [
    ...(endedAt >= fromMs + giveUpAfterMs ? [] : [`gives up at ${endedAt}`]),
    ...(hasFacts(error, status) ? [] : [`gives up with ${describeError(error)}`]),
    ...(hasRetryCount === giveUpAfterMs > 0 ? [] : ['does not report how often it retried']),
  ];
};

const statusOf = (name: string): number | undefined => {
  const reply = statuses[name]?.();
  return reply instanceof Error ? undefined : reply?.status;
};
