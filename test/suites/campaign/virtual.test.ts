import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LedgerResetError } from '../../../src/errors/feed.js';
import { stoppingSocketFault } from './faults.js';
import { placeOf, stopsAt } from './ends.js';
import { describeError, hasFacts } from './errors.js';
import { findFlaws, findMissing, findReplacementFlaws, seemsWrongAddress } from './flaws.js';
import { play, type Outcome } from './play.js';
import { campaignRuns, Tally } from './runs.js';
import type { Schedule } from './Schedule.js';
import {
  bySocket,
  downwardSchedule,
  outageSchedule,
  passingSchedule,
  prunedSchedule,
  replacedSchedule,
  restoredSchedule,
  stoppingSchedule,
  tokenSchedule,
} from './schedules.js';
import { statuses } from './statuses.js';

const hours = 3_600_000;
const tally = new Tally();

/** Schedules, their number in CI, what is wrong with an outcome, and schedules that are always played. */
type Campaign = readonly [
  full: number,
  schedules: fc.Arbitrary<Schedule>,
  find: (outcome: Outcome) => readonly string[],
  examples?: readonly Schedule[],
];

/** The ledger is replaced after the feed has received its last update, and before it has emitted that. */
const replacedAfterReceipt: Schedule = {
  ledger: [1, 1, 1, 1, 3].map((gap) => ({ gap, sample: 0, afterMs: 1 })),
  changes: [{ kind: 'replace', atMs: 1_201, downMs: 1_000, shared: 429, growth: [], isOtherParticipant: false }],
  ...{ known: 0, begin: 0, bound: Infinity, isDownward: false, isLegacy: false, profile: '3.4' },
  ...{ latencyMs: 400, spreadMs: 0, jitter: 0, checkpointMs: null, lag: null, token: null, onGap: null },
  ...{ maxListElements: 3, maxPageSize: 3, parallelRanges: null, idleTimeoutMs: 1, giveUpAfterMs: 30_000 },
  ...{ faults: [], socketFaults: [] },
};

afterAll(() => {
  process.stdout.write(`campaign: ${String(tally)}\n`);
  tally.record();
});

/** The feed continues unless an answer ends it, and misses nothing. */
const continues = (outcome: Outcome): readonly string[] => {
  const { error, values } = outcome.seen;
  if (error === undefined) return findMissing(outcome);
  if (stopsAt(outcome).length > 0 || seemsWrongAddress(outcome)) return [];
  // the only answer that accepted the token may have come too late to be read
  const isFirstToken = outcome.schedule.token !== null && values.length === 0;
  if (isFirstToken && hasFacts(error, { _tag: 'UnauthorizedError', mayPass: false })) return [];
  return [`ends with ${describeError(error)}`];
};

/** A restore is a reset where it took what was read, and only there. */
const continuesOverReset = (outcome: Outcome): readonly string[] => {
  const { answers, ledger, seen, schedule, gaps, begin } = outcome;
  const { error } = seen;
  const restoredAt = schedule.changes[0]?.atMs ?? 0;
  if (gaps.length === 0 && !hasFacts(error, { _tag: 'LedgerResetError' })) {
    // only what was not emitted is gone: the feed continues after its last update
    const { last } = placeOf(outcome);
    if (last <= ledger.end) return last > begin || answers.cursor <= ledger.end ? continues(outcome) : [];
    return [`has ${last} of a ledger of ${ledger.end}, and ends with ${describeError(error)}`];
  }
  const cursor = error instanceof LedgerResetError ? error.cursor : (gaps[0]?.cursor ?? 0);
  return [
    ...resetReportedBefore(outcome, restoredAt + 10_000),
    ...(cursor > ledger.end ? [] : [`takes the same ledger for another at ${cursor}`]),
    ...(gaps.some(({ to }) => to !== undefined) ? continues(outcome) : []),
  ];
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
    // a sum of random delays is not exact
    ...(endedAt > fromMs + giveUpAfterMs - 1 ? [] : [`gives up at ${endedAt}`]),
    ...(hasFacts(error, status) ? [] : [`gives up with ${describeError(error)}`]),
    ...(hasRetryCount === giveUpAfterMs > 0 ? [] : ['does not report how often it retried']),
  ];
};

const statusOf = (name: string): number | undefined => {
  const reply = statuses[name]?.();
  return reply instanceof Error ? undefined : reply?.status;
};

/** The flaws of any outcome, and those of its kind. */
const withGeneral =
  (findFlawsOfKind: Campaign[2]): Campaign[2] =>
  (outcome) => [...findFlaws(outcome), ...findFlawsOfKind(outcome)];
const ends = withGeneral(continues);
const endsOverReset = withGeneral(continuesOverReset);
const endsAtAnother: Campaign[2] = (outcome) => [...outcome.violations, ...findReplacementFlaws(outcome)];

describe('a subscriber receives exactly the ledger', () => {
  it.each<[string, ...Campaign[]]>([
    ['through every fault that passes (G1)', [2_500, passingSchedule, ends]],
    [
      'through every fault that passes, over WebSockets with faults of their own',
      [1_500, bySocket(passingSchedule), ends],
    ],
    ['up to a message of a socket that does not decode', [300, bySocket(stoppingSchedule, stoppingSocketFault), ends]],
    ['over WebSockets, up to where no valid token is left', [200, bySocket(tokenSchedule), ends]],
    ['in descending order', [200, downwardSchedule, ends]],
    ['up to an answer that ends the feed at once', [350, stoppingSchedule, ends]],
    [
      'up to where it is pruned, and from where the caller chooses to continue',
      [350, prunedSchedule, ends],
      [100, bySocket(prunedSchedule), ends],
    ],
    [
      'up to where an older backup was restored, and from where the caller chooses to continue',
      [300, restoredSchedule, endsOverReset],
      [100, bySocket(restoredSchedule), endsOverReset],
    ],
    [
      'up to where another ledger takes its place, and nothing of that',
      [600, replacedSchedule, endsAtAnother, [replacedAfterReceipt]],
      [300, bySocket(replacedSchedule), endsAtAnother, [replacedAfterReceipt]],
    ],
    ['up to where the retry budget is spent, and not before', [250, outageSchedule, withGeneral(survivesOutage)]],
    ['up to where no valid token is left', [250, tokenSchedule, ends]],
  ])(
    '%s',
    (_, ...campaigns) => {
      for (const [full, schedules, find, examples = []] of campaigns) {
        const { seed, numRuns, endOnFailure } = campaignRuns(Math.ceil(full / 50), full);
        const property = fc.property(schedules, (schedule) => {
          const outcome = play(schedule);
          tally.add(outcome);
          expect(find(outcome)).toEqual([]);
        });
        fc.assert(property, {
          seed,
          numRuns,
          endOnFailure,
          examples: examples.map((example): [Schedule] => [example]),
        });
      }
    },
    hours,
  );
});
