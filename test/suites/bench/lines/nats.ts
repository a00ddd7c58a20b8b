import { hasNats } from '../../../helpers/natsProcess.js';
import { plainLoad } from '../Load.js';
import { type Job, run, sideBySide, speedRatios } from '../processes.js';
import { type Line, median } from '../report.js';
import type { VariantName } from '../variant.js';
import { withNats } from '../withServers.js';
import { withServer } from '../withServer.js';

/** A relay and the readers of its stream, over loops that publish and fetch with the packages of NATS alone. */
export const nats: Line = {
  id: 'nats',
  about: 'a relay, and the readers of its stream',
  measure: ({ sets, scale }) => {
    const count = 50_000 * scale;
    if (!hasNats) throw new Error('nats-server is not installed');
    return withServer({ kind: 'tx', count, step: 1, roundTripMs: 0 }, ({ url }) =>
      withNats(async (natsUrl) => {
        const job = (variant: VariantName): Job => ({ variant, load: { ...plainLoad, url, natsUrl, count } });
        await run(job('fillStream'));
        const { publish, relay, fetch, durable, store } = await sideBySide(sets, {
          publish: job('barePublish'),
          relay: job('relay'),
          fetch: job('bareConsumer'),
          durable: job('readDurable'),
          store: job('readWithStore'),
        });
        const rate = (outcomes: typeof publish): string =>
          median(outcomes.map(({ cost }) => 1_000_000 / cost)).toFixed(0);
        return [
          {
            id: 'nats-relay',
            figure: 'a relay in batches of 100 / a loop that publishes as many messages',
            ratios: speedRatios(relay, publish),
            note: `${rate(relay)} updates/s; the loop ${rate(publish)}`,
          },
          {
            id: 'nats-durable',
            figure: 'natsFeed with a durable / a loop that fetches, parses and acknowledges',
            ratios: speedRatios(durable, fetch),
            note: `${rate(durable)} updates/s; the loop ${rate(fetch)}`,
          },
          {
            id: 'nats-store',
            figure: 'natsFeed with a store / the loop',
            ratios: speedRatios(store, fetch),
            note: `${rate(store)} updates/s`,
          },
        ];
      }),
    );
  },
};
