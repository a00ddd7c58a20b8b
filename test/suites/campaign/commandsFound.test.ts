import { describe, expect, it } from '@jest/globals';
import { findFlaws } from './commandsLaw.js';
import type { Schedule } from './commandsSchedule.js';
import { play } from './playCommands.js';

/** A submission to which nothing happens. */
const calm: Schedule = {
  seed: 0,
  isSigned: false,
  kind: 'create',
  latencyMs: 1,
  hasCheckpoints: true,
  completions: 'completions',
  faults: [],
  replaced: [],
  events: [],
  hasCommandId: true,
  knowsHash: true,
  recovers: true,
  minLedgerTimeRel: undefined,
  period: undefined,
};

const lives = (...all: readonly [number, 'again' | 'call' | 'process'][]): Pick<Schedule, 'events'> => ({
  events: all.map(([atMs, as]) => ({ kind: 'live', atMs, as })),
});

const duration = (seconds: number): Pick<Schedule, 'period'> => ({
  period: { DeduplicationDuration: { value: { seconds, nanos: 1 } } },
});

/** Schedules that the campaign has found, reduced. Each contradicted the guarantees once. */
const found: readonly (readonly [string, Partial<Schedule>])[] = [
  [
    'signed without recovery, then a process with the same bytes, while the first attempt is held',
    { isSigned: true, recovers: false, faults: [{ kind: 'held', ms: 99_994 }], ...lives([1_000, 'process']) },
  ],
  [
    'signed without recovery, then a process with the same bytes a minute later',
    { isSigned: true, recovers: false, ...lives([61_000, 'process']) },
  ],
  [
    'signed without recovery and with the default of the participant, a minute later',
    { isSigned: true, recovers: false, period: { Empty: {} }, ...lives([61_000, 'call']) },
  ],
  [
    'hosted without recovery and with a short duration, subscribed again while the first attempt is held',
    { recovers: false, ...duration(10), faults: [{ kind: 'held', ms: 29_775 }], ...lives([1_252, 'again']) },
  ],
];

describe('a schedule that the campaign of commands has found', () => {
  it.each(found)('agrees with the ledger: %s', (_, given) => {
    expect(findFlaws(play({ ...calm, ...given }))).toEqual([]);
  });
});
