import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { contractsFor } from '../../../src/contracts/index.js';
import { serverSentEventsHeaders, toServerSentEvents } from '../../../src/sse/index.js';
import { contract, ServerView } from '../../sse/support.js';

/** What the server shall do next. */
export type Order =
  | { readonly _tag: 'Serve'; readonly views: 'one' | 'own'; readonly readers: number }
  | { readonly _tag: 'Measure' }
  | { readonly _tag: 'Change'; readonly count: number; readonly everyMs: number };

/** Its port, and its memory. */
export interface Report {
  readonly port: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

let port = 0;
let view = new ServerView('any');
let partyOf: (user: number) => string = () => 'everybody';
let readers = 1;

async function serve(views: 'one' | 'own'): Promise<void> {
  view = new ServerView('any');
  partyOf = views === 'one' ? () => 'everybody' : (user) => `user-${user}`;
  const users = Array.from({ length: views === 'one' ? 1 : readers }, (_, user) => user);
  const shown = users.map((user) => contractsFor(view.live, [partyOf(user)]));
  // ten contracts for each user
  view.reset(
    users.flatMap((user) => Array.from({ length: 10 }, (_, index) => contract(`c${user}-${index}`, [partyOf(user)]))),
  );
  const server = createServer((request, response) => {
    const live = shown[Number(request.url?.slice(1)) % shown.length];
    if (live === undefined) return;
    response.writeHead(200, serverSentEventsHeaders);
    const stream = toServerSentEvents(live.changes$) as Parameters<typeof Readable.fromWeb>[0];
    pipeline(Readable.fromWeb(stream), response).catch(() => undefined);
  }).listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
}

async function change(count: number, everyMs: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const payload = { sentAt: performance.timeOrigin + performance.now(), amount: '10.0', owner: 'alice::1220ab' };
    view.change({
      add: [contract(`new-${number}`, [partyOf(number % readers)], { payload, offset: view.offset + 1 })],
    });
    await setTimeout(everyMs);
  }
}

process.on('message', (order: Order) => {
  void (async () => {
    if (order._tag === 'Serve') {
      ({ readers } = order);
      await serve(order.views);
    } else if (order._tag === 'Change') await change(order.count, order.everyMs);
    await setTimeout(200);
    globalThis.gc?.();
    const { heapUsed: heapBytes, rss: rssBytes } = process.memoryUsage();
    process.send?.({ port, heapBytes, rssBytes } satisfies Report);
  })();
});
