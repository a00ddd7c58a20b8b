import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { EMPTY, NEVER } from 'rxjs';
import type { Diagnostic } from '../../src/index.js';
import { natsFeed, type NatsFeedOptions, natsRelay } from '../../src/nats/index.js';
import { memoryStore, processFeed, type Work } from '../../src/process/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { offsets } from '../helpers/observe.js';
import { repeatIfStalled, until } from '../helpers/time.js';
import { createRelay, errorOf, generateUpdates, handle, run, runRelay, withNats } from './support.js';

/** The bucket with the cursors of a stream's readers. */
const bucketOf = ({ connection, stream }: NatsFeedOptions) => new Kvm(jetstream(connection)).open(`${stream}-cursors`);

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(300);
});

describeWithNats('replicas that share a durable', () => {
  const nats = withNats();

  const relayUpdates = async (count: number): Promise<NatsFeedOptions> => {
    const { connection, stream } = await nats.target();
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, count));
    return { connection, stream, durable: 'reader' };
  };
  /** The same durable over a connection of its own. */
  const another = async (source: NatsFeedOptions): Promise<NatsFeedOptions> => ({
    ...source,
    connection: await nats.connect(),
  });

  it('work one at a time, and continue at once where another one was stopped', async () => {
    const source = await relayUpdates(300);
    const order: number[] = [];
    let running = 0;
    const handler = async ({ offset }: Work): Promise<void> => {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      order.push(offset);
      running -= 1;
      if (order.length % 100 === 0) working()?.stopping.abort();
    };
    const sources = await Promise.all([1, 2, 3].map(() => another({ ...source, maxPageSize: 20 })));
    const replicas = sources.map((each) => {
      const stopping = new AbortController();
      return { ...run(natsFeed(each), { signal: stopping.signal }, handler), stopping };
    });
    const working = () => replicas.find(({ handled, stopping }) => handled.length > 0 && !stopping.signal.aborted);
    await until(() => order.length === 300);
    expect(order).toEqual(offsets(updates));
    expect(replicas.map(({ handled }) => handled.length)).toEqual([100, 100, 100]);
    for (const { error } of replicas) expect(error).toBeUndefined();
  });

  it('that is stopped while it takes over leaves the durable to the next one at once', async () => {
    const source = await relayUpdates(10);
    for (let ms = 0; ms < 12; ms += 1) {
      const waiting = run(natsFeed(await another({ ...source, ackWaitMs: 20_000 })), { stopWithinMs: 0 });
      await wait(ms);
      waiting.subscription.unsubscribe();
    }
    const startedAt = performance.now();
    const next = run(natsFeed(await another({ ...source, ackWaitMs: 20_000 })));
    await until(() => next.values.at(-1)?.isCaughtUp === true);
    next.subscription.unsubscribe();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('pass the durable to the next one, also when their connection is drained as soon as they end', async () => {
    const source = await relayUpdates(20);
    const { connection, ...rest } = await another(source);
    const enough = new AbortController();
    const handler = (): void => {
      enough.abort();
    };
    const committed$ = processFeed(natsFeed({ ...rest, connection }), handler, { signal: enough.signal });
    await new Promise((resolve, reject) => {
      const complete = (): void => {
        resolve(connection.drain());
      };
      committed$.subscribe({ error: reject, complete });
    });
    const record = await (await bucketOf(source)).get('reader.reader');
    expect(record?.json()).toMatchObject({ cursor: { sequence: 1, offset: updates[0]?.offset } });
    expect(record?.json()).not.toHaveProperty('holder');
  });

  it('wait for as long as the handler of another one runs', async () => {
    const ackWaitMs = 600;
    const handled = await repeatIfStalled(ackWaitMs / 2, async () => {
      const source = { ...(await relayUpdates(3)), ackWaitMs };
      const seen: number[] = [];
      const handler = ({ offset }: Work): Promise<void> => wait(seen.push(offset) === 1 ? 3 * ackWaitMs : 1);
      const both = [source, await another(source)].map((each) => run(natsFeed(each), {}, handler));
      await until(() => both.some(({ values }) => values.at(-1)?.isCaughtUp === true));
      for (const { subscription } of both) subscription.unsubscribe();
      return seen;
    });
    expect(handled).toEqual(offsets(updates.slice(0, 3)));
  });

  it('keep the order when one of them becomes silent', async () => {
    const source = { ...(await relayUpdates(50)), ackWaitMs: 300 };
    const order: number[] = [];
    const silent = await another(source);
    // its connection is closed while it handles an update
    const dying = run(natsFeed(silent), { commitEvery: { updates: 1 } }, ({ offset }) =>
      order.push(offset) === 10 ? NEVER : EMPTY,
    );
    await until(() => order.length === 10);
    const other = run(natsFeed(source), {}, ({ offset }) => void order.push(offset));
    await silent.connection.close();
    await until(() => other.handled.length === 41);
    dying.subscription.unsubscribe();
    other.subscription.unsubscribe();
    const expected = offsets(updates.slice(0, 50));
    expect(order).toEqual([...expected.slice(0, 10), ...expected.slice(9)]);
  });

  it('do not save after they have lost the durable, and wait for it again (G57)', async () => {
    const source = { ...(await relayUpdates(30)), ackWaitMs: 300 };
    const feed = natsFeed(source);
    const reports: Diagnostic[] = [];
    const reporting = feed.diagnostics$.subscribe((report) => reports.push(report));
    const bucket = await bucketOf(source);
    let isTaken = false;
    const seen = run(feed, { commitEvery: { updates: 1 }, storeRetry: { baseDelayMs: 1 } }, async ({ offset }) => {
      if (isTaken || offset !== updates[9]?.offset) return;
      isTaken = true;
      // as one that takes over does
      const record = await bucket.get('reader.reader');
      await bucket.put('reader.reader', JSON.stringify({ ...record?.json<object>(), holder: 'another' }));
    });
    await until(() => seen.values.at(-1)?.isCaughtUp === true || seen.error !== undefined);
    seen.subscription.unsubscribe();
    reporting.unsubscribe();
    const expected = offsets(updates.slice(0, 30));
    expect(offsets(seen.handled)).toEqual([...expected.slice(0, 10), ...expected.slice(9)]);
    expect(reports.filter(({ _tag }) => _tag === 'RetryScheduled')).toMatchObject([
      { cause: { _tag: 'StoreError', reason: 'another processor holds the name now' } },
    ]);
  });

  it.each(['while it runs', 'between two runs'])('begin again after their bucket was deleted %s', async (when) => {
    const source = { ...(await relayUpdates(30)), ackWaitMs: 300 };
    const feed = natsFeed(source);
    const retry = { storeRetry: { baseDelayMs: 1, giveUpAfterMs: 5_000 } };
    const { streams } = await jetstreamManager(source.connection);
    const first = run(feed, retry);
    await until(() => first.values.at(-1)?.isCaughtUp === true);
    if (when === 'between two runs') first.subscription.unsubscribe();
    await streams.delete(`KV_${source.stream}-cursors`);
    const seen = when === 'while it runs' ? first : run(feed, retry);
    const expected =
      when === 'while it runs' ? [...updates.slice(0, 30), ...updates.slice(0, 30)] : updates.slice(0, 30);
    await until(() => seen.handled.length === expected.length || seen.error !== undefined);
    seen.subscription.unsubscribe();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.handled)).toEqual(offsets(expected));
  });
});

describeWithNats('natsFeed while its server is killed', () => {
  const nats = withNats();

  it.each(['durable', 'store'])(
    'hands on every update, in order, while a relay publishes, by a %s (G56)',
    async (keeper) => {
      const all = await generateUpdates(effort(300, 1_500, 300));
      const { connection, stream } = await nats.target();
      const relay = await createRelay({ connection, stream, timeoutMs: 500 });
      const source = { connection: await nats.connect(), stream, timeoutMs: 500, ackWaitMs: 1_000 };
      const options = keeper === 'store' ? { name: 'reader', store: memoryStore() } : {};
      const seen = run(natsFeed(keeper === 'store' ? source : { ...source, durable: 'reader' }), options);
      const publishing = runRelay(relay, all, { size: 20 });
      for (const share of [0.1, 0.6]) {
        await until(() => seen.handled.length > share * all.length || seen.error !== undefined);
        await nats.server.crash();
        await nats.server.start();
      }
      await publishing;
      await until(() => seen.values.at(-1)?.offset === all.at(-1)?.offset || seen.error !== undefined, 60_000);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.handled)).toEqual(offsets(all));
      seen.subscription.unsubscribe();
    },
  );
});

describeWithNats('natsFeed without its server', () => {
  const nats = withNats();

  it('retries for as long as its policy allows, and reports that', async () => {
    const { connection, stream } = await nats.target();
    await createRelay({ connection, stream });
    const retry = { baseDelayMs: 1, giveUpAfterMs: 300 };
    const feed = natsFeed({ connection, stream, durable: 'reader', timeoutMs: 100, retry });
    const reports: Diagnostic[] = [];
    const reporting = feed.diagnostics$.subscribe((report) => reports.push(report));
    await nats.server.crash();
    expect(await errorOf(processFeed(feed, () => undefined))).toMatchObject({ _tag: 'StoreError', operation: 'hold' });
    expect(await errorOf(feed.end$)).toMatchObject({ _tag: 'ConnectionError' });
    expect(reports).toContainEqual(expect.objectContaining({ _tag: 'RetryScheduled', failures: 2, feed: 1 }));
    reporting.unsubscribe();
    await nats.server.start();
    const seen = run(feed);
    await until(() => seen.values.at(-1)?.isCaughtUp === true);
    seen.subscription.unsubscribe();
  });
});

describeWithNats('the relay and its reader', () => {
  const nats = withNats();

  it('send few messages for each update', async () => {
    const all = await generateUpdates(effort(600, 10_000));
    const connection = await nats.connect();
    const reading = await nats.connect();
    const stream = nats.newName();
    const begin = performance.now();
    await runRelay(natsRelay({ connection, stream }), all);
    const published = performance.now();
    expect(await handle(natsFeed({ connection: reading, stream, durable: 'reader' }), all.length)).toHaveLength(
      all.length,
    );
    const rates = [all.length / (published - begin), all.length / (performance.now() - published)];
    console.log(`updates relayed and read per second: ${rates.map((rate) => Math.round(rate * 1000)).join(', ')}`);
    // on any machine: one message to publish an update, and a few for a page of them
    expect(connection.stats().outMsgs / all.length).toBeLessThan(1.1);
    expect(reading.stats().outMsgs / all.length).toBeLessThan(0.05);
  });
});
