import { type Outcome, plainLoad } from '../Load.js';
import { costRatios, type Job, run, sideBySide, speedRatios } from '../processes.js';
import { type Line, median } from '../report.js';
import { type Served, type Server, withServer } from '../withServer.js';

/**
 * How many updates each variant reads. At a distance the faster one reads more, so that the pages that it holds after the
 * first tenth have little effect.
 */
interface Counts {
  readonly serial: number;
  readonly feed: number;
}

/** Catching up with a distant ledger: the feed's default over one page after the other. */
const catchUp = (roundTripMs: number, count: Counts, atLeast: number): Line => ({
  id: `catchup-${roundTripMs}`,
  about: `catching up at ${roundTripMs} ms`,
  measure: ({ sets, scale }) =>
    withServer({ kind: 'tx', count: count.feed * scale, step: 1, roundTripMs }, async ({ url }) => {
      const load = { ...plainLoad, url };
      const { feed, serial, undici } = await sideBySide(sets, {
        serial: { variant: 'feed', load: { ...load, count: count.serial * scale, options: { parallelRanges: 1 } } },
        feed: { variant: 'feed', load: { ...load, count: count.feed * scale } },
        undici: { variant: 'feed', load: { ...load, count: count.feed * scale, port: 'undici' } },
      });
      return [
        {
          id: `catchup-${roundTripMs}`,
          figure: `catching up at ${roundTripMs} ms / one page after the other`,
          ratios: speedRatios(feed, serial),
          goal: { atLeast },
        },
        {
          id: `catchup-${roundTripMs}-undici`,
          figure: 'the same over undici / one page after the other, by fetch',
          ratios: speedRatios(undici, serial),
        },
      ];
    }),
});

export const catchUps: readonly Line[] = [
  catchUp(5, { serial: 100_000, feed: 100_000 }, 3),
  catchUp(20, { serial: 24_000, feed: 96_000 }, 8.5),
  catchUp(50, { serial: 12_000, feed: 48_000 }, 14),
];

export const throughput: Line = {
  id: 'throughput',
  about: 'reading a ledger end to end, without distance',
  measure: ({ sets, scale }) => {
    const count = 200_000 * scale;
    return withServer({ kind: 'tx', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const load = { ...plainLoad, url, count };
      const options = { parallelRanges: 1 };
      const { bare, feed, serial, undici, undiciSerial, naive } = await sideBySide(sets, {
        bare: { variant: 'bareFetch', load },
        feed: { variant: 'feed', load },
        serial: { variant: 'feed', load: { ...load, options } },
        undici: { variant: 'feed', load: { ...load, port: 'undici' } },
        undiciSerial: { variant: 'feed', load: { ...load, port: 'undici', options } },
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
          id: 'throughput-serial',
          figure: 'one page after the other / the same loop',
          ratios: speedRatios(serial, bare),
          goal: { atLeast: 0.85 },
        },
        {
          id: 'throughput-undici',
          figure: 'the feed over undici / the same loop',
          ratios: speedRatios(undici, bare),
          goal: { atLeast: 1.25 },
        },
        {
          id: 'throughput-undici-serial',
          figure: 'one page after the other, over undici / the same loop',
          ratios: speedRatios(undiciSerial, bare),
          goal: { atLeast: 1 },
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

export const readAhead: Line = {
  id: 'read-ahead',
  about: 'a consumer that works',
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

const roundTripMs = 20;
const mostPerPage = 200;

/** Runs a job and counts its requests. */
async function runAndCount({ served }: Server, job: Job): Promise<Outcome & { readonly counts: Served }> {
  const before = await served();
  const outcome = await run(job);
  const after = await served();
  const pages = after.pages - before.pages;
  const emptyPages = after.emptyPages - before.emptyPages;
  return {
    ...outcome,
    counts: { ...after, pages, emptyPages, updates: after.updates - before.updates },
  };
}

const fill = ({ updates, pages, emptyPages }: Served): number => updates / (pages - emptyPages) / mostPerPage;

export const sparse: Line = {
  id: 'sparse-20',
  about: 'catching up where one offset in a thousand matches',
  measure: async ({ sets, scale }) => {
    const counts = { serial: 24_000 * scale, feed: 96_000 * scale };
    const step = 1_000;
    return withServer({ kind: 'tx', count: counts.feed, step, roundTripMs }, async (server) => {
      const load = { ...plainLoad, url: server.url, step };
      const serial: Outcome[] = [];
      const feed: Awaited<ReturnType<typeof runAndCount>>[] = [];
      const measures = [
        async () => {
          const options = { parallelRanges: 1 };
          serial.push(await run({ variant: 'feed', load: { ...load, count: counts.serial, options } }));
        },
        async () => {
          feed.push(await runAndCount(server, { variant: 'feed', load: { ...load, count: counts.feed } }));
        },
      ];
      for (let set = 0; set < sets; set += 1)
        for (const measure of set % 2 === 0 ? measures : measures.toReversed()) await measure();
      const last = feed.at(-1)?.counts;
      return [
        {
          id: 'sparse-20',
          figure: 'catching up, one offset in 1000 matches / one page after the other',
          ratios: costRatios(serial, feed),
          goal: { atLeast: 4.5 },
        },
        {
          id: 'sparse-fill',
          figure: 'updates of a page that is not empty / 200',
          ratios: feed.map(({ counts }) => fill(counts)),
          goal: { atLeast: 0.5 },
          note: `${String(last?.pages)} pages requested, ${String(last?.emptyPages)} of them empty`,
        },
      ];
    });
  },
};
