import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import type { Served } from '../ServerSpec.js';
import { run, type Job } from '../run.js';
import { costRatios } from '../sideBySide.js';
import { withServer, type Server } from '../withServer.js';
import type { Outcome } from '../Load.js';

const roundTripMs = 20;
const mostPerPage = 200;

/** A run, and what it asked of the server. */
async function watched({ served }: Server, job: Job): Promise<Outcome & { readonly asked: Served }> {
  const before = await served();
  const outcome = await run(job);
  const after = await served();
  const pages = after.pages - before.pages;
  const emptyPages = after.emptyPages - before.emptyPages;
  return {
    ...outcome,
    asked: { ...after, pages, emptyPages, updates: after.updates - before.updates },
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
      const feed: Awaited<ReturnType<typeof watched>>[] = [];
      const measures = [
        async () => {
          const options = { parallelRanges: 1 };
          serial.push(await run({ variant: 'feed', load: { ...load, count: counts.serial, options } }));
        },
        async () => {
          feed.push(await watched(server, { variant: 'feed', load: { ...load, count: counts.feed } }));
        },
      ];
      for (let set = 0; set < sets; set += 1)
        for (const measure of set % 2 === 0 ? measures : measures.toReversed()) await measure();
      const last = feed.at(-1)?.asked;
      return [
        {
          id: 'sparse-20',
          figure: 'catching up, one offset in 1000 matches / one page after the other',
          ratios: costRatios(serial, feed),
          goal: { atLeast: 4.5 },
        },
        {
          id: 'sparse-fill',
          figure: 'updates of a page that has any / 200',
          ratios: feed.map(({ asked }) => fill(asked)),
          goal: { atLeast: 0.5 },
          note: `${String(last?.pages)} pages asked for, ${String(last?.emptyPages)} of them empty`,
        },
      ];
    });
  },
};
