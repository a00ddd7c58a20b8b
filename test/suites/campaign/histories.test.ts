import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { flawsOfHistory } from './history/law.js';
import { type Mistake, modelReader } from './history/modelReader.js';
import { type MakeReader, playHistory } from './history/play.js';
import { type Action, describeSchedule, type HistorySchedule, historySchedules, type Variety } from './history/Schedule.js';
import { campaignRuns } from './runs.js';

const hours = 3_600_000;

/** Plays schedules, and expects no flaw in any of them. A failure is reduced to few steps. */
function campaign(full: number, variety: Variety, makeReader?: MakeReader): void {
  const { seed, numRuns } = campaignRuns(Math.ceil(full / 50), full);
  const startedAt = Date.now();
  fc.assert(
    fc.property(historySchedules(variety), (schedule) => {
      check(schedule, makeReader);
    }),
    { seed, numRuns, interruptAfterTimeLimit: Number(process.env['LIMIT'] ?? 1_200_000) },
  );
  process.stdout.write(`campaign: ${numRuns} histories in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s\n`);
}

function check(schedule: HistorySchedule, makeReader?: MakeReader): void {
  const flaws = flawsOfHistory(playHistory(schedule, makeReader));
  if (flaws.length > 0) throw new Error(`${flaws.join('\n')}\n${describeSchedule(schedule)}`);
}

const quiet: readonly Action['does'][] = ['commit', 'advance', 'fail', 'stop'];
const oneNode = { maxNodes: 1, modes: ['fail'] } as const;
const manyNodes = { maxNodes: 3, modes: ['relocate', 'relocate', 'fail'] } as const;
const logs = { readers: ['updates', 'processor'] } as const;
const states = { readers: ['rows', 'view'] } as const;

const everything: Variety = {
  ...logs,
  actions: [...quiet, 'see', 'prune', 'restore', 'lose', 'replace', 'move', 'turn', 'lag'],
  maxNodes: 3,
  modes: ['fail', 'relocate'],
};

describe('a log emits the history of its selection, and no other', () => {
  it.each<[string, number, Variety]>([
    ['through outages and prunings', 500, { ...logs, ...oneNode, actions: [...quiet, 'prune'] }],
    ['through uploads and grants', 500, { ...logs, ...oneNode, actions: [...quiet, 'see'] }],
    ['through replacements', 500, { ...logs, ...oneNode, actions: [...quiet, 'replace', 'prune'] }],
    ['through restores', 1_000, { ...logs, ...oneNode, actions: [...quiet, 'restore', 'restore', 'lose'] }],
    ['from node to node', 1_000, { ...logs, ...manyNodes, actions: [...quiet, 'move', 'lag'] }],
    ['through everything', 1_500, everything],
  ])(
    '%s',
    (_, full, variety) => {
      campaign(full, variety);
    },
    hours,
  );
});

describe('a state is that of a snapshot at its offset', () => {
  it.each<[string, number, Variety]>([
    ['through outages and prunings', 500, { ...states, ...oneNode, actions: [...quiet, 'prune'] }],
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
      campaign(5_000, everything, modelReader());
    },
    hours,
  );

  it.each<Mistake>(['offset', 'strict', 'trusting', 'one time', 'forgetful', 'end'])(
    'notices the mistake "%s"',
    (mistake) => {
      const { seed } = campaignRuns(1, 1);
      const { failed } = fc.check(
        fc.property(historySchedules(everything), (schedule) => {
          check(schedule, modelReader(mistake));
        }),
        { seed, numRuns: 1_000, endOnFailure: true },
      );
      expect(failed).toBe(true);
    },
    hours,
  );
});
