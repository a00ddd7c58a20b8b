import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { run } from '../run.js';
import type { VariantName } from '../variants/index.js';
import { withServer } from '../withServer.js';

/** The processor's time is what counts, so that both may wait at the same time. */
const rest = (variant: VariantName): Promise<{ readonly percent: number; readonly requests: number }> =>
  withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 1 }, async ({ url, served }) => {
    const { cost: percent } = await run({ variant, load: { ...plainLoad, url, count: 100 } });
    return { percent, requests: (await served()).requests };
  });

export const idle: Line = {
  id: 'idle',
  about: 'feeds where nothing happens',
  measure: async () => {
    const [feeds, polls] = await Promise.all([rest('idleFeeds'), rest('idlePolls')]);
    return [
      {
        id: 'idle',
        figure: '100 feeds where nothing happens, percent of a processor',
        ratios: [feeds.percent],
        goal: { atMost: 2 },
        note: `${feeds.requests} requests; bare long polls ${polls.percent.toFixed(2)} %, ${polls.requests} requests`,
      },
    ];
  },
};
