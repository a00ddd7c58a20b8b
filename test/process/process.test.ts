import { describe, expect, it } from '@jest/globals';
import { of, take, timer } from 'rxjs';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest, Reply } from '../helpers/scripted.js';
import { fill, updateFormat, upTo } from '../helpers/world.js';
import { transaction, errorBody, errorReply, ok } from '../helpers/wire.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, until, recordingHandler, processWorld } from './support.js';

mockPlatform();

const isBeyond = ({ body }: ServiceRequest): boolean => Number(body['beginExclusive']) >= 20;

describe('an error of the feed', () => {
  it.each<[string, string, Reply]>([
    ['an error of the service', 'ApiError', errorReply(400, errorBody('INVALID_ARGUMENT', 8))],
    [
      'pruning',
      'PrunedError',
      errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '30' })),
    ],
    ['an update that does not decode', 'DecodeError', ok([{ update: { Transaction: { value: { offset: 21 } } } }])],
    ['updates out of order', 'OrderError', ok([transaction(5)])],
    ['no connection until the retries end', 'ConnectionError', new Error('ECONNREFUSED')],
  ])('ends the processor after the updates before it: %s', (_, _tag, reply) => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(40, {
        client: { retry: { giveUpAfterMs: 1_000 } },
        fault: (request) => (isBeyond(request) ? reply : undefined),
      });
      const store = new PlainStore(undefined, 10);
      const { handled, handle } = recordingHandler(300);
      const seen = observe(process(handle, { store, name, maxPageSize: 20 }));
      flush();
      expect(seen.error).toMatchObject({ _tag });
      expect(handled).toEqual(upTo(20));
      expect(store.cursor).toMatchObject({ offset: 20 });
      expect(seen.values.at(-1)).toMatchObject({ offset: 20 });
      expect(seen.endedAt).toBeGreaterThan(6_000);
      expect(service.open).toBe(0);
    });
  });
});

describe('a gap', () => {
  it('is skipped with onGap, and the cursor moves past it', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(40);
      ledger.pruned = 30;
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      observe(process(handle, { store, name, onGap: () => of(30) }).pipe(until(5_000)));
      flush();
      expect(handled).toEqual(upTo(40).slice(30));
      expect(store.saves.map(({ offset }) => offset)).toEqual([0, 30, 40]);
    });
  });

  it('of a ledger that was reset is skipped backwards, and the cursor moves back', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(40);
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      const seen = observe(process(handle, { store, name, onGap: () => of(5) }).pipe(until(60_000)));
      timer(2_000).subscribe(() => {
        ledger.restore(10);
      });
      timer(40_000).subscribe(() => {
        fill(ledger, 11);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(handled).toEqual([...upTo(40), 6, 7, 8, 9, 10, 11]);
      expect(store.saves.map(({ offset }) => offset)).toEqual([0, 40, 5, 10, 11]);
      expect(store.saves[2]).not.toHaveProperty('lastUpdate.offset');
    });
  });
});

describe('the diagnostics of a processor', () => {
  /** The feed and the tag of each diagnostic, on a ledger that does not answer the first requests. */
  const diagnosticsOf = (unanswered: number, untilMs: number): string[] => {
    let lines: string[] = [];
    marbles(({ flush }) => {
      const { client, process } = processWorld(40, {
        fault: (_, count) => (count <= unanswered ? new Error('ECONNREFUSED') : undefined),
      });
      const seen = observe(client.diagnostics$);
      observe(process(recordingHandler().handle, { store: new PlainStore(), name }).pipe(until(untilMs)));
      flush();
      lines = seen.values.map(({ _tag, feed }) => `${String(feed)} ${_tag}`);
    });
    return lines;
  };

  it('are of one feed, also if requests are retried before the processor can resume', () => {
    const lines = diagnosticsOf(2, 5_000);
    const found = lines.filter((line) => !['1 RoleChanged', '1 CommitSaved'].includes(line));
    expect(found.slice(0, 3)).toEqual(['1 RetryScheduled', '1 RetryScheduled', '1 FeedStarted']);
    expect(lines.filter((line) => !line.startsWith('1 '))).toEqual([]);
    expect(lines.at(-1)).toBe('1 FeedEnded');
  });

  it('report one end, also if the subscriber unsubscribes at one of many synchronous values', () => {
    marbles(({ flush }) => {
      const { client, process } = processWorld(40, { latencyMs: 0 });
      const seen = observe(client.diagnostics$);
      observe(process(recordingHandler().handle).pipe(take(2)));
      flush();
      expect(seen.values.filter(({ _tag }) => _tag === 'FeedEnded')).toMatchObject([{ feed: 1, how: 'unsubscribed' }]);
    });
  });

  it('report the end, also if the processor is unsubscribed before it can resume', () => {
    const lines = diagnosticsOf(Infinity, 3_000);
    expect(new Set(lines.slice(0, -1))).toEqual(new Set(['1 RoleChanged', '1 RetryScheduled']));
    expect(lines.at(-1)).toBe('1 FeedEnded');
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
    ['parking without a store', { onPoison: 'park' }],
    ['a store that cannot park', { name, onPoison: 'park', store: { load: () => of(), save: () => of() } }],
    ['no delay before a retry', { handlerRetry: { baseDelayMs: 0 } }],
    ['a negative time for the retries of a store', { retry: { giveUpAfterMs: -5 } }],
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
      const seen = observe(processFeed(updatesFeed(other, request), () => undefined));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: 'descendingOrder' }] });
      expect(service.requests).toEqual([]);
    });
  });
});
