import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { describeError } from './errors.js';
import { found } from './history/found.js';
import { flawsOfHistory } from './history/law.js';
import { type Mistake, modelReader } from './history/modelReader.js';
import { type HistoryOutcome, type MakeReader, playHistory } from './history/play.js';
import {
  type Action,
  describeSchedule,
  type HistorySchedule,
  historySchedules,
  movesToSameOffsets,
  restoresToFormerOffsets,
  type Sights,
  type Variety,
} from './history/Schedule.js';
import { campaignRuns, campaignSeed, formatCounts, increase } from './runs.js';

const hours = 3_600_000;

/** Plays schedules, and expects no flaw in any of them. A failure is reduced to few steps. */
const campaign = (full: number, variety: Variety, makeReader?: MakeReader): void => {
  campaignOf(full, historySchedules(variety), makeReader);
};

function campaignOf(full: number, schedules: fc.Arbitrary<HistorySchedule>, makeReader?: MakeReader): void {
  const { seed, numRuns } = campaignRuns(Math.ceil(full / 50), full);
  const startedAt = Date.now();
  const counts = new Map<string, number>();
  fc.assert(
    fc.property(schedules, (schedule) => {
      const outcome = check(schedule, makeReader);
      for (const name of happenedIn(outcome)) increase(counts, name);
    }),
    { seed, numRuns },
  );
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`campaign: ${numRuns} histories in ${seconds} s: ${formatCounts(counts)}\n`);
}

function check(schedule: HistorySchedule, makeReader?: MakeReader): HistoryOutcome {
  const outcome = playHistory(schedule, makeReader);
  const flaws = flawsOfHistory(outcome);
  if (flaws.length > 0) throw new Error(`${flaws.join('\n')}\n${describeSchedule(schedule)}`);
  return outcome;
}

/** What a run had, for the log. */
function happenedIn({ reading, world, histories }: HistoryOutcome): readonly string[] {
  const participants = new Set(world.led.map(({ participantId }) => participantId));
  const last = reading.emitted.at(-1);
  const late = new Set(
    histories.flatMap((history) =>
      [...history.records.values()].flat().flatMap((record) => (world.visibleFrom(record) < 0 ? [] : record.updateId)),
    ),
  );
  return [
    ...(reading.error === undefined ? ['read to the end'] : [describeError(reading.error).split(':')[0] ?? '']),
    ...(world.sockets > 0 ? ['by sockets'] : []),
    ...(last === undefined ? ['nothing emitted'] : []),
    ...(participants.size > 1 ? ['several participants'] : []),
    ...(histories.length > 1 ? ['several ledgers'] : []),
    ...(world.nodes.some(({ orders }) => orders.length > 1) ? ['read again'] : []),
    ...(reading.emitted.some(({ updateId }) => late.has(updateId)) ? ['something appeared'] : []),
    ...reading.resets.map(({ reason }) => `reset by ${reason}`),
  ];
}

const quiet: readonly Action['does'][] = ['commit', 'advance', 'fail', 'stop'];
const oneNode = { nodes: [1, 1], modes: ['fail'] } as const;
const manyNodes = { nodes: [2, 3], modes: ['relocate', 'relocate', 'relocate', 'fail'] } as const;
const logs = { readers: ['updates', 'processor'] } as const;
const states = { readers: ['rows', 'view'] } as const;

const everything: Variety = {
  ...logs,
  actions: [...quiet, 'see', 'prune', 'restore', 'lose', 'replace', 'move', 'turn', 'lag'],
  nodes: [1, 3],
  modes: ['fail', 'relocate'],
};

describe('a log emits the history of its selection, and no other (G19)', () => {
  it.each<[string, number, Variety]>([
    ['through outages and prunings', 500, { ...logs, ...oneNode, actions: [...quiet, 'prune'] }],
    ['through uploads and grants', 500, { ...logs, ...oneNode, actions: [...quiet, 'see'] }],
    ['through replacements', 500, { ...logs, ...oneNode, actions: [...quiet, 'replace', 'prune'] }],
    ['through restores', 1_000, { ...logs, ...oneNode, actions: [...quiet, 'restore', 'restore', 'lose'] }],
    ['from node to node', 1_000, { ...logs, ...manyNodes, actions: [...quiet, 'move', 'lag', 'turn'] }],
    ['through everything', 1_500, everything],
  ])(
    '%s',
    (_, full, variety) => {
      campaign(full, variety);
    },
    hours,
  );
});

describe('a log after a restore in which other updates have the offsets of before (G19)', () => {
  it.each<[string, number, Sights]>([
    ['emits what was not read', 1_500, ['always']],
    ['also while updates become visible', 500, ['always', 'always', 'uploaded', 'granted']],
  ])(
    '%s',
    (_, full, sights) => {
      campaignOf(full, restoresToFormerOffsets(logs.readers, sights));
    },
    hours,
  );
});

describe('a log of another participant, which may have other updates at the same offsets (G19)', () => {
  it.each([
    ['by polls', false],
    ['by WebSockets', true],
  ])(
    'has each update once, read %s',
    (_, isPushed) => {
      campaignOf(300, movesToSameOffsets(isPushed));
    },
    hours,
  );
});

describe('updates that a WebSocket pushes (G19)', () => {
  const pushed = { isPushed: true } as const;
  it.each<[string, number, Variety]>([
    [
      'are the history of a log through restores',
      300,
      { ...pushed, readers: ['updates'], ...oneNode, actions: [...quiet, 'restore', 'restore', 'lose'] },
    ],
    ['are that history through everything', 300, { ...everything, ...pushed, readers: ['updates'] }],
    [
      'keep a state that of a snapshot',
      300,
      { ...everything, ...pushed, readers: ['view'], actions: [...quiet, 'move', 'restore', 'see'] },
    ],
  ])(
    '%s',
    (_, full, variety) => {
      campaign(full, variety);
    },
    hours,
  );
});

describe('a schedule that was found', () => {
  it.each(found)('%s', (_, schedule) => {
    check(schedule);
  });
});

describe('a state is that of a snapshot at its offset', () => {
  it.each<[string, number, Variety]>([
    ['through outages and prunings', 500, { ...states, ...oneNode, actions: [...quiet, 'prune'] }],
    ['through uploads and grants', 500, { ...states, ...oneNode, actions: [...quiet, 'see'] }],
    [
      'through restores and replacements',
      500,
      { ...states, ...oneNode, actions: [...quiet, 'restore', 'lose', 'replace'] },
    ],
    ['from node to node', 500, { ...states, ...manyNodes, actions: [...quiet, 'move', 'lag'] }],
  ])(
    '%s',
    (_, full, variety) => {
      campaign(full, variety);
    },
    hours,
  );
});

describe('the law', () => {
  it(
    'has nothing against a reader that does what is guaranteed',
    () => {
      campaign(5_000, { ...everything, knowsAll: [true, false], isApart: [true, false] }, modelReader());
    },
    hours,
  );

  it.each<Mistake>(['offset', 'strict', 'trusting', 'one time', 'forgetful', 'end'])(
    'notices the mistake "%s"',
    (mistake) => {
      const { failed } = fc.check(
        fc.property(historySchedules(everything), (schedule) => {
          check(schedule, modelReader(mistake));
        }),
        { seed: campaignSeed(), numRuns: 1_000, endOnFailure: true },
      );
      expect(failed).toBe(true);
    },
    hours,
  );
});
