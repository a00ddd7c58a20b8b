import { beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import fc from 'fast-check';
import { filter, firstValueFrom, from, lastValueFrom, of, ReplaySubject, takeWhile, throwError, toArray } from 'rxjs';
import { acsDelta, createLedger, CursorError, isLedgerError, LedgerResetError } from '../../src/index.js';
import { natsRelay, type NatsRelay } from '../../src/nats/index.js';
import { type Feed, processFeed, type ProcessOptions, updatesFeed, type Work } from '../../src/process/index.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { effort } from '../helpers/effort.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { observe, offsets } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { errorOf, feedOfPages, generateUpdates, idsOf, readStream, runRelay, withNats } from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(60);
});

/** The options of a relay's processor. Its handler has no retries of its own to hide behind. */
const settings = (retry: ProcessOptions['storeRetry']) => ({
  name: 'relay',
  storeRetry: { baseDelayMs: 1, ...retry },
  handlerRetry: { baseDelayMs: 1, giveUpAfterMs: 0 },
});
const batch = { size: 10, withinMs: 0 };

describeWithNats('a processor with a relay', () => {
  const nats = withNats();

  it('retries for as long as its policy allows if the server does not respond, then names the server (G53)', async () => {
    const { connection, stream } = await nats.target();
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
    'continues when the server returns, and leaves out no update: onHandlerFailure %s (G53)',
    async (onHandlerFailure) => {
      const { connection, stream } = await nats.target();
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
          onHandlerFailure,
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

  it.each([
    ['name', 'other', 'participant1', 'conflict'],
    ['participant', 'relay', 'participant2', 'participant'],
  ])(
    'publishes nothing if one with another %s has begun with the new stream meanwhile',
    async (_, name, participantId, reason) => {
      const last = updates.at(-1)?.offset ?? 0;
      // at offsets at which the stream has nothing
      const others = (await generateUpdates(120)).filter(({ offset }) => offset > last);
      const { connection, stream } = await nats.target();
      const start = (as: string, participant: string, page: readonly Work[], whenLoaded: () => Promise<unknown>) => {
        const { handler, store } = natsRelay({ connection, stream });
        const feed = feedOfPages([page]);
        const open: Feed['open'] = (run) => ({
          ...feed.open(run),
          identity$: of({ selection: 'all', participantId: participant }),
        });
        const load: typeof store.load = async (of) => {
          const cursor: unknown = await lastValueFrom(from(store.load(of)), { defaultValue: undefined });
          await whenLoaded();
          return cursor;
        };
        const options = { ...settings({}), name: as, store: { ...store, load }, batch };
        return observe(processFeed({ ...feed, open }, handler, options));
      };
      const loaded$ = new ReplaySubject<void>(1);
      const published$ = new ReplaySubject<void>(1);
      const late = start(name, participantId, others, () => {
        loaded$.next();
        return firstValueFrom(published$);
      });
      await firstValueFrom(loaded$);
      const run = start('relay', 'participant1', updates, () => Promise.resolve());
      await until(() => run.values.at(-1)?.offset === last);
      published$.next();
      await until(() => late.error !== undefined || late.values.some(({ handled }) => handled > 0));
      run.subscription.unsubscribe();
      late.subscription.unsubscribe();
      expect(late.error).toMatchObject({ _tag: 'CursorError', reason });
      expect(idsOf(await readStream(await jetstreamManager(connection), stream))).toEqual(idsOf(updates));
    },
  );

  it('publishes nothing of a second processor with the same relay and another name', async () => {
    const { connection, stream } = await nats.target();
    const { handler, store } = natsRelay({ connection, stream });
    const others = (await generateUpdates(120)).filter(({ offset }) => offset > (updates.at(-1)?.offset ?? 0));
    const start = (name: string, page: readonly Work[]) =>
      observe(processFeed(feedOfPages([page]), handler, { ...settings({}), name, store, batch }));
    const first = start('relay', updates);
    const second = start('other', others);
    await until(() => first.values.at(-1)?.offset === updates.at(-1)?.offset);
    first.subscription.unsubscribe();
    await until(() => second.error !== undefined || second.values.some(({ handled }) => handled > 0));
    second.subscription.unsubscribe();
    expect(second.error).toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
    expect(idsOf(await readStream(await jetstreamManager(connection), stream))).toEqual(idsOf(updates));
  });

  it.each(['deleted', 'created again'])(
    'ends at once with a RelayError if the stream was %s, while it runs and when it starts (G55)',
    async (what) => {
      const { connection, stream } = await nats.target();
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

  it('continues when its bucket was deleted, and keeps its cursor in another one', async () => {
    const { connection, stream } = await nats.target();
    const gate$ = new ReplaySubject<void>(1);
    const { handler, store } = natsRelay({ connection, stream });
    const pages = [updates.slice(0, 20), updates.slice(20)];
    const run = observe(processFeed(feedOfPages(pages, gate$), handler, { ...settings({}), store, batch }));
    await until(() => run.values.at(-1)?.offset === updates[19]?.offset);
    const jsm = await jetstreamManager(connection);
    await jsm.streams.delete(`KV_${stream}-cursors`);
    gate$.next();
    const last = updates.at(-1)?.offset;
    await until(() => run.values.at(-1)?.offset === last || run.error !== undefined);
    run.subscription.unsubscribe();
    expect(run.error).toBeUndefined();
    expect(await lastValueFrom(from(natsRelay({ connection, stream }).store.load('relay')))).toMatchObject({
      offset: last,
    });
    expect(offsets(await readStream(jsm, stream))).toEqual(offsets(updates));
  });

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
  /** The last record time of each synchronizer that updates show, in milliseconds. */
  const timesOf = (shown: readonly Work[]): ReadonlyMap<string, number> =>
    new Map(
      shown.flatMap((update) =>
        'recordTime' in update ? [[update.synchronizerId ?? '', Date.parse(update.recordTime)] as const] : [],
      ),
    );
  /** A relay that ends after its last publish and before it saves any cursor after an offset. */
  const unsavedAfter = (offset: number, { handler, store }: NatsRelay): NatsRelay => ({
    handler,
    store: {
      ...store,
      save: (name, cursor) => (cursor.offset > offset ? [] : store.save(name, cursor)),
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

  it('publishes a prefix of one ledger, wherever it ended and whatever was restored before it starts again (G54)', async () => {
    const cases = fc.record({
      first: fc.integer({ min: 2, max: 40 }),
      saved: fc.nat({ max: 40 }),
      restored: fc.nat({ max: 60 }),
      grown: fc.integer({ min: 1, max: 20 }),
      keepsCursor: fc.boolean(),
    });
    // replaced without a saved cursor, and restored after more was published than saved
    const examples = [
      [{ first: 30, saved: 40, restored: 0, grown: 60, keepsCursor: false }],
      [{ first: 50, saved: 20, restored: 20, grown: 60, keepsCursor: true }],
      // a synchronizer has grown by what the relay does not show
      [{ first: 26, saved: 40, restored: 25, grown: 4, keepsCursor: false }],
    ] as [{ first: number; saved: number; restored: number; grown: number; keepsCursor: boolean }][];
    const connection = await nats.connect();
    const jsm = await jetstreamManager(connection);
    await fc.assert(
      fc.asyncProperty(cases, ({ first, saved, restored, grown, keepsCursor }) =>
        withSandbox(async (sandbox) => {
          const stream = nats.newName();
          const end = sandbox.generate(first, { seed: 1 });
          await relayLedger(sandbox, unsavedAfter(saved, natsRelay({ connection, stream })));
          const published = await readStream(jsm, stream);
          const last = published.at(-1)?.offset ?? 0;
          if (!keepsCursor) await jsm.streams.delete(`KV_${stream}-cursors`);
          sandbox.restore(Math.min(restored, end));
          // past the last offset of the stream and the last times of its synchronizers: before, it may be the same ledger, later
          let shown: ReadonlyMap<string, number>;
          do {
            sandbox.generate(grown, { seed: 2 + sandbox.ledgerEnd });
            shown = timesOf(await readLedger(sandbox));
          } while (
            sandbox.ledgerEnd <= end ||
            [...timesOf(published)].some(([id, time]) => (shown.get(id) ?? 0) <= time)
          );
          const error = await relayLedger(sandbox, natsRelay({ connection, stream }));
          // also in the next run
          const again = error === undefined ? undefined : await relayLedger(sandbox, natsRelay({ connection, stream }));
          const after = idsOf(await readStream(jsm, stream));
          const ledger = await readLedger(sandbox);
          const isOther = restored < last;
          // without its cursor, the relay compares when it has something to publish
          const mustEnd = isOther && (keepsCursor || ledger.some(({ offset }) => offset > last));
          const isRefused = { _tag: 'CursorError', reason: 'ledger', processor: 'relay' };
          if (mustEnd) expect([error, again]).toMatchObject([isRefused, isRefused]);
          if (!isOther) expect(error).toBeUndefined();
          expect(after).toEqual(idsOf(isOther ? published : ledger));
        }),
      ),
      { numRuns: effort(15, 100), examples },
    );
  });

  it('continues on the same ledger, wherever its cursor was saved, and without one', () =>
    withSandbox(async (sandbox) => {
      const { connection, stream } = await nats.target();
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
    const { connection, stream } = await nats.target();
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
    const { connection, stream } = await nats.target();
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
    expect(await load()).toMatchObject(at(59));
  });

  it.each([
    new LedgerResetError(30, 10),
    new CursorError('ledger', 'relay', 'update 1220ab is no longer at offset 10'),
  ])(
    'publishes nothing after the $_tag of its feed, and ends with it, also when it is started again (G54)',
    async (error) => {
      const { connection, stream } = await nats.target();
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
