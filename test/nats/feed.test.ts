import { beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { headers } from '@nats-io/nats-core';
import fc from 'fast-check';
import { filter, firstValueFrom, Subject } from 'rxjs';
import type { Diagnostic, Update } from '../../src/index.js';
import { natsFeed, type NatsFeedOptions, natsRelay } from '../../src/nats/index.js';
import {
  handleParked,
  type HandlerResult,
  isReady,
  memoryStore,
  processFeed,
  type ProcessOptions,
  type Work,
} from '../../src/process/index.js';
import { updateArbitrary } from '../helpers/arbitraries/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { observe, offsets } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import {
  createRelay,
  errorOf,
  generateUpdates,
  handle,
  idsOf,
  publishAll,
  run,
  runRelay,
  withNats,
} from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(300);
});

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

/** Updates at the same offsets with other IDs. */
const othersThan = (work: readonly Work[]): Work[] =>
  work.map((update) => ('updateId' in update ? { ...update, updateId: `12${update.offset}` } : update));

/** Deletes a stream, and creates it again with other updates at the same offsets. */
async function replaceStream({ connection, stream }: NatsFeedOptions): Promise<void> {
  const { streams } = await jetstreamManager(connection);
  await streams.delete(stream);
  await streams.add({ name: stream, subjects: [`${stream}.updates`] });
  await publishAll(connection, stream, othersThan(updates.slice(0, 40)));
}

/** Who keeps the cursor of a processor: the server under the name of a durable, or a store. */
type Keeper = 'durable' | 'store';

describeWithNats('natsFeed', () => {
  const nats = withNats();

  /** Relays updates to a new stream, and returns the options to process it. */
  const relayUpdates = async (
    count: number,
    keeper: Keeper = 'durable',
  ): Promise<{ readonly source: NatsFeedOptions; readonly options: ProcessOptions }> => {
    const { connection, stream } = await nats.target();
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, count));
    return keeper === 'durable'
      ? { source: { connection, stream, durable: 'reader' }, options: {} }
      : { source: { connection, stream }, options: { name: 'reader', store: memoryStore() } };
  };

  it('hands on the updates that a relay has published, whatever their content', async () => {
    await fc.assert(
      fc.asyncProperty(feeds, async (feed) => {
        const { connection, stream } = await nats.target();
        await natsRelay({ connection, stream }).handler(feed, undefined);
        expect(await handle(natsFeed({ connection, stream, durable: 'reader' }), feed.length)).toEqual(feed);
      }),
      { numRuns: effort(10, 25) },
    );
  });

  describe.each<Keeper>(['durable', 'store'])('with a cursor in a %s', (keeper) => {
    it('continues where the last run ended, and waits for later updates', async () => {
      const { source, options } = await relayUpdates(100, keeper);
      expect(await handle(natsFeed(source), 30, options)).toEqual(updates.slice(0, 30));
      expect(await handle(natsFeed({ ...source, maxPageSize: 7 }), 30, options)).toEqual(updates.slice(30, 60));
      const seen = run(natsFeed(source), options);
      await until(() => seen.values.at(-1)?.isCaughtUp === true);
      await runRelay(natsRelay(source), updates);
      await until(() => seen.values.at(-1)?.offset === updates.at(-1)?.offset);
      seen.subscription.unsubscribe();
      expect(seen.handled).toEqual(updates.slice(60));
    });

    it('sends nothing before it is processed, and begins where the options say', async () => {
      const { source } = await relayUpdates(100, keeper);
      const fresh = (name: string): [NatsFeedOptions, ProcessOptions] =>
        keeper === 'durable' ? [{ ...source, durable: name }, {}] : [source, { name, store: memoryStore() }];
      const { streams } = await jetstreamManager(source.connection);
      void processFeed(natsFeed(source), () => undefined, fresh('none')[1]);
      expect((await streams.info(source.stream)).state.consumer_count).toBe(0);
      const [from, options] = fresh('fresh');
      const later = run(natsFeed({ ...from, begin: 'new' }), options);
      await until(() => later.values.at(-1)?.isCaughtUp === true);
      await streams.purge(source.stream, { seq: 51 });
      const [late, lateOptions] = fresh('late');
      expect(await handle(natsFeed({ ...late, begin: 'earliest' }), 10, lateOptions)).toEqual(updates.slice(50, 60));
      const [all, allOptions] = fresh('all');
      expect(await errorOf(processFeed(natsFeed(all), () => undefined, allOptions))).toMatchObject({ reason: 'gap' });
      await runRelay(natsRelay(source), updates.slice(0, 101));
      await until(() => later.handled.length === 1);
      later.subscription.unsubscribe();
      expect(later.handled).toEqual(updates.slice(100, 101));
    });

    it('skips nothing if the stream is created again while a handler is busy (G55)', async () => {
      const { source, options } = await relayUpdates(12, keeper);
      const gate = new Subject<void>();
      const handler = ({ offset }: Work): HandlerResult => (offset === updates[0]?.offset ? gate : undefined);
      const seen = run(natsFeed({ ...source, maxPageSize: 6, timeoutMs: 500 }), options, handler);
      await until(() => seen.handled.length === 1);
      const { streams } = await jetstreamManager(source.connection);
      await streams.delete(source.stream);
      await streams.delete(`KV_${source.stream}-cursors`);
      await runRelay(natsRelay(source), updates.slice(100, 130));
      gate.complete();
      // a durable whose cursor was deleted, too, begins again
      if (keeper === 'durable') await until(() => seen.handled.at(-1)?.offset === updates[129]?.offset);
      else await until(() => seen.error !== undefined);
      seen.subscription.unsubscribe();
      const later = seen.handled.filter(({ offset }) => offset >= (updates[100]?.offset ?? 0));
      expect(later).toEqual(keeper === 'durable' ? updates.slice(100, 130) : []);
    });

    it('hands on nothing of a stream that was created again with other updates at the same offsets (G55)', async () => {
      const { source, options } = await relayUpdates(20, keeper);
      const gate = new Subject<void>();
      const handler = ({ offset }: Work): HandlerResult => (offset === updates[0]?.offset ? gate : undefined);
      const seen = run(natsFeed({ ...source, maxPageSize: 5, timeoutMs: 500 }), options, handler);
      await until(() => seen.handled.length === 1);
      await replaceStream(source);
      gate.complete();
      await until(() => seen.error !== undefined || seen.values.at(-1)?.isCaughtUp === true);
      seen.subscription.unsubscribe();
      expect(idsOf(updates.slice(0, 20))).toEqual(expect.arrayContaining(idsOf(seen.handled)));
      expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'stream' });
    });

    it('hands on nothing of such a stream either if it has read nothing since it was started', async () => {
      const { source, options } = await relayUpdates(20, keeper);
      await handle(natsFeed(source), 20, options);
      const seen = run(natsFeed({ ...source, timeoutMs: 500 }), options);
      await until(() => seen.values.at(-1)?.isCaughtUp === true);
      await replaceStream(source);
      await until(() => seen.error !== undefined || seen.handled.length > 0);
      seen.subscription.unsubscribe();
      expect(seen.handled).toEqual([]);
      expect(seen.error).toMatchObject({ _tag: 'RelayError' });
    });

    it('errors if messages were removed before they were read, and not if they were read before (G58)', async () => {
      const { source, options } = await relayUpdates(100, keeper);
      await handle(natsFeed(source), 30, options);
      const { streams } = await jetstreamManager(source.connection);
      await streams.purge(source.stream, { seq: 31 });
      expect(await handle(natsFeed(source), 10, options)).toEqual(updates.slice(30, 40));
      await streams.purge(source.stream, { seq: 61 });
      const failure = await errorOf(processFeed(natsFeed(source), () => undefined, options));
      expect(failure).toMatchObject({ _tag: 'RelayError', reason: 'gap' });
      expect(String(failure)).toContain('messages 41 to 60');
      // also in the next run
      expect(await errorOf(processFeed(natsFeed(source), () => undefined, options))).toMatchObject({ reason: 'gap' });
    });

    it('errors if the only message that was not read was removed, although nothing arrives that would show it', async () => {
      const { source, options } = await relayUpdates(31, keeper);
      await handle(natsFeed(source), 30, options);
      await (await jetstreamManager(source.connection)).streams.purge(source.stream);
      const seen = run(natsFeed(source), options);
      await until(() => seen.error !== undefined || seen.values.at(-1)?.isCaughtUp === true);
      seen.subscription.unsubscribe();
      expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'gap' });
      expect(String(seen.error)).toContain('messages 31 to 31');
    });

    it('errors if a message in the middle of the stream was removed, after the updates before it', async () => {
      const { source, options } = await relayUpdates(20, keeper);
      await (await jetstreamManager(source.connection)).streams.deleteMessage(source.stream, 7);
      const seen = run(natsFeed(source), options);
      await until(() => seen.error !== undefined);
      expect(seen.handled).toEqual(updates.slice(0, 6));
      expect(seen.error).toMatchObject({ reason: 'gap' });
      expect(seen.values.at(-1)).toMatchObject({ offset: updates[5]?.offset });
    });

    it('errors if the stream is missing, and if it was deleted', async () => {
      const { source, options } = await relayUpdates(10, keeper);
      const none = { ...source, stream: 'none' };
      expect(await errorOf(processFeed(natsFeed(none), () => undefined, options))).toMatchObject({ reason: 'stream' });
      const seen = run(natsFeed({ ...source, timeoutMs: 500 }), options);
      await until(() => seen.values.at(-1)?.isCaughtUp === true);
      await (await jetstreamManager(source.connection)).streams.delete(source.stream);
      await until(() => seen.error !== undefined);
      expect(seen.error).toMatchObject({ _tag: 'RelayError', reason: 'stream' });
    });

    it('errors with words of its own if the server refuses a request', async () => {
      const { connection, stream } = await nats.target();
      const relay = await createRelay({ connection, stream }, { max_consumers: 1 });
      await runRelay(relay, updates.slice(0, 3));
      await relay.jsm.consumers.add(stream, { durable_name: 'other' });
      const source = keeper === 'durable' ? { connection, stream, durable: 'reader' } : { connection, stream };
      const options = keeper === 'durable' ? {} : { name: 'reader', store: memoryStore() };
      const ends: Diagnostic[] = [];
      const feed = natsFeed(source);
      feed.diagnostics$.pipe(filter(({ _tag }) => _tag === 'FeedEnded')).subscribe((end) => ends.push(end));
      const error = await errorOf(processFeed(feed, () => undefined, options));
      expect(error).toMatchObject({ _tag: 'RelayError', reason: 'server', endsProcessor: true });
      expect(String(error)).toContain('NATS refuses a request: maximum consumers limit reached');
      expect(ends).toMatchObject([{ error }]);
    });

    it('errors when the connection is closed', async () => {
      const { source, options } = await relayUpdates(1, keeper);
      const seen = run(natsFeed(source), options);
      await until(() => seen.values.at(-1)?.isCaughtUp === true);
      await source.connection.close();
      await until(() => seen.error !== undefined);
      expect(seen.error).toMatchObject({ reason: 'connection' });
    });

    it('errors at a message that is no update, or out of order, and hands on nothing after it', async () => {
      for (const [body, tag] of [
        ['{"update":{"Transaction":{"value":{"offset":9}}}}', 'DecodeError'],
        ['hello', 'DecodeError'],
        ['{"update":{"OffsetCheckpoint":{"value":{"offset":9,"synchronizerTimes":[]}}}}', 'DecodeError'],
        ['{"update":{"Later":{"value":{"offset":1}}}}', 'OrderError'],
      ]) {
        const { source, options } = await relayUpdates(5, keeper);
        await jetstream(source.connection).publish(`${source.stream}.updates`, body);
        const seen = run(natsFeed(source), options);
        await until(() => seen.error !== undefined);
        expect(seen.handled).toEqual(updates.slice(0, 5));
        expect(seen.error).toHaveProperty('_tag', tag);
        expect(String(seen.error)).toContain(tag === 'DecodeError' ? `${source.stream}/6` : 'Offset: 1');
      }
    });

    it('reads a message again that was delivered to another client', async () => {
      const { source, options } = await relayUpdates(40, keeper);
      const js = jetstream(source.connection);
      const seen = run(natsFeed({ ...source, maxPageSize: 5 }), options, async ({ offset }) => {
        if (offset !== updates[4]?.offset) return;
        const { consumers } = await js.jetstreamManager(false);
        const [info] = await consumers.list(source.stream).next();
        const consumer = await js.consumers.get(source.stream, info?.name ?? '');
        for (let count = 0; count < 3; count += 1) await consumer.next();
      });
      await until(() => seen.values.at(-1)?.isCaughtUp === true || seen.error !== undefined);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.handled)).toEqual(offsets(updates.slice(0, 40)));
      seen.subscription.unsubscribe();
    });

    it('ends its request for messages when it is stopped', async () => {
      const { source, options } = await relayUpdates(3, keeper);
      const { consumers } = await jetstreamManager(source.connection);
      const waiting = async (): Promise<number | undefined> =>
        (await consumers.list(source.stream).next())[0]?.num_waiting;
      // by itself it would end after ten minutes
      const seen = run(natsFeed({ ...source, timeoutMs: 600_000 }), options);
      await until(async () => (await waiting()) === 1);
      seen.subscription.unsubscribe();
      await until(async () => (await waiting()) !== 1);
    });
  });

  it('skips and parks updates that cannot be handled, and messages that do not decode', async () => {
    const { source } = await relayUpdates(5);
    const js = jetstream(source.connection);
    const fields = headers();
    const last = updates[4]?.offset ?? 0;
    fields.set('Canton-Offset', String(last + 1));
    await js.publish(`${source.stream}.updates`, 'hello', { headers: fields });
    const store = memoryStore();
    const fail = ({ offset }: Work): void => {
      if (offset === updates[1]?.offset) throw new Error('poison');
    };
    const handlerRetry = { giveUpAfterMs: 0 };
    const parking = { name: 'parking', store, onHandlerFailure: 'park', handlerRetry } as const;
    for (const options of [{ onHandlerFailure: 'skip', handlerRetry } as const, parking]) {
      const seen = run(natsFeed(source), options, fail);
      await until(() => seen.values.at(-1)?.isCaughtUp === true);
      expect(seen.values.at(-1)).toMatchObject({ offset: last + 1 });
      expect(offsets(seen.handled)).toEqual(offsets(updates.slice(0, 5)));
      seen.subscription.unsubscribe();
    }
    const unparked = observe(handleParked(store, 'parking', () => undefined));
    await until(() => unparked.completed);
    expect(unparked.values).toMatchObject([
      { parked: { offset: updates[1]?.offset, reason: 'poison' }, isHandled: true },
      { parked: { offset: last + 1 }, isHandled: false },
    ]);
    // a message without an offset ends it nevertheless
    await js.publish(`${source.stream}.updates`, 'hello');
    expect(await errorOf(processFeed(natsFeed(source), () => undefined, parking))).toHaveProperty(
      '_tag',
      'DecodeError',
    );
  });

  it('begins again where its options say if it has neither a durable nor a store, or the cursor was deleted', async () => {
    const { source } = await relayUpdates(10);
    const rebuilt = { ...source, durable: undefined };
    expect(await handle(natsFeed(rebuilt), 5)).toEqual(updates.slice(0, 5));
    expect(await handle(natsFeed(rebuilt), 5)).toEqual(updates.slice(0, 5));
    expect(await handle(natsFeed(source), 5)).toEqual(updates.slice(0, 5));
    const bucket = await new Kvm(jetstream(source.connection)).open(`${source.stream}-cursors`);
    await bucket.delete('reader.reader');
    expect(await handle(natsFeed(source), 5)).toEqual(updates.slice(0, 5));
    expect(await handle(natsFeed(source), 5)).toEqual(updates.slice(5, 10));
  });

  it('refuses a record of something else, invalid names and times', async () => {
    const { source } = await relayUpdates(1);
    await handle(natsFeed(source), 1);
    const bucket = await new Kvm(jetstream(source.connection)).open(`${source.stream}-cursors`);
    await bucket.put('reader.reader', '[]');
    expect(await errorOf(processFeed(natsFeed(source), () => undefined))).toMatchObject({ reason: 'unreadable' });
    for (const name of ['billing.v1', 'my service', '', '*']) {
      expect(() => natsFeed({ ...source, durable: name })).toThrow(/durable must be a name/);
      expect(() => natsFeed({ ...source, stream: name })).toThrow(/stream must be a name/);
    }
    for (const wrong of [{ ackWaitMs: 0 }, { timeoutMs: -1 }, { maxPageSize: 1.5 }, { retry: { baseDelayMs: 0 } }])
      expect(() => natsFeed({ ...source, ...wrong })).toThrow(TypeError);
    expect(() => natsFeed({ ...source, begin: 'latest' as 'new' })).toThrow(/begin must be/);
  });

  it('refuses a cursor of another stream, also of one that was created again', async () => {
    const { source, options } = await relayUpdates(20, 'store');
    await handle(natsFeed(source), 10, options);
    const { streams } = await jetstreamManager(source.connection);
    const again = async (from: number): Promise<unknown> => {
      await streams.delete(source.stream);
      // that of the relay, if it has one
      await streams.delete(`KV_${source.stream}-cursors`).catch(() => false);
      const { handler } = await createRelay({ connection: source.connection, stream: source.stream });
      await handler(updates.slice(from, 20), undefined);
      return errorOf(processFeed(natsFeed(source), () => undefined, options));
    };
    const error = await again(1);
    expect(error).toMatchObject({ _tag: 'RelayError', reason: 'stream' });
    // shorter than what was read
    expect(await again(15)).toMatchObject({ _tag: 'RelayError', reason: 'stream' });
    expect(String(error)).toContain('message 10 is not the one that was read: the stream was created again. To read');
    const other = { ...source, stream: `${source.stream}b` };
    await runRelay(natsRelay(other), updates.slice(0, 20));
    expect(await errorOf(processFeed(natsFeed(other), () => undefined, options))).toMatchObject({
      reason: 'selection',
    });
  });

  it.each<Keeper>(['durable', 'store'])(
    'continues by a %s after a stream that had lost its newest messages, once the relay has published them again',
    async (keeper) => {
      const { source, options } = await relayUpdates(30, keeper);
      const { connection, stream } = source;
      expect(await handle(natsFeed(source), 30, options)).toHaveLength(30);
      const { streams } = await jetstreamManager(connection);
      // the stream as an older copy of it would be
      await streams.delete(stream);
      await streams.add({ name: stream, subjects: [`${stream}.updates`] });
      await publishAll(connection, stream, updates.slice(0, 20));
      const error = await errorOf(processFeed(natsFeed(source), () => undefined, options));
      expect(error).toMatchObject({ _tag: 'RelayError', reason: 'stream' });
      expect(String(error)).toContain(
        'the stream ends with message 20, before message 30, which was read: it was created again, or has lost its newest messages. If its relay publishes them again, start again after that. Otherwise, to read it from its beginning, use',
      );
      await runRelay(natsRelay(source), updates.slice(0, 31));
      expect(await handle(natsFeed(source), 1, options)).toEqual(updates.slice(30, 31));
    },
  );

  it('has a status by the end of the stream', async () => {
    const { connection, stream } = await nats.target();
    const feed = natsFeed({ connection, stream, durable: 'reader' });
    await createRelay({ connection, stream });
    expect(await firstValueFrom(feed.end$)).toBe(0);
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, 10));
    expect(await firstValueFrom(feed.end$)).toBe(updates[9]?.offset);
    const processor = processFeed(feed, () => undefined);
    const status = observe(processor.status$);
    const run = processor.subscribe();
    await until(() =>
      status.values.some((each) => isReady(each) && each.state === 'caughtUp' && each.lagOffsets === 0),
    );
    expect(status.values.at(-1)).toMatchObject({ offset: updates[9]?.offset, handled: 10 });
    run.unsubscribe();
    status.subscription.unsubscribe();
  });

  it('reports its work, for each run by a number', async () => {
    const { source, options } = await relayUpdates(20, 'store');
    const feed = natsFeed({ ...source, maxPageSize: 10 });
    const reports: Diagnostic[] = [];
    const failed: Diagnostic[] = [];
    const reporting = feed.diagnostics$.subscribe((report) => {
      if (report._tag === 'HandlerFailed') failed.push(report);
      // the others are of the processor, not of the feed
      else if (!['RoleChanged', 'CommitSaved', 'WorkCaughtUp'].includes(report._tag)) reports.push(report);
    });
    let failures = 0;
    const first = run(feed, { ...options, handlerRetry: { baseDelayMs: 1 } }, () => {
      if ((failures += 1) === 1) throw new Error('no');
    });
    await until(() => first.values.at(-1)?.isCaughtUp === true);
    const one = updates[0]?.offset;
    expect(reports).toMatchObject([
      { _tag: 'FeedStarted', beginExclusive: 0, feed: 1 },
      { _tag: 'PageReceived', path: source.stream, count: 10, first: one, last: updates[9]?.offset },
      { _tag: 'PageReceived', count: 10 },
      { _tag: 'CaughtUp', cursor: updates[19]?.offset },
    ]);
    expect(failed).toMatchObject([{ offset: one, failures: 1 }]);
    await natsRelay(source).handler(updates.slice(20, 60), undefined);
    await until(() => first.values.at(-1)?.offset === updates[59]?.offset);
    first.subscription.unsubscribe();
    await until(() => reports.at(-1)?._tag === 'FeedEnded');
    expect(reports.slice(4).map(({ _tag }) => _tag)).toContain('FellBehind');
    expect(reports.at(-1)).toMatchObject({ how: 'unsubscribed', feed: 1 });
    await source.connection.close();
    await errorOf(processFeed(feed, () => undefined, options));
    expect(reports.at(-1)).toMatchObject({ _tag: 'FeedEnded', how: 'failed', feed: 2 });
    reporting.unsubscribe();
  });
});

describeWithNats('natsFeed with large messages', () => {
  const nats = withNats({ maxPayload: 12_000_000 });

  it('reads those that a page cannot have', async () => {
    const { connection, stream } = await nats.target();
    const value = (offset: number, length: number): Work => ({
      _tag: 'UnknownUpdate',
      variant: 'Later',
      offset,
      value: { offset, text: 'x'.repeat(length) },
    });
    const sizes = [10, 9_000_000, 10, 10, 9_000_000, 5_000_000, 5_000_000, 10];
    const all = sizes.map((length, index) => value(index + 1, length));
    for (const update of all) await natsRelay({ connection, stream }).handler([update], undefined);
    const seen = await handle(natsFeed({ connection, stream, durable: 'reader' }), all.length);
    expect(offsets(seen)).toEqual(offsets(all));
  });
});
