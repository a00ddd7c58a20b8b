import { expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import fc from 'fast-check';
import { filter, firstValueFrom, from, lastValueFrom, takeWhile, throwError, toArray } from 'rxjs';
import { acsDelta, createLedger, CursorError, LedgerResetError } from '../../src/index.js';
import { natsRelay, type NatsRelay } from '../../src/nats/index.js';
import { processFeed, updatesFeed, type Work } from '../../src/process/index.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { offsets } from '../helpers/observe.js';
import { errorOf, feedOfPages, generateUpdates, readStream, runRelay, withNats } from './support.js';

/** The IDs of updates. */
const idsOf = (work: readonly Work[]): unknown[] => work.map((update) => 'updateId' in update && update.updateId);

describeWithNats('a relay whose ledger was replaced', () => {
  const nats = withNats();

  /** Runs a relay of a ledger until it has caught up, and returns its error. */
  const relayLedger = (sandbox: Sandbox, { handler, store }: NatsRelay): Promise<unknown> => {
    const ledger = createLedger({ baseUrl: sandbox.url });
    const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
    const options = { name: 'relay', store, batch: { size: 10, withinMs: 0 } };
    return errorOf(processFeed(feed, handler, options).pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)));
  };
  const readLedger = (sandbox: Sandbox): Promise<readonly Work[]> => {
    const updateFormat = acsDelta({ parties: 'any' });
    const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat };
    const updates$ = createLedger({ baseUrl: sandbox.url }).updates(request);
    return lastValueFrom(
      updates$.pipe(
        filter((update) => update._tag !== 'OffsetCheckpoint'),
        toArray(),
      ),
    );
  };
  /** A relay that ends after its last publish and before it saves any cursor after an offset. */
  const unsavedAfter = (
    offset: number,
    { handler, store }: NatsRelay,
    noteSaved?: (offset: number) => void,
  ): NatsRelay => ({
    handler,
    store: {
      ...store,
      save: (name, cursor) => {
        if (cursor.offset > offset) return [];
        noteSaved?.(cursor.offset);
        return store.save(name, cursor);
      },
    },
  });
  const withSandbox = async (run: (sandbox: Sandbox) => Promise<void>): Promise<void> => {
    const sandbox = await startSandbox();
    try {
      await run(sandbox);
    } finally {
      await sandbox.close();
    }
  };

  it('publishes nothing after a restart before which it had published more than it had saved (G54)', () =>
    withSandbox(async (sandbox) => {
      const connection = await nats.connect();
      const stream = nats.newName();
      const jsm = await jetstreamManager(connection);
      const middle = sandbox.generate(20, { seed: 1 });
      sandbox.generate(30, { seed: 2 });
      expect(await relayLedger(sandbox, unsavedAfter(middle, natsRelay({ connection, stream })))).toBeUndefined();
      const published = await readStream(jsm, stream);
      // the same participant and the same first updates, and another history since
      sandbox.restore(middle);
      sandbox.generate(60, { seed: 3 });
      for (const restart of [1, 2]) {
        const error = await relayLedger(sandbox, natsRelay({ connection, stream }));
        expect([restart, error]).toMatchObject([restart, { _tag: 'CursorError', reason: 'ledger' }]);
        expect(offsets(await readStream(jsm, stream))).toEqual(offsets(published));
      }
    }));

  it('publishes a prefix of one ledger, wherever it ended and whatever was restored before it starts again', async () => {
    const cases = fc.record({
      first: fc.integer({ min: 2, max: 40 }),
      saved: fc.nat({ max: 40 }),
      restored: fc.nat({ max: 60 }),
      grown: fc.integer({ min: 1, max: 20 }),
      keepsCursor: fc.boolean(),
    });
    const connection = await nats.connect();
    const jsm = await jetstreamManager(connection);
    await fc.assert(
      fc.asyncProperty(cases, ({ first, saved, restored, grown, keepsCursor }) =>
        withSandbox(async (sandbox) => {
          const stream = nats.newName();
          const end = sandbox.generate(first, { seed: 1 });
          let cursor = 0;
          const noteSaved = (offset: number): void => void (cursor = offset);
          await relayLedger(sandbox, unsavedAfter(saved, natsRelay({ connection, stream }), noteSaved));
          const published = await readStream(jsm, stream);
          const last = published.at(-1)?.offset ?? 0;
          if (!keepsCursor) await jsm.streams.delete(`KV_${stream}-cursors`);
          sandbox.restore(Math.min(restored, end));
          // past the last offset of the stream
          do sandbox.generate(grown, { seed: 2 + sandbox.ledgerEnd });
          while (sandbox.ledgerEnd <= end);
          const error = await relayLedger(sandbox, natsRelay({ connection, stream }));
          const after = idsOf(await readStream(jsm, stream));
          const ledger = await readLedger(sandbox);
          // the cursor may be after the last update: where it says that there are none, others may have come
          const isRewritten = keepsCursor && ledger.some(({ offset }) => offset > last && offset <= cursor);
          const isOther = restored < last || isRewritten;
          // without its cursor, the relay compares when it has something to publish
          const mustEnd = isOther && (keepsCursor || ledger.some(({ offset }) => offset > last));
          if (mustEnd) expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
          if (!isOther) expect(error).toBeUndefined();
          expect(after).toEqual(idsOf(isOther ? published : ledger));
        }),
      ),
      { numRuns: effort(15, 100) },
    );
  });

  it('publishes nothing after a restart without its saved cursor', () =>
    withSandbox(async (sandbox) => {
      const connection = await nats.connect();
      const stream = nats.newName();
      const jsm = await jetstreamManager(connection);
      sandbox.generate(30, { seed: 1 });
      expect(await relayLedger(sandbox, natsRelay({ connection, stream }))).toBeUndefined();
      const published = await readStream(jsm, stream);
      await jsm.streams.delete(`KV_${stream}-cursors`);
      sandbox.restore(0);
      sandbox.generate(60, { seed: 2 });
      expect(await relayLedger(sandbox, natsRelay({ connection, stream }))).toMatchObject({
        _tag: 'CursorError',
        reason: 'ledger',
        processor: 'relay',
      });
      expect(await readStream(jsm, stream)).toEqual(published);
    }));

  it('continues on the same ledger, wherever its cursor was saved, and without one', () =>
    withSandbox(async (sandbox) => {
      const connection = await nats.connect();
      const stream = nats.newName();
      const jsm = await jetstreamManager(connection);
      const first = sandbox.generate(30);
      for (const saved of [first - 25, first, first + 20, undefined]) {
        if (saved === undefined) await jsm.streams.delete(`KV_${stream}-cursors`);
        expect(await relayLedger(sandbox, unsavedAfter(saved ?? 0, natsRelay({ connection, stream })))).toBeUndefined();
        sandbox.generate(20);
      }
      expect(await relayLedger(sandbox, natsRelay({ connection, stream }))).toBeUndefined();
      const published = offsets(await readStream(jsm, stream));
      expect(new Set(published).size).toBe(published.length);
      expect(published.at(-1)).toBe(sandbox.ledgerEnd);
    }));

  it('does not continue after the last update of the stream if it receives another one in its place', async () => {
    const updates = await generateUpdates(20);
    const connection = await nats.connect();
    const stream = nats.newName();
    await runRelay(natsRelay({ connection, stream }), updates.slice(0, 10));
    const last = updates[9];
    const { handler } = natsRelay({ connection, stream });
    const other: readonly Work[] = updates.map((update) =>
      update === last && 'updateId' in update ? { ...update, updateId: '1220ff' } : update,
    );
    await expect(handler(other, undefined)).rejects.toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(await readStream(await jetstreamManager(connection), stream)).toEqual(updates.slice(0, 10));
  });

  it('verifies the last update of the stream, also if the saved cursor is older or all messages were removed', async () => {
    const updates = await generateUpdates(20);
    const connection = await nats.connect();
    const stream = nats.newName();
    await runRelay(natsRelay({ connection, stream }), updates, {
      size: 5,
      isUnsaved: (offset) => offset === updates[14]?.offset,
    });
    const load = () => firstValueFrom(from(natsRelay({ connection, stream }).store.load('relay')));
    const at = (index: number) => ({
      offset: updates[index]?.offset,
      lastUpdate: {
        offset: updates[index]?.offset,
        updateId: Object.assign({ updateId: '' }, updates[index]).updateId,
      },
    });
    expect(await load()).toMatchObject(at(14));
    await runRelay(natsRelay({ connection, stream }), updates);
    await (await jetstreamManager(connection)).streams.purge(stream);
    expect(await load()).toMatchObject(at(19));
  });

  it.each([
    new LedgerResetError(30, 10),
    new CursorError('ledger', 'relay', 'update 1220ab is no longer at offset 10'),
  ])(
    'publishes nothing after the $_tag of its feed, and ends with it, also when it is started again (G54)',
    async (error) => {
      const updates = await generateUpdates(20);
      const connection = await nats.connect();
      const stream = nats.newName();
      const pages = [updates.slice(0, 10), updates.slice(10)];
      const feed = feedOfPages(
        pages,
        throwError(() => error),
      );
      const { handler, store } = natsRelay({ connection, stream });
      const run = () => errorOf(processFeed(feed, handler, { name: 'relay', store, batch: { size: 4, withinMs: 0 } }));
      for (const start of [1, 2]) {
        expect([start, await run()]).toEqual([start, error]);
        expect(await readStream(await jetstreamManager(connection), stream)).toEqual(updates.slice(0, 10));
      }
    },
  );
});
