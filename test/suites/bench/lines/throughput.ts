import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { median } from '../ratios.js';
import { sideBySide, speedRatios } from '../sideBySide.js';
import { withServer } from '../withServer.js';

export const throughput: Line = {
  id: 'throughput',
  about: 'reading a ledger end to end, as near as it gets',
  measure: ({ sets, scale }) => {
    const count = 200_000 * scale;
    return withServer({ kind: 'tx', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const load = { ...plainLoad, url, count };
      const { feed, bare, naive } = await sideBySide(sets, {
        bare: { variant: 'bareFetch', load },
        feed: { variant: 'feed', load },
        naive: { variant: 'naiveFetch', load },
      });
      const rate = (median(bare.map(({ cost }) => 1_000 / cost)) * 1_000).toFixed(0);
      return [
        {
          id: 'throughput',
          figure: 'the feed / fetch and JSON.parse in a loop',
          ratios: speedRatios(feed, bare),
          goal: { atLeast: 0.9 },
          note: `the loop: ${rate} updates/s`,
        },
        {
          id: 'throughput-naive',
          figure: 'the feed / the same loop and naive io-ts',
          ratios: speedRatios(feed, naive),
          goal: { atLeast: 1.25 },
        },
      ];
    });
  },
};
