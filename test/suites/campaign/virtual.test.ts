import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stoppingPushArbitrary } from './faultsOf.js';
import { flawsOf, matches, wordsOf } from './flawsOf.js';
import { flawsOfLoss } from './flawsOfLoss.js';
import { play, type Outcome } from './play.js';
import type { Schedule } from './Schedule.js';
import { statuses } from './statuses.js';
import { schedules } from './schedules.js';
import {
  bySocket,
  downwardSchedule,
  outageSchedule,
  passingSchedule,
  prunedSchedule,
  restoredSchedule,
  stoppingSchedule,
  tokenSchedule,
} from './schedulesOf.js';
import { Tally } from './Tally.js';

const tally = new Tally();

/** Plays schedules and finds nothing wrong with any of them, neither in general nor in what each of its kind must be. */
function campaign(
  inCi: number,
  schedule: fc.Arbitrary<Schedule>,
  flawsOfKind: (outcome: Outcome) => readonly string[],
): void {
  const { seed, numRuns } = schedules(inCi);
  fc.assert(
    fc.property(schedule, (given) => {
      const outcome = play(given);
      tally.add(outcome);
      expect([...flawsOf(outcome), ...flawsOfKind(outcome)]).toEqual([]);
    }),
    { seed, numRuns },
  );
}

/** Goes on unless something forces it to end, and loses nothing. */
const goesOn = (outcome: Outcome): readonly string[] => {
  const { error } = outcome.seen;
  if (outcome.audit.end !== undefined) return [];
  return error === undefined ? flawsOfLoss(outcome) : [`ends with ${wordsOf(error)}`];
};

afterAll(() => {
  process.stdout.write(`campaign: ${String(tally)}\n`);
});

const hours = 3_600_000;

describe('what a subscriber sees is exactly the ledger', () => {
  it(
    'whatever passes',
    () => {
      campaign(2_500, passingSchedule, goesOn);
    },
    hours,
  );

  it(
    'whatever passes, and whatever happens to the sockets by which it follows',
    () => {
      campaign(1_500, bySocket(passingSchedule), goesOn);
    },
    hours,
  );

  it(
    'up to what a socket brings that does not decode',
    () => {
      campaign(300, bySocket(stoppingSchedule, stoppingPushArbitrary), goesOn);
    },
    hours,
  );

  it(
    'by sockets, up to where there is no good token any more',
    () => {
      campaign(200, bySocket(tokenSchedule), goesOn);
    },
    hours,
  );

  it(
    'downward',
    () => {
      campaign(200, downwardSchedule, goesOn);
    },
    hours,
  );

  it(
    'up to an answer that ends the feed at once',
    () => {
      campaign(350, stoppingSchedule, goesOn);
    },
    hours,
  );

  it(
    'up to where it is pruned, and from where the caller chooses to go on',
    () => {
      campaign(350, prunedSchedule, upToPruned);
      campaign(100, bySocket(prunedSchedule), upToPruned);
    },
    hours,
  );

  it(
    'up to where an older backup was restored, and from where the caller chooses to go on',
    () => {
      campaign(300, restoredSchedule, upToRestored);
      campaign(100, bySocket(restoredSchedule), upToRestored);
    },
    hours,
  );

  it(
    'up to where the patience is over, and no less far',
    () => {
      campaign(250, outageSchedule, flawsOfOutage);
    },
    hours,
  );

  it(
    'up to where there is no good token any more',
    () => {
      campaign(250, tokenSchedule, goesOn);
    },
    hours,
  );
});

const upToPruned = (outcome: Outcome): readonly string[] => {
  const { gaps } = outcome;
  const displaced = gaps.filter(({ cursor, modelAt }) => cursor !== modelAt);
  return [...goesOn(outcome), ...displaced.map(({ cursor }) => `a gap at ${cursor} that is not the model's`)];
};

const upToRestored = (outcome: Outcome): readonly string[] => {
  const { audit, ledger, seen, schedule, gaps } = outcome;
  const restoredAt = schedule.changes[0]?.atMs ?? 0;
  const early = gaps.length > 0 || seen.error !== undefined ? endedWithin(outcome, restoredAt + 10_000) : [];
  if (audit.cursor <= ledger.end) return [...goesOn(outcome), ...early];
  return matches(seen.error, { _tag: 'LedgerResetError', cursor: audit.cursor })
    ? early
    : [`is at ${audit.cursor} of a ledger of ${ledger.end}, and ends with ${wordsOf(seen.error)}`];
};

/** A reset that is told before its grace is over. */
const endedWithin = ({ seen, log, gaps }: Outcome, ms: number): readonly string[] => {
  const told = log.flatMap((entry) => ('event' in entry && entry.event._tag === 'GapFound' ? [entry.event.at] : []));
  const first = told[0];
  if (first === undefined) return gaps.length > 0 || seen.error !== undefined ? ['tells no gap'] : [];
  return first < ms ? [`tells a reset at ${first}, before ${ms}`] : [];
};

/**
 * An outage that is shorter than the patience is outlived, one that is longer is not, and its last error is told. That a
 * poll is cut may be impatience on the way: finding out how long it may last is no failure yet.
 */
const flawsOfOutage = (outcome: Outcome): readonly string[] => {
  const { seen, schedule, askedAt } = outcome;
  const { error, endedAt = 0, completed } = seen;
  const { giveUpAfterMs, strikes } = schedule;
  const [{ when, fault } = {}] = strikes;
  if (when === undefined || fault === undefined || !('fromMs' in when)) return ['is no outage'];
  const { fromMs, forMs } = when;
  if (completed || forMs + 1_000 <= giveUpAfterMs) return goesOn(outcome);
  const isOver = askedAt.some((ms) => ms >= fromMs + forMs);
  if (error === undefined)
    return forMs >= giveUpAfterMs + 30_000 && isOver
      ? ['outlives an outage beyond its patience']
      : flawsOfLoss(outcome);
  const status = fault.kind === 'status' ? { _tag: 'ApiError', status: statusOf(fault.status) } : {};
  return [
    ...(endedAt >= fromMs + giveUpAfterMs ? [] : [`gives up at ${endedAt}`]),
    ...(matches(error, status) ? [] : [`gives up with ${wordsOf(error)}`]),
    ...((typeof error === 'object' && error !== null && 'retried' in error) === giveUpAfterMs > 0
      ? []
      : ['does not tell how often it tried']),
  ];
};

const statusOf = (name: string): number | undefined => {
  const reply = statuses[name]?.();
  return reply instanceof Error ? undefined : reply?.status;
};
