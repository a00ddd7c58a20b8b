import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { lastValueFrom, tap } from 'rxjs';
import { acsDelta, createLedger } from '../../../src/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../../src/process/index.js';

/**
 * A slow handler and a fast ledger with faults: no update may be lost or repeated, at most two pages may be held, and memory
 * must not grow. `npm run soak:slow`, `npm run soak:slow -- 1000000 5`.
 */
const updates = Number(process.argv[2] ?? 20_000);
const handlerMs = Number(process.argv[3] ?? 5);
const mostGrowthBytes = 8 * 2 ** 20;
const pageSize = 200;

const server = fork(join(import.meta.dirname, 'server.js'), [String(updates)]);
const [{ address }] = (await once(server, 'message')) as [{ readonly address: { readonly port: number } }];
const ledger = createLedger({
  baseUrl: `http://127.0.0.1:${address.port}`,
  requestTimeoutMs: 5_000,
  retry: { baseDelayMs: 1, maxDelayMs: 20 },
});

let received = 0;
let handled = 0;
let mostHeld = 0;
let previous = 0;
let commits = 0;
ledger.diagnostics$.subscribe((event) => {
  if (event._tag !== 'PageReceived') return;
  received += event.count;
  mostHeld = Math.max(mostHeld, received - handled);
});

const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
const startedAt = performance.now();
const every = Math.max(1, Math.floor(updates / 20));
const heaps: number[] = [];
const handler = async ({ offset }: { readonly offset: number }): Promise<void> => {
  await setTimeout(handlerMs);
  if (offset !== previous + 3) throw new Error(`${offset} came after ${previous}`);
  previous = offset;
  handled += 1;
  if (handled % every !== 0) return;
  heaps.push(heap());
  const seconds = (performance.now() - startedAt) / 1_000;
  const line = `${handled} handled in ${Math.round(seconds)} s, heap ${heaps.at(-1)?.toFixed(1) ?? ''} MiB`;
  process.stdout.write(`${line}, ${mostHeld} held at most, ${commits} commits\n`);
};

const feed = updatesFeed(
  ledger,
  { beginExclusive: 0, endInclusive: updates * 3, updateFormat: acsDelta({ parties: 'any' }) },
  { maxPageSize: pageSize },
);
await lastValueFrom(
  processFeed(feed, handler, { name: 'slow', store: memoryStore(), handlerRetry: { giveUpAfterMs: 0 } }).pipe(
    tap(() => (commits += 1)),
  ),
);

const growth = (heaps.at(-1) ?? 0) - (heaps[0] ?? 0);
const complaints = [
  ...(handled === updates ? [] : [`${handled} of ${updates} were handled`]),
  ...(mostHeld <= 2 * pageSize ? [] : [`${mostHeld} were held`]),
  ...(growth * 2 ** 20 <= mostGrowthBytes ? [] : [`the heap grew by ${growth.toFixed(1)} MiB`]),
];
process.stdout.write(`${complaints.length === 0 ? 'flat, two pages at most, nothing lost' : complaints.join('\n')}\n`);
process.exitCode = complaints.length === 0 ? 0 : 1;
server.disconnect();
