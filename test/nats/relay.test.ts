import { beforeAll, expect, it } from '@jest/globals';
import { headers, nanos } from '@nats-io/nats-core';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { firstValueFrom, from, lastValueFrom, type ObservableInput } from 'rxjs';
import { UpdateElement, type Work } from '../../src/index.js';
import { isRelayError, natsRelay } from '../../src/nats/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { offsets } from '../helpers/observe.js';
import { until } from '../helpers/servers.js';
import { cursorAt, generated, processed, relayTo, stored, withNats } from './support.js';

let updates: readonly Work[] = [];
const failure = (input: ObservableInput<unknown>): Promise<unknown> => lastValueFrom(from(input));
const offsetAt = (index: number): number => updates[index]?.offset ?? 0;

describeWithNats('a relay', () => {
  const nats = withNats();
  beforeAll(async () => {
    updates = await generated(300);
  });

  it('publishes what it is handed, once and in order, with headers, into a stream that it makes', async () => {
    const connection = await nats.connect();
    const stream = nats.name();
    const unknown: Work = {
      _tag: 'UnknownUpdate',
      variant: 'Later',
      offset: offsetAt(299) + 1,
      value: { a: 1, offset: offsetAt(299) + 1 },
    };
    await processed(natsRelay({ connection, stream }), [...updates, unknown]);
    const jsm = await jetstreamManager(connection);
    expect(await stored(jsm, stream)).toEqual([...updates, unknown]);
    const [first, last] = [1, 301].map((seq) => jsm.streams.getMessage(stream, { seq }));
    expect((await first)?.subject).toBe(`${stream}.updates`);
    expect((await first)?.header.get('Canton-Offset')).toBe(String(offsetAt(0)));
    expect(updates[0]).toHaveProperty('updateId', (await first)?.header.get('Nats-Msg-Id'));
    expect((await last)?.header.get('Nats-Msg-Id')).toBe(`offset-${unknown.offset}`);
  });

  it('has nothing to load at first, then what was saved last', async () => {
    const connection = await nats.connect();
    const { store } = natsRelay({ connection, stream: nats.name() });
    expect(await firstValueFrom(from(store.load('relay')))).toBeUndefined();
    await firstValueFrom(from(store.save('relay', cursorAt(7), undefined)));
    expect(await firstValueFrom(from(store.load('relay')))).toEqual(cursorAt(7));
  });

  it('repeats nothing when it starts again, long after the window for duplicates', async () => {
    const stream = nats.name();
    const connection = await nats.connect();
    const { jsm, ...relay } = await relayTo({ connection, stream }, { duplicate_window: nanos(100) });
    // four times it ends behind a publish and before the save
    await processed(relay, updates, { size: 10, isUnsaved: (offset) => offset > offsetAt(50) });
    for (const index of [120, 180, 260]) {
      const { state } = await jsm.streams.info(stream);
      await until(() => Date.now() - Date.parse(state.last_ts) > 300);
      const again = natsRelay({ connection: await nats.connect(), stream });
      await processed(again, updates, { size: 37, isUnsaved: (offset) => offset > offsetAt(index) });
    }
    await processed(natsRelay({ connection, stream }), updates);
    expect(await stored(jsm, stream)).toEqual(updates);
  });

  it('handed any of it once more, in any pieces, adds what is new', async () => {
    const stream = nats.name();
    const { jsm, handler } = await relayTo({ connection: await nats.connect(), stream });
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
    expect(await stored(jsm, stream)).toEqual(updates.slice(0, 46));
  });

  it('shares the stream with another relay of the same feed', async () => {
    const stream = nats.name();
    const { jsm, ...one } = await relayTo({ connection: await nats.connect(), stream });
    const two = natsRelay({ connection: await nats.connect(), stream });
    const three = natsRelay({ connection: await nats.connect(), stream });
    await Promise.all([
      processed(one, updates, { size: 7 }),
      processed(two, updates, { size: 11 }),
      processed(three, updates, { size: 1 }),
    ]);
    expect(await stored(jsm, stream)).toEqual(updates);
  });

  it('goes on by the offset that it noted where retention has removed every message', async () => {
    const stream = nats.name();
    const { jsm, ...relay } = await relayTo({ connection: await nats.connect(), stream });
    await processed(relay, updates.slice(0, 100));
    await jsm.streams.purge(stream);
    await processed(natsRelay({ connection: await nats.connect(), stream }), updates);
    expect(await stored(jsm, stream)).toEqual(updates.slice(100));
  });

  it('stops where retention has removed what it had not noted', async () => {
    const stream = nats.name();
    const { jsm, ...relay } = await relayTo({ connection: await nats.connect(), stream });
    await processed(relay, updates, { isUnsaved: (offset) => offset > offsetAt(150) });
    await jsm.streams.purge(stream);
    await expect(
      failure(natsRelay({ connection: await nats.connect(), stream }).store.load('relay')),
    ).rejects.toMatchObject({
      _tag: 'RelayError',
      reason: 'end',
    });
  });

  it('goes back to what the stream has, where that has lost its newest messages', async () => {
    const stream = nats.name();
    const connection = await nats.connect();
    const { jsm, ...relay } = await relayTo({ connection, stream });
    await processed(relay, updates.slice(0, 200));
    // the same stream as an older copy of it would be
    await jsm.streams.delete(stream);
    await relayTo({ connection, stream });
    for (const update of updates.slice(0, 150)) {
      const header = headers();
      header.set('Canton-Offset', String(update.offset));
      header.set('Nats-Msg-Id', Object.assign({ updateId: '' }, update).updateId);
      const body = JSON.stringify(UpdateElement.encode(update));
      await jetstream(connection).publish(`${stream}.updates`, body, { headers: header });
    }
    // one that runs does not go on behind the hole
    await expect(relay.handler(updates.slice(200, 210), undefined)).rejects.toMatchObject({ reason: 'end' });
    const again = natsRelay({ connection, stream });
    const lastUpdate = { offset: offsetAt(149), updateId: Object.assign({ updateId: '' }, updates[149]).updateId };
    expect(await firstValueFrom(from(again.store.load('relay')))).toEqual({ ...cursorAt(offsetAt(149)), lastUpdate });
    await processed(again, updates);
    expect(await stored(jsm, stream)).toEqual(updates);
  });

  it('does not make a stream anew that was deleted', async () => {
    const stream = nats.name();
    const { jsm, ...relay } = await relayTo({ connection: await nats.connect(), stream });
    await processed(relay, updates.slice(0, 20));
    await jsm.streams.delete(stream);
    await expect(relay.handler(updates.slice(20, 30), undefined)).rejects.toThrow();
    await expect(failure(relay.store.load('relay'))).rejects.toMatchObject({ reason: 'stream' });
    await expect(jsm.streams.info(stream)).rejects.toThrow('stream not found');
  });

  it('refuses a stream of another kind, and one of another processor', async () => {
    const connection = await nats.connect();
    for (const config of [{ subjects: ['a', 'b'] }, { retention: 'workqueue' as const }, { no_ack: true }]) {
      const stream = nats.name();
      await (
        await jetstreamManager(connection)
      ).streams.add({ name: stream, subjects: [`${stream}.updates`], ...config });
      await expect(failure(natsRelay({ connection, stream }).store.load('relay'))).rejects.toMatchObject({
        reason: 'stream',
      });
    }
    const stream = nats.name();
    await processed(natsRelay({ connection, stream }), updates.slice(0, 1));
    await expect(failure(natsRelay({ connection, stream }).store.load('other'))).rejects.toThrow('processor relay');
  });

  it('stops where somebody else publishes', async () => {
    const stream = nats.name();
    const connection = await nats.connect();
    const { jsm, handler } = await relayTo({ connection, stream });
    await handler(updates.slice(0, 5), undefined);
    connection.publish(`${stream}.updates`, 'hello');
    await expect(handler(updates.slice(5, 9), undefined)).rejects.toMatchObject({ reason: 'stream' });
    // none behind what stands where the first of them should
    expect((await jsm.streams.info(stream)).state.last_seq).toBe(6);
  });
});

describeWithNats('a relay to a server that takes little', () => {
  const nats = withNats({ maxPayload: 20_000 });

  it('says which update is too large, and publishes nothing of its batch', async () => {
    const stream = nats.name();
    const { jsm, handler } = await relayTo({ connection: await nats.connect(), stream });
    const of = (offset: number, length: number): Work => ({
      _tag: 'UnknownUpdate',
      variant: 'Later',
      offset,
      value: { offset, text: 'x'.repeat(length) },
    });
    const batch = [of(1, 10), of(2, 30_000), of(3, 10)];
    const error: unknown = await Promise.resolve(handler(batch, undefined)).catch((reason: unknown) => reason);
    expect(isRelayError(error) && error.message).toMatch(
      /offset 2 has 30\d\d\d bytes, of which the server takes 20000/,
    );
    expect(await stored(jsm, stream)).toEqual([]);
    // exactly as much as the server takes is sent, and one more is not
    const alone: unknown = await Promise.resolve(handler([of(2, 30_000)], undefined)).catch(String);
    const over = Number(/has (\d+) bytes/.exec(String(alone))?.[1]) - 20_000;
    await expect(handler([of(2, 30_001 - over)], undefined)).rejects.toMatchObject({ reason: 'size' });
    await handler([of(2, 30_000 - over)], undefined);
    expect(offsets(await stored(jsm, stream))).toEqual([2]);
  });
});

describeWithNats('a relay whose server is killed', () => {
  const nats = withNats();

  it('has published everything once, in order, when it is through', async () => {
    const all = await generated(2000);
    const stream = nats.name();
    const connection = await nats.connect();
    const relay = await relayTo({ connection, stream, timeoutMs: 500 }, { duplicate_window: nanos(100) });
    let crashes = 0;
    let batches = 0;
    const crash = async (): Promise<void> => {
      await nats.server.crash();
      await nats.server.start();
      crashes += 1;
    };
    let crashing = Promise.resolve();
    await processed(relay, all, {
      size: 40,
      before: () => {
        // while this batch is being published
        if ((batches += 1) % 8 === 0) crashing = crashing.then(crash);
      },
    });
    await crashing;
    expect(crashes).toBeGreaterThan(4);
    const checking = await nats.connect();
    expect(offsets(await stored(await jetstreamManager(checking), stream))).toEqual(offsets(all));
  });
});
