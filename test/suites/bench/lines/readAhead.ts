import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { sideBySide, speedRatios } from '../sideBySide.js';
import { withServer } from '../withServer.js';

export const readAhead: Line = {
  id: 'read-ahead',
  about: 'a consumer with something to do',
  measure: ({ sets, scale }) => {
    const count = 60_000 * scale;
    return withServer({ kind: 'tx', count, step: 1, roundTripMs: 5 }, async ({ url }) => {
      const load = { ...plainLoad, url, count, busyUs: 20 };
      const { feed, serial } = await sideBySide(sets, {
        serial: { variant: 'feed', load: { ...load, options: { parallelRanges: 1 } } },
        feed: { variant: 'feed', load },
      });
      return [
        {
          id: 'read-ahead',
          figure: '20 us of work for each update, 5 ms / one page after the other',
          ratios: speedRatios(feed, serial),
          goal: { atLeast: 1.3 },
        },
      ];
    });
  },
};
