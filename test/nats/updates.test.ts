import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import fc from 'fast-check';
import {
  EMPTY,
  finalize,
  firstValueFrom,
  lastValueFrom,
  NEVER,
  take,
  throwError,
  toArray,
  type Observable,
} from 'rxjs';
import { isHandlerError, type Update, type Work } from '../../src/index.js';
import { natsRelay, natsUpdates, type NatsUpdatesOptions } from '../../src/nats/index.js';
import { savePlace, placeBucket, readPlace } from '../../src/nats/consumer.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { observe, offsets } from '../helpers/observe.js';
import { repeatIfStalled, until } from '../helpers/time.js';
import { generateUpdates, runRelay, createRelay, withNats } from './support.js';

let updates: readonly Work[] = [];

const isWork = (update: Update): update is Work => update._tag !== 'OffsetCheckpoint';
/** Updates with any content, at ascending offsets. */
const feeds: fc.Arbitrary<readonly Work[]> = fc
  .array(updateArbitrary.filter(isWork), { minLength: 1, maxLength: 20 })
  .map((feed) =>
    feed.map((update, index): Work => {
      const offset = index + 1;
      return update._tag === 'UnknownUpdate' ? { ...update, offset, value: { offset } } : { ...update, offset };
    }),
  );

describeWithNats('natsUpdates', () => {
  const nats = withNats();
  beforeAll(async () => {
    updates = await generateUpdates(300);
  });

  /** Relays updates to a new stream, and returns the options to read it. */
  const relayUpdates = async (count: number): Promise<NatsUpdatesOptions> => {
    const connection = await nats.connect();
    const stream = nats.newName();
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, count));
    return { connection, stream, durable: 'reader' };
  };
  const read = (options: NatsUpdatesOptions, count: number): Promise<readonly Work[]> =>
    lastValueFrom(natsUpdates(options).pipe(take(count), toArray()));
  const error = (source$: Observable<unknown>): Promise<unknown> =>
    lastValueFrom(source$).then(
      () => undefined,
      (reason: unknown) => reason,
    );

  it('emits the updates that a relay has published, whatever their content', async () => {
    await fc.assert(
      fc.asyncProperty(feeds, async (feed) => {
        const connection = await nats.connect();
        const stream = nats.newName();
        await natsRelay({ connection, stream }).handler(feed, undefined);
        const seen = await lastValueFrom(
          natsUpdates({ connection, stream, durable: 'reader' }).pipe(take(feed.length), toArray()),
        );
        expect(seen).toEqual(feed);
      }),
      { numRuns: effort(10, 25) },
    );
  });

  it('continues where the last subscription ended, and waits for later updates', async () => {
    const options = await relayUpdates(100);
    expect(await read(options, 30)).toEqual(updates.slice(0, 30));
    expect(await read(options, 30)).toEqual(updates.slice(30, 60));
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 40);
    await runRelay(natsRelay(options), updates);
    await until(() => seen.values.length === 240);
    seen.subscription.unsubscribe();
    expect(seen.values).toEqual(updates.slice(60));
  });

  it('requests nothing before it is subscribed, and begins where the options say', async () => {
    const options = await relayUpdates(100);
    const { consumers, streams } = await jetstreamManager(options.connection);
    void natsUpdates(options);
    expect((await streams.info(options.stream)).state.consumer_count).toBe(0);
    const fresh = observe(natsUpdates({ ...options, durable: 'fresh', begin: 'new' }));
    await until(async () => (await streams.info(options.stream)).state.consumer_count === 1);
    await streams.purge(options.stream, { seq: 51 });
    expect(await read({ ...options, durable: 'late', begin: 'earliest' }, 10)).toEqual(updates.slice(50, 60));
    expect(await error(natsUpdates({ ...options, durable: 'all' }))).toMatchObject({ reason: 'gap' });
    await runRelay(natsRelay(options), updates.slice(0, 101));
    await until(() => fresh.values.length === 1);
    fresh.subscription.unsubscribe();
    expect(fresh.values).toEqual(updates.slice(100, 101));
    expect((await consumers.info(options.stream, 'late')).config.max_ack_pending).toBe(1);
  });

  it('waits for the handler of an update before it emits the update and calls the next', async () => {
    const options = await relayUpdates(20);
    const log: string[] = [];
    const handler = (update: Work): unknown => {
      log.push(`begin ${update.offset}`);
      const end = (): void => {
        log.push(`end ${update.offset}`);
      };
      if (update.offset % 3 === 0) return EMPTY.pipe(finalize(end));
      if (update.offset % 3 === 1) return wait(1).then(end);
      end();
      return 'done';
    };
    await lastValueFrom(
      natsUpdates(options, handler).pipe(
        take(20),
        finalize(() => log.push('over')),
      ),
    );
    const all = offsets(updates.slice(0, 20)).flatMap((offset) => [`begin ${offset}`, `end ${offset}`]);
    expect(log).toEqual([...all, 'over']);
  });

  it('retries a handler, then errors, and delivers the update to the next subscriber first', async () => {
    const options = await relayUpdates(5);
    const handlerRetry = { baseDelayMs: 1, giveUpAfterMs: 60 };
    const third = updates[2];
    let calls = 0;
    const handler = (update: Work): unknown => {
      if (update.offset !== third?.offset) return undefined;
      calls += 1;
      return calls % 2 === 0 ? Promise.reject(new Error('no')) : throwError(() => new Error('no'));
    };
    const seen = observe(natsUpdates({ ...options, handlerRetry }, handler));
    await until(() => seen.error !== undefined);
    expect(seen.values).toEqual(updates.slice(0, 2));
    expect(isHandlerError(seen.error) && seen.error.attempts).toBe(calls);
    expect(calls).toBeGreaterThan(1);
    expect(seen.error).toMatchObject({ offset: third?.offset, cause: new Error('no') });
    expect(await read(options, 3)).toEqual(updates.slice(2, 5));
  });

  it('releases an update at once when it is unsubscribed while the handler runs', async () => {
    const options = await relayUpdates(2);
    let isStopped = false;
    let calls = 0;
    const handler = (): Observable<never> => {
      calls += 1;
      return NEVER.pipe(finalize(() => (isStopped = true)));
    };
    const seen = observe(natsUpdates(options, handler));
    await until(() => calls === 1);
    seen.subscription.unsubscribe();
    expect(isStopped).toBe(true);
    expect(await read(options, 2)).toEqual(updates.slice(0, 2));
  });

  it('keeps an update for as long as its handler runs', async () => {
    const ackWaitMs = 600;
    const handled = await repeatIfStalled(ackWaitMs / 2, async () => {
      const options = { ...(await relayUpdates(3)), ackWaitMs };
      const seen: number[] = [];
      const handler = ({ offset }: Work): Promise<void> => wait(seen.push(offset) === 1 ? 3 * ackWaitMs : 1);
      const both = [observe(natsUpdates(options, handler)), observe(natsUpdates(options, handler))];
      await until(() => both.reduce((sum, { values }) => sum + values.length, 0) === 3);
      for (const { subscription } of both) subscription.unsubscribe();
      return seen;
    });
    expect(handled).toEqual(offsets(updates.slice(0, 3)));
  });

  it('delivers each update to one of several replicas, in order', async () => {
    const options = await relayUpdates(300);
    const { consumers } = await jetstreamManager(options.connection);
    const handledOffsets: number[] = [];
    let running = 0;
    const handler = async ({ offset }: Work): Promise<void> => {
      running += 1;
      expect(running).toBe(1);
      // the first replica waits until another one has subscribed
      if (handledOffsets.length === 0)
        await until(async () => (await consumers.info(options.stream, options.durable)).num_waiting > 0);
      await Promise.resolve();
      handledOffsets.push(offset);
      running -= 1;
    };
    const replicas = await Promise.all(
      [1, 2, 3].map(async () => observe(natsUpdates({ ...options, connection: await nats.connect() }, handler))),
    );
    await until(() => replicas.reduce((sum, { values }) => sum + values.length, 0) === 300);
    for (const { subscription, error: failed } of replicas) {
      expect(failed).toBeUndefined();
      subscription.unsubscribe();
    }
    expect(handledOffsets).toEqual(offsets(updates));
    expect(replicas.filter(({ values }) => values.length > 0).length).toBeGreaterThan(1);
  });

  it('keeps the order when a replica becomes silent', async () => {
    const options = { ...(await relayUpdates(50)), ackWaitMs: 300 };
    const silent = await nats.connect();
    const order: number[] = [];
    // its connection is closed while it handles an update
    const dying = observe(
      natsUpdates({ ...options, connection: silent }, ({ offset }) => {
        order.push(offset);
        return order.length === 10 ? NEVER : EMPTY;
      }),
    );
    await until(() => order.length === 10);
    const other = observe(
      natsUpdates(options, ({ offset }) => {
        order.push(offset);
      }),
    );
    await silent.close();
    await until(() => other.values.length === 41);
    dying.subscription.unsubscribe();
    const expected = offsets(updates.slice(0, 50));
    expect(order).toEqual([...expected.slice(0, 10), ...expected.slice(9)]);
    other.subscription.unsubscribe();
  });

  it('errors if messages were removed before they were read, and not if they were read before', async () => {
    const options = await relayUpdates(100);
    await read(options, 30);
    const { streams } = await jetstreamManager(options.connection);
    await streams.purge(options.stream, { seq: 31 });
    expect(await read(options, 10)).toEqual(updates.slice(30, 40));
    await streams.purge(options.stream, { seq: 61 });
    const failure = await error(natsUpdates(options));
    expect(failure).toMatchObject({ _tag: 'RelayError', reason: 'gap' });
    expect(String(failure)).toContain('messages 41 to 60');
    // also in the next subscription
    expect(await error(natsUpdates(options))).toMatchObject({ reason: 'gap' });
  });

  it('errors if a message in the middle of the stream was removed', async () => {
    const options = await relayUpdates(20);
    const { streams } = await jetstreamManager(options.connection);
    await streams.deleteMessage(options.stream, 7);
    const seen = observe(natsUpdates(options));
    await until(() => seen.error !== undefined);
    expect(seen.values).toEqual(updates.slice(0, 6));
    expect(seen.error).toMatchObject({ reason: 'gap' });
  });

  it('errors if the durable was deleted, and continues at its place when it is subscribed again', async () => {
    const options = await relayUpdates(10);
    const { consumers } = await jetstreamManager(options.connection);
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 10);
    await consumers.delete(options.stream, 'reader');
    await until(() => seen.error !== undefined);
    expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'durable' });
    await runRelay(natsRelay(options), updates.slice(0, 20));
    expect(await read(options, 10)).toEqual(updates.slice(10, 20));
    expect(await read({ ...options, durable: 'another' }, 1)).toEqual(updates.slice(0, 1));
  });

  it('errors if the stream is missing or deleted', async () => {
    const options = await relayUpdates(10);
    expect(await error(natsUpdates({ ...options, stream: 'none' }))).toMatchObject({ reason: 'stream' });
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 10);
    await (await jetstreamManager(options.connection)).streams.delete(options.stream);
    await until(() => seen.error !== undefined);
    expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'durable' });
  });

  it('refuses a consumer with other settings, invalid names, and times that are not positive', async () => {
    const options = await relayUpdates(1);
    const { consumers } = await jetstreamManager(options.connection);
    await consumers.add(options.stream, { durable_name: 'reader', ack_policy: 'explicit' });
    expect(await error(natsUpdates(options))).toMatchObject({ reason: 'durable' });
    expect(() => natsUpdates({ ...options, ackWaitMs: 0 })).toThrow(TypeError);
    for (const durable of ['billing.v1', 'my service', '', '*'])
      expect(() => natsUpdates({ ...options, durable })).toThrow(/durable must be a name/);
    expect(() => natsUpdates({ ...options, handlerRetry: { giveUpAfterMs: -1 } })).toThrow(TypeError);
  });

  it('errors at a message that is no update, or out of order, and emits nothing after it', async () => {
    for (const [body, tag] of [
      ['{"update":{"Transaction":{"value":{"offset":9}}}}', 'DecodeError'],
      ['hello', 'DecodeError'],
      ['{"update":{"OffsetCheckpoint":{"value":{"offset":9,"synchronizerTimes":[]}}}}', 'DecodeError'],
      ['{"update":{"Later":{"value":{"offset":1}}}}', 'OrderError'],
    ]) {
      const options = await relayUpdates(5);
      await jetstream(options.connection).publish(`${options.stream}.updates`, body);
      const seen = observe(natsUpdates(options));
      await until(() => seen.error !== undefined);
      expect(seen.values).toEqual(updates.slice(0, 5));
      expect(seen.error).toHaveProperty('_tag', tag);
      expect(String(seen.error)).toContain(tag === 'DecodeError' ? `${options.stream}/6` : 'Offset: 1');
    }
  });

  it('does not move back to the place of a replica that was silent', async () => {
    const { connection, stream } = await relayUpdates(1);
    const places = placeBucket(jetstream(connection), stream, () => Promise.resolve(1));
    const first = await savePlace(places, 'reader', { sequence: 1, offset: 1 }, 0);
    const other = await savePlace(places, 'reader', { sequence: 2, offset: 2 }, first.revision);
    const late = await savePlace(places, 'reader', { sequence: 1, offset: 1 }, first.revision);
    expect(late).toEqual(other);
    const next = await savePlace(places, 'reader', { sequence: 3, offset: 3 }, first.revision);
    expect(await readPlace(places, 'reader')).toEqual(next);
  });

  it('errors when the connection is closed', async () => {
    const options = await relayUpdates(1);
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 1);
    await options.connection.close();
    await until(() => seen.error !== undefined);
    expect(seen.error).toMatchObject({ reason: 'connection' });
  });
});

describeWithNats('natsUpdates while its server is killed', () => {
  const nats = withNats();

  it('emits every update, in order, while a relay publishes', async () => {
    const all = await generateUpdates(effort(600, 1_500));
    const connection = await nats.connect();
    const stream = nats.newName();
    const relay = await createRelay({ connection, stream, timeoutMs: 500 });
    const options = { connection: await nats.connect(), stream, durable: 'reader', timeoutMs: 500, ackWaitMs: 1000 };
    const handledOffsets: number[] = [];
    const seen = observe(
      natsUpdates(options, ({ offset }) => {
        handledOffsets.push(offset);
      }),
    );
    const publishing = runRelay(relay, all, { size: 20 });
    for (const share of [0.1, 0.4, 0.7]) {
      await until(() => seen.values.length > share * all.length || seen.error !== undefined);
      await nats.server.crash();
      await nats.server.start();
    }
    await publishing;
    await until(() => seen.values.length === all.length || seen.error !== undefined, 60_000);
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(offsets(all));
    // within one subscription, the handler gets each update once, too
    expect(handledOffsets).toEqual(offsets(all));
    seen.subscription.unsubscribe();
  });
});

describeWithNats('the relay and its reader', () => {
  const nats = withNats();

  it('send few messages for each update', async () => {
    const all = await generateUpdates(effort(2_000, 10_000));
    const connection = await nats.connect();
    const reading = await nats.connect();
    const stream = nats.newName();
    const begin = performance.now();
    await runRelay(natsRelay({ connection, stream }), all);
    const published = performance.now();
    const readCount = effort(500, 2_000);
    const read$ = natsUpdates({ connection: reading, stream, durable: 'reader' }, () => undefined);
    await firstValueFrom(read$.pipe(take(readCount), toArray()));
    const rates = [all.length / (published - begin), readCount / (performance.now() - published)];
    console.log(`updates relayed and read per second: ${rates.map((rate) => Math.round(rate * 1000)).join(', ')}`);
    // on any machine: one message to publish an update, and three to fetch it, save the place and acknowledge it
    expect(connection.stats().outMsgs / all.length).toBeLessThan(1.1);
    expect(reading.stats().outMsgs / readCount).toBeLessThan(3.1);
  });
});
