import { setTimeout } from 'node:timers/promises';
import { plainLoad } from './Load.js';
import { profiled } from './profile.js';
import { withServer } from './withServer.js';

/** Where the library spends its time: catching up, following, and while nothing happens. */
export async function profiles(print: (text: string) => void): Promise<void> {
  const count = 200_000;
  await withServer({ kind: 'tx', count, step: 1, roundTripMs: 5 }, async ({ url }) => {
    print(await profiled('catching up at 5 ms', { variant: 'feed', load: { ...plainLoad, url, count } }));
  });
  await withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 20 }, async ({ url, append }) => {
    const live = 300;
    const running = profiled('following', { variant: 'liveFeed', load: { ...plainLoad, url, count: live } });
    await setTimeout(1_500);
    append(live, 20);
    print(await running);
  });
  await withServer({ kind: 'tx', count: 0, step: 1, roundTripMs: 1 }, async ({ url }) => {
    print(await profiled('100 idle feeds', { variant: 'idleFeeds', load: { ...plainLoad, url, count: 100 } }));
  });
}
