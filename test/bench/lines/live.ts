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

/** One set: both follow the same ledger at the same time, each in its own process, since hardly anything happens there. */
async function follow(
  count: number,
  isFeedFirst: boolean,
): Promise<{ feed: readonly number[]; poll: readonly number[] }> {
  return withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 20 }, async ({ url, append, served }) => {
    const load = { ...plainLoad, url, count };
    const names = ['liveFeed', 'livePoll'] as const;
    const running = (isFeedFirst ? names : names.toReversed()).map((variant) => run({ variant, load }));
    await setTimeout(settleMs);
    append(count, perSecond);
    const outcomes = await Promise.all(running);
    const { appendedAt } = await served();
    const [feed = [], poll = []] = (isFeedFirst ? outcomes : outcomes.toReversed()).map((o) => delays(o, appendedAt));
    return { feed, poll };
  });
}

export const live: Line = {
  id: 'live',
  about: 'following a ledger',
  measure: async ({ sets, scale }) => {
    const measured: Awaited<ReturnType<typeof follow>>[] = [];
    for (let set = 0; set < sets; set += 1) measured.push(await follow(150 * scale, set % 2 === 0));
    const all = { feed: measured.flatMap(({ feed }) => feed), poll: measured.flatMap(({ poll }) => poll) };
    const shown = (values: readonly number[]): string =>
      `${median(values).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)}`;
    return [
      {
        id: 'live',
        figure: `delay of an update, ${perSecond}/s at 20 ms / a bare long poll`,
        ratios: measured.map(({ feed, poll }) => median(feed) / median(poll)),
        goal: { atMost: 1.2 },
        note: `${shown(all.feed)}; the poll ${shown(all.poll)}`,
      },
    ];
  },
};
