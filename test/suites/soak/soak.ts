import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { lastValueFrom, scan, take, takeUntil, tap, timer } from 'rxjs';
import { acsDelta, createLedger } from '../../../src/index.js';
import { undiciPort } from '../../../src/undici/index.js';

/**
 * One feed for a long time and many for a short time, with faults: no update may be lost or repeated, and memory and handles
 * must not grow.
 * `npm run soak`, `npm run soak -- 50000000 100000`, `npm run soak -- 5000000 10000 undici`.
 */
const updates = Number(process.argv[2] ?? 5_000_000);
const cycles = Number(process.argv[3] ?? 10_000);
const client = process.argv[4] === 'undici' ? { port: undiciPort() } : {};
const mostGrowthBytes = 8 * 2 ** 20;

const warnings: string[] = [];
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`));

const server = fork(join(import.meta.dirname, 'server.js'), [String(updates)]);
const nextMessage = async (): Promise<Readonly<Record<string, unknown>>> => {
  const [message] = (await once(server, 'message')) as [Readonly<Record<string, unknown>>];
  return message;
};
const { address } = await nextMessage();
const port = typeof address === 'object' && address !== null && 'port' in address ? String(address.port) : '';
const ledger = createLedger({
  ...client,
  baseUrl: `http://127.0.0.1:${port}`,
  requestTimeoutMs: 5_000,
  retry: { baseDelayMs: 1, maxDelayMs: 20 },
});
const updateFormat = acsDelta({ parties: 'any' });

interface Sample {
  readonly heap: number;
  readonly handles: number;
}
const sample = (): Sample => {
  globalThis.gc?.();
  return { heap: process.memoryUsage().heapUsed, handles: process.getActiveResourcesInfo().length };
};
const shown = ({ heap, handles }: Sample): string => `heap ${(heap / 2 ** 20).toFixed(1)} MiB, ${handles} handles`;
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const complaints: string[] = [];
function compare(what: string, first: Sample | undefined, last: Sample): void {
  if (first === undefined) return;
  if (last.heap - first.heap > mostGrowthBytes) complaints.push(`${what}: the heap grew`);
  if (last.handles > first.handles + 2) complaints.push(`${what}: handles are left`);
}

async function oneFeed(): Promise<void> {
  const start = performance.now();
  const every = Math.max(1, Math.floor(updates / 10));
  let first: Sample | undefined;
  let last = sample();
  const feed$ = ledger.updates({ beginExclusive: 0, endInclusive: updates * 3, updateFormat }).pipe(
    scan((previous, { offset }) => {
      if (offset !== previous + 3) throw new Error(`${offset} came after ${previous}`);
      return offset;
    }, 0),
    tap((offset) => {
      if ((offset / 3) % every !== 0) return;
      last = sample();
      first ??= last;
      const rate = Math.round(offset / 3 / ((performance.now() - start) / 1_000));
      print(`${offset / 3} updates, ${rate}/s, ${shown(last)}`);
    }),
  );
  const end = await lastValueFrom(feed$);
  if (end !== updates * 3) complaints.push(`the feed ended at ${end}`);
  compare('one feed', first, last);
}

async function manyFeeds(): Promise<void> {
  let first: Sample | undefined;
  for (let i = 1; i <= cycles; i += 1) {
    // some unsubscribe during a request, some within a page, some during a poll
    const feed$ = ledger.updates({ beginExclusive: i % 3 === 0 ? updates * 3 : 0, updateFormat });
    await lastValueFrom(feed$.pipe(take((i % 250) + 1), takeUntil(timer(i % 7))), { defaultValue: undefined });
    if (i % Math.max(1, Math.floor(cycles / 10)) !== 0) continue;
    await setTimeout(50);
    const now = sample();
    first ??= now;
    print(`${i} subscriptions, ${shown(now)}`);
    compare('many feeds', first, now);
  }
}

await oneFeed();
await manyFeeds();
server.send('tell');
const { requests, faults, connections } = await nextMessage();
print(`${String(requests)} requests, ${String(faults)} faults, ${String(connections)} connections open`);
if (Number(connections) > 50) complaints.push('connections are left');
complaints.push(...warnings);
print(complaints.length === 0 ? 'flat, nothing lost, nothing repeated' : complaints.join('\n'));
process.exitCode = complaints.length === 0 ? 0 : 1;
server.disconnect();
