import { beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { takeWhile } from 'rxjs';
import { acsDelta, createLedger } from '../../src/index.js';
import { natsRelay, type NatsRelay } from '../../src/nats/index.js';
import { processFeed, updatesFeed, type UpdatesFeedOptions, type Work } from '../../src/process/index.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { createRelay, errorOf, generateUpdates, idsOf, publishAll, readStream, runRelay, withNats } from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(60);
});

/** Runs a relay of a sandbox until it has caught up, and returns its error. */
const relayOf = (
  sandbox: Sandbox,
  { handler, store }: NatsRelay,
  parties: 'any' | readonly string[] = 'any',
  options: UpdatesFeedOptions = {},
): Promise<unknown> => {
  const ledger = createLedger({ baseUrl: sandbox.url });
  const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties }) }, options);
  const batch = { size: 10, withinMs: 0 };
  return errorOf(
    processFeed(feed, handler, { name: 'relay', store, batch }).pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)),
  );
};

describeWithNats('a relay that gets an update which is new, although the stream has got past its offset', () => {
  const nats = withNats();
  const isRefused = { _tag: 'CursorError', reason: 'ledger', processor: 'relay' };

  it('ends with a CursorError at a participant with lower offsets, also when it is started again (G54)', async () => {
    const { connection, stream } = await nats.target();
    const original = await startSandbox();
    original.generate(40, { seed: 1 });
    const replica = await startSandbox({ replicaOf: original, replicaSeed: 1 });
    try {
      const [former, next] = original.ledgerEnd > replica.ledgerEnd ? [original, replica] : [replica, original];
      const options = { onOtherNode: 'relocate' } as const;
      expect(await relayOf(former, natsRelay({ connection, stream }), 'any', options)).toBeUndefined();
      const published = idsOf(await readStream(await jetstreamManager(connection), stream));
      original.generate(6, { seed: 2 });
      expect(next.ledgerEnd).toBeLessThan(former.ledgerEnd);
      const run = () => relayOf(next, natsRelay({ connection, stream }), 'any', options);
      const errors = [await run(), await run()];
      expect(errors).toMatchObject([isRefused, isRefused]);
      expect(idsOf(await readStream(await jetstreamManager(connection), stream))).toEqual(published);
    } finally {
      await replica.close();
      await original.close();
    }
  });

  it('ends with a CursorError at the past of a party that was added', async () => {
    const { connection, stream } = await nats.target();
    const relay = (parties: readonly string[]) =>
      relayOf(sandbox, natsRelay({ connection, stream }), parties, { onSelectionChange: 'continue', backfill: true });
    const sandbox = await startSandbox();
    try {
      sandbox.generate(40, { seed: 1 });
      const [first = '', ...others] = sandbox.parties;
      expect(await relay([first])).toBeUndefined();
      expect(await relay([first, ...others])).toMatchObject(isRefused);
    } finally {
      await sandbox.close();
    }
  });

  it('compares what it gets again with what retention has left, and the last one with the end of the stream', async () => {
    const { connection, stream } = await nats.target();
    const jsm = await jetstreamManager(connection);
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, 40));
    await jsm.streams.purge(stream, { seq: 21 });
    const other = (update: Work | undefined): Work =>
      ({ ...update, updateId: `${String(idsOf(update ? [update] : [])[0])}ff` }) as Work;
    const handle = (given: readonly (Work | undefined)[]) =>
      natsRelay({ connection, stream }).handler(
        given.filter((update) => update !== undefined),
        undefined,
      );
    await handle([updates[5], updates[25], updates[39]]);
    await handle([updates[39]]);
    await expect(handle([other(updates[25])])).rejects.toMatchObject({ _tag: 'CursorError' });
    await expect(handle([updates[25], other(updates[30]), updates[28], updates[39]])).rejects.toMatchObject({
      _tag: 'CursorError',
    });
    // removed, so that only the end shows what was published
    await expect(handle([other(updates[5]), updates[40]])).rejects.toMatchObject({ _tag: 'CursorError' });
    expect(await readStream(jsm, stream)).toEqual(updates.slice(20, 40));
    await handle([updates[5], updates[39], updates[40]]);
    expect(await readStream(jsm, stream)).toEqual(updates.slice(20, 41));
  });
});

describeWithNats('a relay whose cursor is not at the end of its stream', () => {
  const nats = withNats();

  it('publishes again what the stream has lost', async () => {
    const { connection, stream } = await nats.target();
    const sandbox = await startSandbox();
    try {
      sandbox.generate(60, { seed: 1 });
      expect(await relayOf(sandbox, natsRelay({ connection, stream }))).toBeUndefined();
      const jsm = await jetstreamManager(connection);
      const published = await readStream(jsm, stream);
      // the stream as an older copy of it would be
      await jsm.streams.delete(stream);
      await createRelay({ connection, stream });
      await publishAll(connection, stream, published.slice(0, 20));
      expect(await relayOf(sandbox, natsRelay({ connection, stream }))).toBeUndefined();
      expect(idsOf(await readStream(jsm, stream))).toEqual(idsOf(published));
    } finally {
      await sandbox.close();
    }
  });

  it('publishes nothing twice of a participant that was restored before a cursor was saved', async () => {
    const { connection, stream } = await nats.target();
    // its last update is at its offset again, and others that came before that come after it now
    const sandbox = await startSandbox();
    try {
      sandbox.generate(60, { seed: 1 });
      const relay = await createRelay({ connection, stream });
      const save: NatsRelay['store']['save'] = (name, cursor, tx) =>
        cursor.offset > 30 ? [] : relay.store.save(name, cursor, tx);
      expect(await relayOf(sandbox, { ...relay, store: { ...relay.store, save } })).toBeUndefined();
      const jsm = await jetstreamManager(connection);
      const published = await readStream(jsm, stream);
      sandbox.restore(10, { readAgain: true, offsets: 'other' });
      expect(await relayOf(sandbox, natsRelay({ connection, stream }))).toBeUndefined();
      expect(idsOf(await readStream(jsm, stream))).toEqual(idsOf(published));
    } finally {
      await sandbox.close();
    }
  });
});
