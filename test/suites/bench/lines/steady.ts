import { plainLoad, type Outcome } from '../Load.js';
import type { Line } from '../Line.js';
import { run } from '../run.js';
import { withServer } from '../withServer.js';

export const steady: Line = {
  id: 'steady',
  about: 'one feed for a long time',
  measure: ({ sets, scale }) => {
    const count = scale < 1 ? 1_000_000 : 5_000_000;
    return withServer({ kind: 'small', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const outcomes: Outcome[] = [];
      // each compares with itself, and takes its time
      for (let set = 0; set < Math.ceil(sets / 5); set += 1)
        outcomes.push(await run({ variant: 'longFeed', load: { ...plainLoad, url, count } }, ['--expose-gc']));
      const heaps = outcomes.map(({ figures = {} }) => figures);
      return [
        {
          id: 'steady',
          figure: `time of an update, the last of ${count / 1e6} million / the first`,
          ratios: outcomes.map(({ cost }) => cost),
          goal: { atMost: 1.05 },
        },
        {
          id: 'heap',
          figure: `heap after ${count / 1e6} million / after 100 000`,
          ratios: heaps.map(({ heap = NaN }) => heap),
          goal: { atMost: 1.1 },
          note: `after 100 000: ${((heaps[0]?.['firstHeap'] ?? NaN) / 2 ** 20).toFixed(1)} MiB`,
        },
        {
          id: 'heap-settled',
          figure: `heap after ${count / 1e6} million / after ${count / 5e6} million`,
          ratios: heaps.map(({ settledHeap = NaN }) => settledHeap),
        },
      ];
    });
  },
};
