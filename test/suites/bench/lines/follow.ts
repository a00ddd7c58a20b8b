import { setTimeout } from 'node:timers/promises';
import { type Outcome, plainLoad } from '../Load.js';
import { run } from '../processes.js';
import { type Line, median } from '../report.js';
import { withServer } from '../withServer.js';

const perSecond = 5;
const settleMs = 1_500;

/** The delay of each update, without the first tenth. */
const delays = ({ arrivedAt = [] }: Outcome, appendedAt: readonly number[]): readonly number[] =>
  arrivedAt.map((at, i) => at - (appendedAt[i] ?? NaN)).slice(Math.floor(arrivedAt.length / 10));

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN;

/** One variant at a time: side by side, each would wait for the processor that the other uses. */
const follow = (variant: 'liveFeed' | 'livePoll', count: number): Promise<readonly number[]> =>
  withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 20 }, async ({ url, append, served }) => {
    const running = run({ variant, load: { ...plainLoad, url, count } });
    await setTimeout(settleMs);
    append(count, perSecond);
    const outcome = await running;
    return delays(outcome, (await served()).appendedAt);
  });

export const live: Line = {
  id: 'live',
  about: 'following a ledger',
  measure: async ({ sets, scale }) => {
    const count = 150 * scale;
    const feed: (readonly number[])[] = [];
    const poll: (readonly number[])[] = [];
    const measures = [
      async () => poll.push(await follow('livePoll', count)),
      async () => feed.push(await follow('liveFeed', count)),
    ];
    // most of a run is waiting
    for (let set = 0; set < Math.ceil(sets / 2); set += 1)
      for (const measure of set % 2 === 0 ? measures : measures.toReversed()) await measure();
    const format = (values: readonly number[]): string =>
      `${median(values).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)}`;
    return [
      {
        id: 'live',
        figure: `delay of an update, ${perSecond}/s at 20 ms / a bare long poll`,
        ratios: feed.map((values, set) => median(values) / median(poll[set] ?? [])),
        goal: { atMost: 1.2 },
        note: `${format(feed.flat())}; the poll ${format(poll.flat())}`,
      },
    ];
  },
};

export const steady: Line = {
  id: 'steady',
  about: 'one feed for a long time',
  measure: ({ sets, scale }) => {
    const count = scale < 1 ? 1_000_000 : 5_000_000;
    return withServer({ kind: 'small', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const outcomes: Outcome[] = [];
      // it compares with itself, and takes long
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
      ];
    });
  },
};

export const idle: Line = {
  id: 'idle',
  about: 'feeds where nothing happens',
  measure: () =>
    withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 1 }, async ({ url, served }) => {
      const { cost } = await run({ variant: 'idleFeeds', load: { ...plainLoad, url, count: 100 } });
      return [
        {
          id: 'idle',
          figure: '100 feeds where nothing happens, percent of a processor',
          ratios: [cost],
          goal: { atMost: 2 },
          note: `${(await served()).requests} requests`,
        },
      ];
    }),
};
