import { fork } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Order, Report } from './readersServer.js';

/**
 * Pages that read contracts as server-sent events, over loopback: the memory of each on the server, and the time from a change
 * to a page. `npm run bench:readers`, `npm run bench:readers -- 1000 100`: the number of readers, and of changes, 20 a second.
 */
const readers = Number(process.argv[2] ?? 1_000);
const changes = Number(process.argv[3] ?? 100);

const server = fork(join(import.meta.dirname, 'readersServer.js'), { execArgv: ['--expose-gc'] });
const send = async (order: Order): Promise<Report> => {
  server.send(order);
  const [report] = (await once(server, 'message')) as [Report];
  return report;
};

/** Opens connections as pages do, with fetch, and calls back with the time of each change that one of them receives. */
async function connect(port: number, onChange: (sentAt: number) => void): Promise<() => void> {
  const leaving = new AbortController();
  const { signal } = leaving;
  setMaxListeners(0, signal);
  let begun = 0;
  const read = async (user: number): Promise<void> => {
    const { body } = await fetch(`http://127.0.0.1:${port}/${user}`, { signal });
    let rest = '';
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      // a chunk may have several events, or a part of one
      const events = (rest + text).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        if (event.startsWith('event: reset')) begun += 1;
        const sentAt = /^event: changed[^]*?"sentAt":([\d.]+)/.exec(event)?.[1];
        if (sentAt !== undefined) onChange(Number(sentAt));
      }
    }
  };
  for (let user = 0; user < readers; user += 1) {
    read(user).catch(() => undefined);
    if (user % 50 === 0) await setTimeout(10);
  }
  while (begun < readers) await setTimeout(10);
  return () => {
    leaving.abort();
  };
}

const now = (): number => performance.timeOrigin + performance.now();

for (const views of ['one', 'own'] as const) {
  const { port, heapBytes: before, rssBytes: rssBefore } = await send({ _tag: 'Serve', views, readers });
  const times: number[] = [];
  const leave = await connect(port, (sentAt) => times.push(now() - sentAt));
  const { heapBytes, rssBytes } = await send({ _tag: 'Measure' });
  const kilobytes = (bytes: number): string => (bytes / readers / 1024).toFixed(1);
  // a change of the one view reaches all, one of a view of many reaches its user
  const expected = views === 'one' ? changes * readers : changes * 10;
  await send({ _tag: 'Change', count: views === 'one' ? changes : changes * 10, everyMs: views === 'one' ? 50 : 5 });
  while (times.length < expected) await setTimeout(10);
  times.sort((one, other) => one - other);
  const at = (part: number): string => (times[Math.floor(part * (times.length - 1))] ?? NaN).toFixed(1);
  process.stdout.write(
    `${readers} readers of ${views === 'one' ? 'one view' : 'a view each'}: ${kilobytes(heapBytes - before)} kB of heap and ` +
      `${kilobytes(rssBytes - rssBefore)} kB in all for each; ${times.length} arrivals, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`,
  );
  leave();
}
server.kill();
