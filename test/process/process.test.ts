import { describe, expect, it } from '@jest/globals';
import { of, timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import type { ServiceRequest, Reply } from '../helpers/scripted.js';
import { fill, updateFormat, upTo } from '../helpers/world.js';
import { transaction, transactionWithId, errorBody, errorReply, ok } from '../helpers/wire.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, type ProcessWorld, processWorld, run } from './support.js';

mockPlatform();

const isBeyond = ({ body }: ServiceRequest): boolean => Number(body['beginExclusive']) >= 19;

describe('an error of the feed', () => {
  it.each<[string, string, Reply]>([
    ['an error of the service', 'ApiError', errorReply(400, errorBody('INVALID_ARGUMENT', 8))],
    [
      'pruning',
      'PrunedError',
      errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '30' })),
    ],
    [
      'an update that does not decode',
      'DecodeError',
      ok([transaction(20), { update: { Transaction: { value: { offset: 21 } } } }]),
    ],
    ['updates out of order', 'OrderError', ok([transaction(20), transaction(5)])],
    ['no connection until the retries end', 'ConnectionError', new Error('ECONNREFUSED')],
  ])('ends the processor after the updates before it: %s', (_, _tag, reply) => {
    const { error, handled, store, seen } = run({
      updates: 40,
      world: {
        client: { retry: { giveUpAfterMs: 1_000 } },
        fault: (request) => (isBeyond(request) ? reply : undefined),
      },
      store: new PlainStore(undefined, 10),
      handlerMs: 300,
      options: { maxPageSize: 20 },
    });
    expect(error).toMatchObject({ _tag });
    expect(handled).toEqual(upTo(20));
    expect(store.cursor).toMatchObject({ offset: 20 });
    expect(seen.values.at(-1)).toMatchObject({ offset: 20 });
    expect(seen.endedAt).toBeGreaterThan(6_000);
  });
});

describe('a gap', () => {
  it('is skipped with onGap, and the cursor moves past it', () => {
    const { handled, store } = run({
      updates: 40,
      prepare: ({ ledger }) => {
        ledger.pruned = 30;
      },
      options: { onGap: () => of(30) },
    });
    expect(handled).toEqual(upTo(40).slice(30));
    expect(offsets(store.saves)).toEqual([0, 30, 40]);
  });

  it('of a ledger that was reset is skipped backwards, and the cursor moves back', () => {
    const { error, handled, store } = run({
      updates: 40,
      prepare: ({ ledger }) => {
        timer(2_000).subscribe(() => {
          ledger.restore(10);
        });
        timer(40_000).subscribe(() => {
          fill(ledger, 11);
        });
      },
      world: { client: { retry: { giveUpAfterMs: 5_000 } } },
      options: { onGap: () => of(5) },
    });
    expect(error).toBeUndefined();
    expect(handled).toEqual([...upTo(40), 6, 7, 8, 9, 10, 11]);
    expect(offsets(store.saves)).toEqual([0, 40, 5, 10, 11]);
    expect(store.saves[2]).not.toHaveProperty('lastUpdate.offset');
  });
});

describe('a running processor whose ledger is replaced', () => {
  /** Puts a ledger with other updates in the place of the first, after a time. */
  const replaceAfter =
    (ms: number, updates: number) =>
    ({ ledger }: ProcessWorld): void => {
      timer(ms).subscribe(() => {
        const others = upTo(updates).map((offset) => ({
          offset,
          element: transactionWithId(offset, `other${offset}`),
        }));
        ledger.replace(others, updates);
      });
    };

  it.each([
    ['after the updates that it has handled', 20_000],
    ['while it catches up', 30],
  ])('ends with a CursorError, and handles nothing of the other ledger: %s (G46)', (_, atMs) => {
    const ids: unknown[] = [];
    const { error, store } = run({
      updates: 40,
      prepare: replaceAfter(atMs, 90),
      handle: (update) => {
        ids.push('updateId' in update ? update.updateId : undefined);
      },
      options: { maxPageSize: 10 },
    });
    expect(ids).toEqual(upTo(ids.length).map((offset) => `1220${offset}`));
    expect(ids.length).toBeGreaterThan(0);
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger', processor: name });
    expect(store.cursor?.offset).toBe(ids.length);
  });

  it('is recognized by its cursor if it has handled nothing since it was started', () => {
    const { store } = run({ updates: 9 });
    const { handled, error } = run({ updates: 9, store, prepare: replaceAfter(5_000, 30) });
    expect(handled).toEqual([]);
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
  });
});

describe('invalid options', () => {
  const { client } = processWorld();
  const store = new PlainStore();
  it.each<[string, object]>([
    ['a name without a store', { name }],
    ['a store without a name', { store }],
    ['a store with an empty name', { store, name: '' }],
    ['a commit of no updates', { commitEvery: { updates: 0 } }],
    ['a commit of half an update', { commitEvery: { updates: 1.5 } }],
    ['a commit after no time', { commitEvery: { ms: 0 } }],
    ['no time for a call of the store', { storeTimeoutMs: 0 }],
    ['a negative time to stop', { stopWithinMs: -1 }],
    ['a time to stop that is not a number', { stopWithinMs: Number.NaN }],
    ['a batch of no updates', { batch: { size: 0, withinMs: 1 } }],
    ['a batch of half an update', { batch: { size: 1.5, withinMs: 1 } }],
    ['a batch within a negative time', { batch: { size: 1, withinMs: -1 } }],
    ['commitEvery with a batch', { batch: { size: 1, withinMs: 1 }, commitEvery: { updates: 1 } }],
    ['another reaction to failures, which would skip', { onHandlerFailure: 'Stop' }],
    ['no reaction to failures', { onHandlerFailure: null }],
    ['parking without a store', { onHandlerFailure: 'park' }],
    ['a store that cannot park', { name, onHandlerFailure: 'park', store: { load: () => of(), save: () => of() } }],
    ['no delay before a retry', { handlerRetry: { baseDelayMs: 0 } }],
    ['a negative time for the retries of a store', { storeRetry: { giveUpAfterMs: -5 } }],
  ])('throw a TypeError at once: %s', (_, options) => {
    expect(() =>
      processFeed(updatesFeed(client, { beginExclusive: 0, updateFormat }), () => undefined, options as never),
    ).toThrow(TypeError);
  });

  it('of a feed throw a TypeError at once', () => {
    expect(() => updatesFeed(client, { beginExclusive: 0, updateFormat }, { maxPageSize: 0 })).toThrow(TypeError);
  });

  it('are those of a request in descending order: it errors with an InvalidRequestError', () => {
    marbles(({ flush }) => {
      const { service, client: other } = processWorld(5);
      const request = { beginExclusive: 0, endInclusive: 5, descendingOrder: true, updateFormat } as const;
      // @ts-expect-error -- the type refuses it, too
      const seen = observe(processFeed(updatesFeed(other, request), () => undefined));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: 'descendingOrder' }] });
      expect(service.requests).toEqual([]);
    });
  });
});
