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
import { notePlace, placesOf, readPlace } from '../../src/nats/consumer.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { attentively } from '../helpers/attentively.js';
import { observe, offsets } from '../helpers/observe.js';
import { until } from '../helpers/servers.js';
import { generated, processed, relayTo, withNats } from './support.js';

let updates: readonly Work[] = [];

const isWork = (update: Update): update is Work => update._tag !== 'OffsetCheckpoint';
/** Whatever an update may contain, at ascending offsets. */
const feeds: fc.Arbitrary<readonly Work[]> = fc
  .array(updateArbitrary.filter(isWork), { minLength: 1, maxLength: 20 })
  .map((feed) =>
    feed.map((update, index): Work => {
      const offset = index + 1;
      return update._tag === 'UnknownUpdate' ? { ...update, offset, value: { offset } } : { ...update, offset };
    }),
  );

describeWithNats('a reader', () => {
  const nats = withNats();
  beforeAll(async () => {
    updates = await generated(300);
  });

  /** A stream with some of the updates, and how it is read. */
  const relayed = async (count: number): Promise<NatsUpdatesOptions> => {
    const connection = await nats.connect();
    const stream = nats.name();
    await processed(natsRelay({ connection, stream }), updates.slice(0, count));
    return { connection, stream, durable: 'reader' };
  };
  const read = (options: NatsUpdatesOptions, count: number): Promise<readonly Work[]> =>
    lastValueFrom(natsUpdates(options).pipe(take(count), toArray()));
  const error = (source$: Observable<unknown>): Promise<unknown> =>
    lastValueFrom(source$).then(
      () => undefined,
      (reason: unknown) => reason,
    );

  it('emits what a relay published, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(feeds, async (feed) => {
        const connection = await nats.connect();
        const stream = nats.name();
        await natsRelay({ connection, stream }).handler(feed, undefined);
        const seen = await lastValueFrom(
          natsUpdates({ connection, stream, durable: 'reader' }).pipe(take(feed.length), toArray()),
        );
        expect(seen).toEqual(feed);
      }),
      { numRuns: 25 },
    );
  });

  it('goes on where the subscription before ended, and waits for what is published later', async () => {
    const options = await relayed(100);
    expect(await read(options, 30)).toEqual(updates.slice(0, 30));
    expect(await read(options, 30)).toEqual(updates.slice(30, 60));
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 40);
    await processed(natsRelay(options), updates);
    await until(() => seen.values.length === 240);
    seen.subscription.unsubscribe();
    expect(seen.values).toEqual(updates.slice(60));
  });

  it('asks nothing before it is subscribed, and begins where it is told', async () => {
    const options = await relayed(100);
    const { consumers, streams } = await jetstreamManager(options.connection);
    void natsUpdates(options);
    expect((await streams.info(options.stream)).state.consumer_count).toBe(0);
    const fresh = observe(natsUpdates({ ...options, durable: 'fresh', begin: 'new' }));
    await until(async () => (await streams.info(options.stream)).state.consumer_count === 1);
    await streams.purge(options.stream, { seq: 51 });
    expect(await read({ ...options, durable: 'late', begin: 'earliest' }, 10)).toEqual(updates.slice(50, 60));
    expect(await error(natsUpdates({ ...options, durable: 'all' }))).toMatchObject({ reason: 'gap' });
    await processed(natsRelay(options), updates.slice(0, 101));
    await until(() => fresh.values.length === 1);
    fresh.subscription.unsubscribe();
    expect(fresh.values).toEqual(updates.slice(100, 101));
    expect((await consumers.info(options.stream, 'late')).config.max_ack_pending).toBe(1);
  });

  it('hands each update to the handler and waits for it, before the next and before it emits', async () => {
    const options = await relayed(20);
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

  it('tries a handler again, then errors, and the update comes first to the next subscriber', async () => {
    const options = await relayed(5);
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

  it('gives back at once what an unsubscribed handler has not done', async () => {
    const options = await relayed(2);
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

  it('keeps what its handler takes long for', async () => {
    const ackWaitMs = 600;
    const handled = await attentively(ackWaitMs / 2, async () => {
      const options = { ...(await relayed(3)), ackWaitMs };
      const seen: number[] = [];
      const handler = ({ offset }: Work): Promise<void> => wait(seen.push(offset) === 1 ? 3 * ackWaitMs : 1);
      const both = [observe(natsUpdates(options, handler)), observe(natsUpdates(options, handler))];
      await until(() => both.reduce((sum, { values }) => sum + values.length, 0) === 3);
      for (const { subscription } of both) subscription.unsubscribe();
      return seen;
    });
    expect(handled).toEqual(offsets(updates.slice(0, 3)));
  });

  it('is shared by replicas: each update goes to one of them, in order', async () => {
    const options = await relayed(300);
    const { consumers } = await jetstreamManager(options.connection);
    const handledOffsets: number[] = [];
    let running = 0;
    const handler = async ({ offset }: Work): Promise<void> => {
      running += 1;
      expect(running).toBe(1);
      // the first to be there does not do all before the others are
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

  it('keeps the order when one replica falls silent', async () => {
    const options = { ...(await relayed(50)), ackWaitMs: 300 };
    const silent = await nats.connect();
    const order: number[] = [];
    // its connection is cut, with an update in its hands
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

  it('errors where messages were removed that nobody has read, and not where they were read', async () => {
    const options = await relayed(100);
    await read(options, 30);
    const { streams } = await jetstreamManager(options.connection);
    await streams.purge(options.stream, { seq: 31 });
    expect(await read(options, 10)).toEqual(updates.slice(30, 40));
    await streams.purge(options.stream, { seq: 61 });
    const failure = await error(natsUpdates(options));
    expect(failure).toMatchObject({ _tag: 'RelayError', reason: 'gap' });
    expect(String(failure)).toContain('from 41 on, before 61');
    // it stays so
    expect(await error(natsUpdates(options))).toMatchObject({ reason: 'gap' });
  });

  it('sees a message that was removed from the midst, while it runs and when it starts', async () => {
    const options = await relayed(20);
    const { streams } = await jetstreamManager(options.connection);
    await streams.deleteMessage(options.stream, 7);
    const seen = observe(natsUpdates(options));
    await until(() => seen.error !== undefined);
    expect(seen.values).toEqual(updates.slice(0, 6));
    expect(seen.error).toMatchObject({ reason: 'gap' });
  });

  it('errors where the durable was deleted, and goes on where it stood when it is subscribed again', async () => {
    const options = await relayed(10);
    const { consumers } = await jetstreamManager(options.connection);
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 10);
    await consumers.delete(options.stream, 'reader');
    await until(() => seen.error !== undefined);
    expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'durable' });
    await processed(natsRelay(options), updates.slice(0, 20));
    expect(await read(options, 10)).toEqual(updates.slice(10, 20));
    expect(await read({ ...options, durable: 'another' }, 1)).toEqual(updates.slice(0, 1));
  });

  it('errors where the stream is missing or deleted', async () => {
    const options = await relayed(10);
    expect(await error(natsUpdates({ ...options, stream: 'none' }))).toMatchObject({ reason: 'stream' });
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 10);
    await (await jetstreamManager(options.connection)).streams.delete(options.stream);
    await until(() => seen.error !== undefined);
    expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'durable' });
  });

  it('refuses a consumer of another kind, and times that make no sense', async () => {
    const options = await relayed(1);
    const { consumers } = await jetstreamManager(options.connection);
    await consumers.add(options.stream, { durable_name: 'reader', ack_policy: 'explicit' });
    expect(await error(natsUpdates(options))).toMatchObject({ reason: 'durable' });
    expect(() => natsUpdates({ ...options, ackWaitMs: 0 })).toThrow(TypeError);
    for (const durable of ['billing.v1', 'my service', '', '*'])
      expect(() => natsUpdates({ ...options, durable })).toThrow(/durable must be a name/);
    expect(() => natsUpdates({ ...options, handlerRetry: { giveUpAfterMs: -1 } })).toThrow(TypeError);
  });

  it('errors at what is no update, or out of order, and goes no further', async () => {
    for (const [body, tag] of [
      ['{"update":{"Transaction":{"value":{"offset":9}}}}', 'DecodeError'],
      ['hello', 'DecodeError'],
      ['{"update":{"OffsetCheckpoint":{"value":{"offset":9,"synchronizerTimes":[]}}}}', 'DecodeError'],
      ['{"update":{"Later":{"value":{"offset":1}}}}', 'OrderError'],
    ]) {
      const options = await relayed(5);
      await jetstream(options.connection).publish(`${options.stream}.updates`, body);
      const seen = observe(natsUpdates(options));
      await until(() => seen.error !== undefined);
      expect(seen.values).toEqual(updates.slice(0, 5));
      expect(seen.error).toHaveProperty('_tag', tag);
      expect(String(seen.error)).toContain(tag === 'DecodeError' ? `${options.stream}/6` : 'Offset: 1');
    }
  });

  it('does not go back to the place of a replica that fell silent', async () => {
    const { connection, stream } = await relayed(1);
    const places = placesOf(jetstream(connection), stream, () => Promise.resolve(1));
    const first = await notePlace(places, 'reader', { sequence: 1, offset: 1 }, 0);
    const other = await notePlace(places, 'reader', { sequence: 2, offset: 2 }, first.revision);
    const late = await notePlace(places, 'reader', { sequence: 1, offset: 1 }, first.revision);
    expect(late).toEqual(other);
    const next = await notePlace(places, 'reader', { sequence: 3, offset: 3 }, first.revision);
    expect(await readPlace(places, 'reader')).toEqual(next);
  });

  it('errors when the connection is closed', async () => {
    const options = await relayed(1);
    const seen = observe(natsUpdates(options));
    await until(() => seen.values.length === 1);
    await options.connection.close();
    await until(() => seen.error !== undefined);
    expect(seen.error).toMatchObject({ reason: 'connection' });
  });
});

describeWithNats('a reader whose server is killed', () => {
  const nats = withNats();

  it('hands on everything, in order, while a relay publishes', async () => {
    const all = await generated(1500);
    const connection = await nats.connect();
    const stream = nats.name();
    const relay = await relayTo({ connection, stream, timeoutMs: 500 });
    const options = { connection: await nats.connect(), stream, durable: 'reader', timeoutMs: 500, ackWaitMs: 1000 };
    const handledOffsets: number[] = [];
    const seen = observe(
      natsUpdates(options, ({ offset }) => {
        handledOffsets.push(offset);
      }),
    );
    const publishing = processed(relay, all, { size: 20 });
    for (const share of [0.1, 0.4, 0.7]) {
      await until(() => seen.values.length > share * all.length || seen.error !== undefined);
      await nats.server.crash();
      await nats.server.start();
    }
    await publishing;
    await until(() => seen.values.length === all.length || seen.error !== undefined, 60_000);
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(offsets(all));
    // within a subscription also the handler sees each once
    expect(handledOffsets).toEqual(offsets(all));
    seen.subscription.unsubscribe();
  });
});

describeWithNats('throughput', () => {
  const nats = withNats();

  it('is far from where it would hurt', async () => {
    const all = await generated(10_000);
    const connection = await nats.connect();
    const reading = await nats.connect();
    const stream = nats.name();
    const begin = performance.now();
    await processed(natsRelay({ connection, stream }), all);
    const published = performance.now();
    const read$ = natsUpdates({ connection: reading, stream, durable: 'reader' }, () => undefined);
    await firstValueFrom(read$.pipe(take(2_000), toArray()));
    const rates = [all.length / (published - begin), 2_000 / (performance.now() - published)];
    console.log(`relayed and read, a second: ${rates.map((rate) => Math.round(rate * 1000)).join(', ')}`);
    // what that comes from, on any machine: a message to publish an update, and three to ask for it, note and acknowledge it
    expect(connection.stats().outMsgs / all.length).toBeLessThan(1.1);
    expect(reading.stats().outMsgs / 2_000).toBeLessThan(3.1);
  });
});
