import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { run } from '../run.js';
import { withServer } from '../withServer.js';

export const idle: Line = {
  id: 'idle',
  about: 'feeds where nothing happens',
  measure: () =>
    withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 1 }, async ({ url, served }) => {
      const { cost } = await run({ variant: 'idleFeeds', load: { ...plainLoad, url, count: 100 } });
      const { requests } = await served();
      return [
        {
          id: 'idle',
          figure: '100 feeds where nothing happens, percent of a processor',
          ratios: [cost],
          goal: { atMost: 2 },
          note: `${(requests / 35).toFixed(0)} requests/s`,
        },
      ];
    }),
};
