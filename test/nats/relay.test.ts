import { beforeAll, expect, it } from '@jest/globals';
import { nanos } from '@nats-io/nats-core';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { firstValueFrom, from, lastValueFrom, NEVER, type ObservableInput } from 'rxjs';
import { natsFeed, natsRelay, type NatsRelayOptions, RelayError } from '../../src/nats/index.js';
import { type Handler, processFeed, type Work } from '../../src/process/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { offsets } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import {
  createRelay,
  cursorAt,
  feedOfPages,
  generateUpdates,
  handle,
  publishAll,
  readStream,
  runRelay,
  withNats,
} from './support.js';

let updates: readonly Work[] = [];
const failure = (input: ObservableInput<unknown>): Promise<unknown> => lastValueFrom(from(input));
const offsetAt = (index: number): number => updates[index]?.offset ?? 0;

describeWithNats('a relay', () => {
  const nats = withNats();
  beforeAll(async () => {
    updates = await generateUpdates(300);
  });

  it('publishes updates once and in order, with headers, to a stream that it creates', async () => {
    const { connection, stream } = await nats.target();
    const unknown: Work = {
      _tag: 'UnknownUpdate',
      variant: 'Later',
      offset: offsetAt(299) + 1,
      value: { a: 1, offset: offsetAt(299) + 1 },
    };
    await runRelay(natsRelay({ connection, stream }), [...updates, unknown]);
    const jsm = await jetstreamManager(connection);
    expect(await readStream(jsm, stream)).toEqual([...updates, unknown]);
    const [first, last] = [1, 301].map((seq) => jsm.streams.getMessage(stream, { seq }));
    expect((await first)?.subject).toBe(`${stream}.updates`);
    expect((await first)?.header.get('Canton-Offset')).toBe(String(offsetAt(0)));
    expect(updates[0]).toHaveProperty('updateId', (await first)?.header.get('Nats-Msg-Id'));
    expect((await last)?.header.get('Nats-Msg-Id')).toBe(`offset-${unknown.offset}`);
  });

  it('ends a processor without batches, which it names, and skips nothing', async () => {
    const { connection, stream } = await nats.target();
    const { handler, store } = natsRelay({ connection, stream });
    // what a program without types may pass
    const single = handler as unknown as Handler;
    await expect(
      failure(processFeed(feedOfPages([updates]), single, { name: 'relay', store, onHandlerFailure: 'skip' })),
    ).rejects.toMatchObject({ name: 'TypeError', message: expect.stringContaining('option batch of processFeed') });
    expect(await readStream(await jetstreamManager(connection), stream)).toEqual([]);
  });

  it('publishes nothing twice after a restart, also long after the window for duplicates', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, ...relay } = await createRelay({ connection, stream }, { duplicate_window: nanos(100) });
    // four times it ends after a publish and before the save
    await runRelay(relay, updates, { size: 10, isUnsaved: (offset) => offset > offsetAt(50) });
    for (const index of [120, 180, 260]) {
      const { state } = await jsm.streams.info(stream);
      await until(() => Date.now() - Date.parse(state.last_ts) > 300);
      const again = natsRelay({ connection: await nats.connect(), stream });
      await runRelay(again, updates, { size: 37, isUnsaved: (offset) => offset > offsetAt(index) });
    }
    await runRelay(natsRelay({ connection, stream }), updates);
    expect(await readStream(jsm, stream)).toEqual(updates);
  });

  it('publishes, and is read, with times that are longer than a timer supports', async () => {
    const { connection, stream } = await nats.target();
    const times = { timeoutMs: Infinity, ackWaitMs: 2 ** 33 };
    await runRelay(natsRelay({ connection, stream, ...times }), updates);
    const feed = natsFeed({ connection, stream, durable: 'reader', retry: { giveUpAfterMs: 0 }, ...times });
    expect(await handle(feed, updates.length)).toEqual(updates);
    // a timer that fires at once would have renewed the record many times
    const bucket = await (await jetstreamManager(connection)).streams.info(`KV_${stream}-cursors`);
    expect(bucket.state.last_seq).toBeLessThan(30);
  });

  it('publishes only what is new of updates that it gets again, in any batches', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, handler } = await createRelay({ connection, stream });
    for (const [begin, end] of [
      [0, 10],
      [0, 10],
      [5, 6],
      [3, 20],
      [19, 20],
      [0, 45],
      [45, 46],
    ]) {
      await handler(updates.slice(begin, end), undefined);
    }
    expect(await readStream(jsm, stream)).toEqual(updates.slice(0, 46));
  });

  it('shares the stream with another relay of the same feed', async () => {
    const stream = nats.newName();
    const { jsm, ...one } = await createRelay({ connection: await nats.connect(), stream });
    const two = natsRelay({ connection: await nats.connect(), stream });
    const three = natsRelay({ connection: await nats.connect(), stream });
    await Promise.all([
      runRelay(one, updates, { size: 7 }),
      runRelay(two, updates, { size: 11 }),
      runRelay(three, updates, { size: 1 }),
    ]);
    expect(await readStream(jsm, stream)).toEqual(updates);
  });

  it('continues from the saved end of the stream after retention has removed every message', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, ...relay } = await createRelay({ connection, stream });
    await runRelay(relay, updates.slice(0, 100));
    await jsm.streams.purge(stream);
    await runRelay(natsRelay({ connection: await nats.connect(), stream }), updates);
    expect(await readStream(jsm, stream)).toEqual(updates.slice(100));
  });

  it('fails after retention has removed messages beyond the saved end of the stream', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, ...relay } = await createRelay({ connection, stream });
    await runRelay(relay, updates, { isUnsaved: (offset) => offset > offsetAt(150) });
    await jsm.streams.purge(stream);
    await expect(
      failure(natsRelay({ connection: await nats.connect(), stream }).store.load('relay')),
    ).rejects.toMatchObject({
      _tag: 'RelayError',
      reason: 'end',
    });
  });

  it('moves back to the end of a stream that has lost its newest messages', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, ...relay } = await createRelay({ connection, stream });
    await runRelay(relay, updates.slice(0, 200));
    // the stream as an older copy of it would be
    await jsm.streams.delete(stream);
    await createRelay({ connection, stream });
    await publishAll(connection, stream, updates.slice(0, 150));
    // a relay that is running does not continue after the gap
    await expect(relay.handler(updates.slice(200, 210), undefined)).rejects.toMatchObject({ reason: 'end' });
    const again = natsRelay({ connection, stream });
    const lastUpdate = { offset: offsetAt(149), updateId: Object.assign({ updateId: '' }, updates[149]).updateId };
    expect(await firstValueFrom(from(again.store.load('relay')))).toEqual({ ...cursorAt(offsetAt(149)), lastUpdate });
    await runRelay(again, updates);
    expect(await readStream(jsm, stream)).toEqual(updates);
  });

  it('does not continue after the gap of such a stream before its first save either', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, ...relay } = await createRelay({ connection, stream });
    // the last updates are published, but not saved
    await runRelay(relay, updates.slice(0, 200), { isUnsaved: (offset) => offset > offsetAt(120) });
    const again = natsRelay({ connection, stream });
    const loaded = await firstValueFrom(from(again.store.load('relay')));
    expect(loaded).toMatchObject({ offset: offsetAt(199) });
    await jsm.streams.delete(stream);
    await createRelay({ connection, stream });
    await publishAll(connection, stream, updates.slice(0, 150));
    await expect(again.handler(updates.slice(200, 210), undefined)).rejects.toMatchObject({ reason: 'end' });
    expect(await readStream(jsm, stream)).toEqual(updates.slice(0, 150));
  });

  it.each(['', ' before its first save either'])('does not create a deleted stream again%s', async (when) => {
    const { connection, stream } = await nats.target();
    const { jsm, handler, store } = await createRelay({ connection, stream });
    if (when === '') await runRelay({ handler, store }, updates.slice(0, 20));
    else {
      await firstValueFrom(from(store.save('relay', cursorAt(0), undefined)));
      await handler(updates.slice(0, 20), undefined);
    }
    await jsm.streams.delete(stream);
    await expect(handler(updates.slice(20, 30), undefined)).rejects.toThrow();
    await expect(handler(updates.slice(20, 30), undefined)).rejects.toMatchObject({ reason: 'stream' });
    await expect(failure(store.load('relay'))).rejects.toMatchObject({ reason: 'stream' });
    await expect(jsm.streams.info(stream)).rejects.toThrow('stream not found');
  });

  it('is not loaded by a second run of the same relay before the first one has ended', async () => {
    const stream = nats.newName();
    const { handler, store } = natsRelay({ connection: await nats.connect(), stream });
    let loads = 0;
    const counted = {
      ...store,
      load: (name: string) => {
        loads += 1;
        return store.load(name);
      },
    };
    const run = () =>
      processFeed(feedOfPages([updates.slice(0, 5), updates.slice(5, 10)], NEVER), handler, {
        name: 'relay',
        store: counted,
        batch: { size: 5, withinMs: 0 },
      });
    const first = run().subscribe();
    const jsm = await jetstreamManager(await nats.connect());
    const published = () =>
      jsm.streams.info(stream).then(
        ({ state }) => state.last_seq,
        () => 0,
      );
    await until(async () => (await published()) === 5);
    const second = run().subscribe();
    await published();
    expect(loads).toBe(1);
    first.unsubscribe();
    await until(() => loads === 2);
    second.unsubscribe();
  });

  it('creates a stream with its limits, which remove the oldest messages and leave the relay what it needs', async () => {
    const { connection, stream } = await nats.target();
    const limits = { maxAgeMs: 3_600_000, maxBytes: 50_000_000, maxMessages: 10 };
    const relay = () => natsRelay({ connection, stream, limits });
    await runRelay(relay(), updates.slice(0, 30));
    await runRelay(relay(), updates.slice(0, 45));
    const jsm = await jetstreamManager(connection);
    const { config } = await jsm.streams.info(stream);
    expect(config).toMatchObject({ max_age: nanos(3_600_000), max_bytes: 50_000_000, max_msgs: 10 });
    expect(await readStream(jsm, stream)).toEqual(updates.slice(35, 45));
    for (const name of ['maxAgeMs', 'maxBytes', 'maxMessages'])
      expect(() => natsRelay({ connection, stream, limits: { [name]: 0 } })).toThrow(TypeError);
  });

  it('refuses a stream with other settings, and a stream of another processor', async () => {
    const connection = await nats.connect();
    for (const config of [{ subjects: ['a', 'b'] }, { retention: 'workqueue' as const }, { no_ack: true }]) {
      const stream = nats.newName();
      await (
        await jetstreamManager(connection)
      ).streams.add({ name: stream, subjects: [`${stream}.updates`], ...config });
      await expect(failure(natsRelay({ connection, stream }).store.load('relay'))).rejects.toMatchObject({
        reason: 'stream',
      });
    }
    const stream = nats.newName();
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, 1));
    await expect(failure(natsRelay({ connection, stream }).store.load('other'))).rejects.toThrow('processor relay');
  });

  it.each<[string, Omit<NatsRelayOptions, 'connection' | 'stream'>]>([
    ['replicas without a cluster', { replicas: 3 }],
    ['too many replicas', { replicas: 7 }],
    ['a subject of another stream', { subject: 'taken.updates' }],
    ['a subject that NATS does not allow', { subject: 'a..b' }],
    ['a limit that NATS does not allow', { limits: { maxAgeMs: 1 } }],
  ])('ends at once if NATS refuses its settings: %s', async (_, options) => {
    const { connection, stream } = await nats.target();
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: 'taken', subjects: ['taken.>'] });
    const relay = natsRelay({ connection, stream, ...options });
    const run = processFeed(feedOfPages([updates]), relay.handler, {
      name: 'relay',
      store: relay.store,
      batch: { size: 100, withinMs: 0 },
    });
    await expect(lastValueFrom(run)).rejects.toMatchObject({ _tag: 'RelayError', reason: 'server' });
    await streams.delete('taken');
  });

  it('refuses a record that it cannot read, and neither publishes nor creates a stream', async () => {
    const { connection, stream } = await nats.target();
    const jsm = await jetstreamManager(connection);
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, 50));
    const js = jetstream(connection);
    await js.publish(`$KV.${stream}-cursors.relay`, JSON.stringify({ name: 'relay', endOfLaterRelease: {} }));
    const isUnreadable = { _tag: 'CursorError', reason: 'unreadable' };
    const load = (name: string) => failure(natsRelay({ connection, stream }).store.load(name));
    for (const name of ['relay', 'another']) await expect(load(name)).rejects.toMatchObject(isUnreadable);
    await jsm.streams.delete(stream);
    await expect(load('relay')).rejects.toMatchObject(isUnreadable);
    await expect(jsm.streams.info(stream)).rejects.toThrow('stream not found');
    // an operator has deleted the record
    await (await new Kvm(js).open(`${stream}-cursors`)).delete('relay');
    expect(await load('relay')).toBeUndefined();
  });

  it('fails when another client publishes to the stream', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, handler } = await createRelay({ connection, stream });
    await handler(updates.slice(0, 5), undefined);
    connection.publish(`${stream}.updates`, 'hello');
    await expect(handler(updates.slice(5, 9), undefined)).rejects.toMatchObject({ reason: 'stream' });
    // none is stored after the message of the other client
    expect((await jsm.streams.info(stream)).state.last_seq).toBe(6);
  });
});

describeWithNats('a relay to a server with a small max_payload', () => {
  const nats = withNats({ maxPayload: 20_000 });

  it('reports which update is too large, and publishes nothing of its batch', async () => {
    const { connection, stream } = await nats.target();
    const { jsm, handler } = await createRelay({ connection, stream });
    const of = (offset: number, length: number): Work => ({
      _tag: 'UnknownUpdate',
      variant: 'Later',
      offset,
      value: { offset, text: 'x'.repeat(length) },
    });
    const batch = [of(1, 10), of(2, 30_000), of(3, 10)];
    const error: unknown = await Promise.resolve(handler(batch, undefined)).catch((reason: unknown) => reason);
    expect(error instanceof RelayError && error.message).toMatch(
      /offset 2 has 30\d\d\d bytes, but the server accepts at most 20000/,
    );
    expect(await readStream(jsm, stream)).toEqual([]);
    // a message of exactly the limit is sent, and one more byte is too large
    const alone: unknown = await Promise.resolve(handler([of(2, 30_000)], undefined)).catch(String);
    const over = Number(/has (\d+) bytes/.exec(String(alone))?.[1]) - 20_000;
    await expect(handler([of(2, 30_001 - over)], undefined)).rejects.toMatchObject({ reason: 'size' });
    await handler([of(2, 30_000 - over)], undefined);
    expect(offsets(await readStream(jsm, stream))).toEqual([2]);
  });
});

describeWithNats('a relay whose server is killed', () => {
  const nats = withNats();

  it('has published every update once and in order at the end', async () => {
    const all = await generateUpdates(effort(800, 2_000));
    const { connection, stream } = await nats.target();
    const relay = await createRelay({ connection, stream, timeoutMs: 500 }, { duplicate_window: nanos(100) });
    let crashes = 0;
    let batches = 0;
    const crash = async (): Promise<void> => {
      await nats.server.crash();
      await nats.server.start();
      crashes += 1;
    };
    let crashing = Promise.resolve();
    await runRelay(relay, all, {
      size: 40,
      before: () => {
        // during the publishing of this batch
        if ((batches += 1) % 8 === 0) crashing = crashing.then(crash);
      },
    });
    await crashing;
    expect(crashes).toBeGreaterThan(effort(1, 4, 1));
    const checking = await nats.connect();
    expect(offsets(await readStream(await jetstreamManager(checking), stream))).toEqual(offsets(all));
  });
});
