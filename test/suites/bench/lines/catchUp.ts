import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { sideBySide, speedRatios } from '../sideBySide.js';
import { withServer } from '../withServer.js';

/**
 * How many updates each reads. Where the distance is what counts, the faster way reads more: what it holds when the
 * first tenth is over must not count.
 */
interface Counts {
  readonly serial: number;
  readonly feed: number;
}

/** Catching up with a ledger that is some way off: as the feed does by default over one page after the other. */
const catchUp = (roundTripMs: number, count: Counts, atLeast: number): Line => ({
  id: `catchup-${roundTripMs}`,
  about: `catching up at ${roundTripMs} ms`,
  measure: ({ sets, scale }) =>
    withServer({ kind: 'tx', count: count.feed * scale, step: 1, roundTripMs }, async ({ url }) => {
      const load = { ...plainLoad, url };
      const { feed, serial } = await sideBySide(sets, {
        serial: { variant: 'feed', load: { ...load, count: count.serial * scale, options: { parallelRanges: 1 } } },
        feed: { variant: 'feed', load: { ...load, count: count.feed * scale } },
      });
      return [
        {
          id: `catchup-${roundTripMs}`,
          figure: `catching up at ${roundTripMs} ms / one page after the other`,
          ratios: speedRatios(feed, serial),
          goal: { atLeast },
        },
      ];
    }),
});

export const catchUps: readonly Line[] = [
  catchUp(5, { serial: 100_000, feed: 100_000 }, 2.5),
  catchUp(20, { serial: 24_000, feed: 96_000 }, 4.5),
  catchUp(50, { serial: 12_000, feed: 48_000 }, 8),
];
