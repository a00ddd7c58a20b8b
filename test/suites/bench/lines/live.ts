import { setTimeout } from 'node:timers/promises';
import { plainLoad, type Outcome } from '../Load.js';
import type { Line } from '../Line.js';
import { median } from '../ratios.js';
import { run } from '../run.js';
import { withServer } from '../withServer.js';

const perSecond = 5;
const settleMs = 1_500;

/** How long each update was on its way; without the first tenth. */
const delays = ({ arrivedAt = [] }: Outcome, appendedAt: readonly number[]): readonly number[] =>
  arrivedAt.map((at, i) => at - (appendedAt[i] ?? NaN)).slice(Math.floor(arrivedAt.length / 10));

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN;

/** One after the other: side by side each would wait for the processor that the other one has been woken on. */
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
    const shown = (values: readonly number[]): string =>
      `${median(values).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)}`;
    return [
      {
        id: 'live',
        figure: `delay of an update, ${perSecond}/s at 20 ms / a bare long poll`,
        ratios: feed.map((values, set) => median(values) / median(poll[set] ?? [])),
        goal: { atMost: 1.2 },
        note: `${shown(feed.flat())}; the poll ${shown(poll.flat())}`,
      },
    ];
  },
};
