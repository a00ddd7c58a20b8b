import { beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { ReplaySubject } from 'rxjs';
import { isLedgerError } from '../../src/index.js';
import { natsRelay } from '../../src/nats/index.js';
import { type Feed, processFeed, type ProcessOptions, type Work } from '../../src/process/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { observe, offsets } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { errorOf, feedOfPages, generateUpdates, readStream, withNats } from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(60);
});

/** The options of a relay's processor. Its handler has no retries of its own to hide behind. */
const settings = (retry: ProcessOptions['retry']) => ({
  name: 'relay',
  retry: { baseDelayMs: 1, ...retry },
  handlerRetry: { baseDelayMs: 1, giveUpAfterMs: 0 },
});
const batch = { size: 10, withinMs: 0 };

describeWithNats('a processor with a relay', () => {
  const nats = withNats();

  it('retries for as long as its policy allows if the server does not respond, then names the server (G53)', async () => {
    const connection = await nats.connect();
    const stream = nats.newName();
    const gate$ = new ReplaySubject<void>(1);
    const { handler, store } = natsRelay({ connection, stream, timeoutMs: 50 });
    const page = updates.slice(0, 20);
    const run = observe(
      processFeed(feedOfPages([page, updates.slice(20)], gate$), handler, {
        ...settings({ giveUpAfterMs: 500 }),
        store,
        batch,
      }),
    );
    await until(() => run.values.at(-1)?.offset === page.at(-1)?.offset);
    await nats.server.crash();
    gate$.next();
    await until(() => run.error !== undefined);
    await nats.server.start();
    expect(run.error).toMatchObject({ _tag: 'StoreError', processor: 'relay' });
    expect(isLedgerError(run.error, 'StoreError') && run.error.retried?.forMs).toBeGreaterThanOrEqual(500);
    expect(String(run.error)).toContain(`NATS at ${nats.server.url.replace('nats://', '')}`);
  });

  it.each(['stop', 'skip'] as const)(
    'continues when the server returns, and leaves out no update: onPoison %s (G53)',
    async (onPoison) => {
      const connection = await nats.connect();
      const stream = nats.newName();
      const gate$ = new ReplaySubject<void>(1);
      const { handler, store } = natsRelay({ connection, stream, timeoutMs: 100 });
      let failures = 0;
      const counting: typeof handler = async (work, tx) => {
        try {
          await handler(work, tx);
        } catch (error) {
          failures += 1;
          throw error;
        }
      };
      const page = updates.slice(0, 20);
      const run = observe(
        processFeed(feedOfPages([page, updates.slice(20)], gate$), counting, {
          ...settings({}),
          onPoison,
          store,
          batch,
        }),
      );
      await until(() => run.values.at(-1)?.offset === page.at(-1)?.offset);
      await nats.server.crash();
      gate$.next();
      await until(() => failures > 0 || run.error !== undefined);
      await nats.server.start();
      await until(() => run.values.at(-1)?.offset === updates.at(-1)?.offset || run.error !== undefined);
      run.subscription.unsubscribe();
      expect(run.error).toBeUndefined();
      expect(offsets(await readStream(await jetstreamManager(connection), stream))).toEqual(offsets(updates));
    },
  );

  it.each(['deleted', 'created again'])(
    'ends at once with a RelayError if the stream was %s, while it runs and when it starts (G55)',
    async (what) => {
      const connection = await nats.connect();
      const stream = nats.newName();
      const gate$ = new ReplaySubject<void>(1);
      const pages = [updates.slice(0, 20), updates.slice(20)];
      const relay = (feed: Feed) => {
        const { handler, store } = natsRelay({ connection, stream, timeoutMs: 500 });
        return processFeed(feed, handler, { ...settings({}), store, batch });
      };
      const run = observe(relay(feedOfPages(pages, gate$)));
      await until(() => run.values.at(-1)?.offset === updates[19]?.offset);
      const { streams } = await jetstreamManager(connection);
      await streams.delete(stream);
      if (what === 'created again') await streams.add({ name: stream, subjects: [`${stream}.updates`] });
      gate$.next();
      await until(() => run.error !== undefined, 5_000);
      const error = { _tag: 'RelayError', reason: 'stream' };
      expect(run.error).toMatchObject(error);
      expect(String(run.error)).toContain(
        `the stream was ${what}: to start over, delete the bucket ${stream}-cursors, too`,
      );
      expect(await errorOf(relay(feedOfPages(pages)))).toMatchObject(error);
      // as the message says
      await streams.delete(`KV_${stream}-cursors`);
      const fresh = observe(relay(feedOfPages(pages)));
      await until(() => fresh.values.at(-1)?.offset === updates.at(-1)?.offset || fresh.error !== undefined);
      fresh.subscription.unsubscribe();
      expect(offsets(await readStream(await jetstreamManager(connection), stream))).toEqual(offsets(updates));
    },
  );

  it('ends at once with a RelayError if the connection is closed', async () => {
    const connection = await nats.connect();
    const gate$ = new ReplaySubject<void>(1);
    const { handler, store } = natsRelay({ connection, stream: nats.newName() });
    const pages = [updates.slice(0, 20), updates.slice(20)];
    const run = observe(processFeed(feedOfPages(pages, gate$), handler, { ...settings({}), store, batch }));
    await until(() => run.values.at(-1)?.offset === updates[19]?.offset);
    await connection.close();
    gate$.next();
    await until(() => run.error !== undefined, 5_000);
    expect(run.error).toMatchObject({ _tag: 'RelayError', reason: 'connection' });
  });
});
