import { type Outcome, plainLoad } from '../Load.js';
import { costRatios, sideBySide } from '../processes.js';
import { type Line, median } from '../report.js';
import { withServer } from '../withServer.js';

/** The longest time for which the event loop may be blocked, in milliseconds. */
const maxBlockedMs = 50;

/** A live view of 100 000 contracts, from its subscription until it is live. */
export const snapshot: Line = {
  id: 'snapshot',
  about: 'a live view of 100 000 contracts',
  measure: ({ sets, scale }) => {
    const count = 100_000 * scale;
    return withServer({ kind: 'contract', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const load = { ...plainLoad, url, count };
      const execArgv = ['--expose-gc'];
      const { live, undici, bare } = await sideBySide(
        sets,
        {
          bare: { variant: 'bareContracts', load },
          live: { variant: 'liveContracts', load },
          undici: { variant: 'liveContracts', load: { ...load, port: 'undici' } },
        },
        execArgv,
      );
      const figure = (outcomes: readonly Outcome[], name: string): number =>
        median(outcomes.map(({ figures }) => figures?.[name] ?? NaN));
      const seconds = (outcomes: readonly Outcome[]): string =>
        ((median(outcomes.map(({ cost }) => cost)) * count) / 1e6).toFixed(1);
      return [
        {
          id: 'snapshot',
          figure: 'from the subscription to live / fetch and JSON.parse of the same pages',
          ratios: costRatios(live, bare),
          goal: { atMost: 1.4 },
          note: `${seconds(live)} s, the loop ${seconds(bare)} s`,
        },
        {
          id: 'snapshot-undici',
          figure: 'the same over undici / the same loop',
          ratios: costRatios(undici, bare),
        },
        {
          id: 'snapshot-blocked',
          figure: `the longest block of the event loop / ${maxBlockedMs} ms`,
          ratios: live.map(({ figures }) => (figures?.['blockedMs'] ?? NaN) / maxBlockedMs),
          goal: { atMost: 1 },
          note: `${figure(live, 'blockedMs').toFixed(0)} ms, the loop ${figure(bare, 'blockedMs').toFixed(0)} ms`,
        },
        {
          id: 'snapshot-heap',
          figure: 'memory for each contract / that of its JSON',
          ratios: live.map(
            ({ figures }, set) => (figures?.['heapBytes'] ?? NaN) / (bare[set]?.figures?.['heapBytes'] ?? NaN),
          ),
          note: `${figure(live, 'heapBytes').toFixed(0)} bytes, JSON ${figure(bare, 'heapBytes').toFixed(0)} bytes`,
        },
      ];
    });
  },
};
