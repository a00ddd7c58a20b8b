import { describe, expect, it } from '@jest/globals';
import { findFlaws } from './commandsLaw.js';
import type { Schedule } from './commandsSchedule.js';
import { play } from './playCommands.js';

/** A submission to which nothing happens. */
const calm: Schedule = {
  seed: 0,
  isSigned: false,
  worker: undefined,
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

const offset = (value: number): Pick<Schedule, 'period'> => ({ period: { DeduplicationOffset: { value } } });

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
  [
    'signed with an offset that is after the end of the ledger, whose end is not read',
    {
      isSigned: true,
      ...offset(999),
      events: [
        { kind: 'replaceParticipant', atMs: 0 },
        { kind: 'live', atMs: 0, as: 'again' },
      ],
    },
  ],
  [
    'signed with an offset of a ledger that is replaced before its end is read',
    {
      isSigned: true,
      ...offset(5),
      events: [
        { kind: 'replace', atMs: 0 },
        { kind: 'live', atMs: 0, as: 'again' },
        { kind: 'live', atMs: 1_000, as: 'again' },
      ],
    },
  ],
  [
    'signed with an offset of a ledger that is replaced between two attempts',
    {
      isSigned: true,
      ...offset(12),
      faults: [
        { kind: 'lostResponse', how: 'silence', afterMs: 475 },
        { kind: 'failedAfterCommit', code: 'INDEX_DB_SQL_TRANSIENT_ERROR' },
      ],
      events: [
        { kind: 'live', atMs: 59_991, as: 'call' },
        { kind: 'down', atMs: 50_407, forMs: 16_159 },
        { kind: 'replace', atMs: 1_998 },
      ],
    },
  ],
  ['hosted with a given start, then a call without it', lives([1_000, 'call'], [0, 'process'])],
  [
    'hosted at a ledger that is replaced before its end is read, then another call',
    {
      events: [
        { kind: 'live', atMs: 1_000, as: 'call' },
        { kind: 'replace', atMs: 0 },
      ],
    },
  ],
  [
    'hosted and held until its earliest ledger time, with a start that is not read',
    {
      latencyMs: 208,
      completions: 'command-completions',
      minLedgerTimeRel: 24,
      events: [{ kind: 'ingress', atMs: 200, forMs: 20_296, by: 'page 504', isForwarded: false }],
    },
  ],
  [
    'of a rule whose commit cannot be read',
    {
      seed: 1538403445,
      worker: 'rule',
      kind: 'nonConsuming',
      latencyMs: 83,
      completions: 'command-completions',
      faults: [{ kind: 'lostResponse', how: 'silence', afterMs: 2_504 }],
      replaced: [null],
      events: [{ kind: 'ingress', atMs: 31_672, forMs: 12_443, by: 'redirect 301', isForwarded: false }],
      knowsHash: false,
      recovers: false,
    },
  ],
];

describe('a schedule that the campaign of commands has found', () => {
  it.each(found)('agrees with the ledger: %s', (_, given) => {
    expect(findFlaws(play({ ...calm, ...given }))).toEqual([]);
  });
});
