import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { of, take, timer } from 'rxjs';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { canton, failed, ok, type Asked, type Reply } from '../helpers/scripted.js';
import { fill, updateFormat, upTo } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';
import { hashAtOnce, name, PlainStore, until, worker, workshop } from './support.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const isBeyond = ({ body }: Asked): boolean => Number(body['beginExclusive']) >= 20;

describe('what ends the feed', () => {
  it.each<[string, string, Reply]>([
    ['an error of the service', 'ApiError', failed(400, canton('INVALID_ARGUMENT', 8))],
    ['pruning', 'PrunedError', failed(400, canton('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '30' }))],
    ['an update that does not decode', 'DecodeError', ok([{ update: { Transaction: { value: { offset: 21 } } } }])],
    ['disorder', 'OrderError', ok([transaction(5)])],
    ['no connection for too long', 'ConnectionError', new Error('ECONNREFUSED')],
  ])('ends the processor behind what came before it: %s', (_, _tag, reply) => {
    marbles(({ flush }) => {
      const { work, service } = workshop(40, {
        client: { retry: { giveUpAfterMs: 1_000 } },
        fault: (asked) => (isBeyond(asked) ? reply : undefined),
      });
      const store = new PlainStore(undefined, 10);
      const { handled, handle } = worker(300);
      const seen = observe(work(handle, { store, name, maxPageSize: 20 }));
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
  it('is crossed, and the place moves on over it', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(40);
      ledger.pruned = 30;
      const store = new PlainStore();
      const { handled, handle } = worker();
      observe(work(handle, { store, name, onGap: () => of(30) }).pipe(until(5_000)));
      flush();
      expect(handled).toEqual(upTo(40).slice(30));
      expect(store.saves.map(({ offset }) => offset)).toEqual([0, 30, 40]);
    });
  });

  it('of a ledger that was reset is crossed backwards, and so moves the place', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(40);
      const store = new PlainStore();
      const { handled, handle } = worker();
      const seen = observe(work(handle, { store, name, onGap: () => of(5) }).pipe(until(60_000)));
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

describe('what is told of a processor', () => {
  /** Of which feed, and what; the ledger is away for the first so many requests. */
  const told = (away: number, untilMs: number): string[] => {
    let lines: string[] = [];
    marbles(({ flush }) => {
      const { client, work } = workshop(40, {
        fault: (_, count) => (count <= away ? new Error('ECONNREFUSED') : undefined),
      });
      const seen = observe(client.diagnostics$);
      observe(work(worker().handle, { store: new PlainStore(), name }).pipe(until(untilMs)));
      flush();
      lines = seen.values.map(({ _tag, feed }) => `${String(feed)} ${_tag}`);
    });
    return lines;
  };

  it('is told of one feed, also where it has to ask again before it knows where to begin', () => {
    const lines = told(2, 5_000);
    expect(lines.slice(0, 3)).toEqual(['1 RetryScheduled', '1 RetryScheduled', '1 FeedStarted']);
    expect(lines.filter((line) => !line.startsWith('1 '))).toEqual([]);
    expect(lines.at(-1)).toBe('1 FeedEnded');
  });

  it('ends once, also where all is there at once and its subscriber leaves with the first', () => {
    marbles(({ flush }) => {
      const { client, work } = workshop(40, { latencyMs: 0 });
      const seen = observe(client.diagnostics$);
      observe(work(worker().handle).pipe(take(1)));
      flush();
      expect(seen.values.filter(({ _tag }) => _tag === 'FeedEnded')).toMatchObject([{ feed: 1, how: 'unsubscribed' }]);
    });
  });

  it('ends with the feed, also where that was left before it knew where to begin', () => {
    const lines = told(Infinity, 3_000);
    expect(new Set(lines.slice(0, -1))).toEqual(new Set(['1 RetryScheduled']));
    expect(lines.at(-1)).toBe('1 FeedEnded');
  });
});

describe('options that make no sense', () => {
  const { client } = workshop();
  const store = new PlainStore();
  it.each<[string, object]>([
    ['a name without a store', { name }],
    ['a store without a name', { store }],
    ['a store with an empty name', { store, name: '' }],
    ['no updates in a commit', { commitEvery: { updates: 0 } }],
    ['half an update in a commit', { commitEvery: { updates: 1.5 } }],
    ['no time for a commit', { commitEvery: { ms: 0 } }],
    ['no time for the store', { storeTimeoutMs: 0 }],
    ['less than no time to stop', { stopWithinMs: -1 }],
    ['no number to stop within', { stopWithinMs: Number.NaN }],
    ['no updates in a batch', { batch: { size: 0, withinMs: 1 } }],
    ['half an update in a batch', { batch: { size: 1.5, withinMs: 1 } }],
    ['less than no time for a batch', { batch: { size: 1, withinMs: -1 } }],
    ['commits beside batches', { batch: { size: 1, withinMs: 1 }, commitEvery: { updates: 1 } }],
    ['nowhere to park', { onPoison: 'park' }],
    ['a store that cannot park', { name, onPoison: 'park', store: { load: () => of(), save: () => of() } }],
    ['no wait before a retry', { handlerRetry: { baseDelayMs: 0 } }],
    ['pages of nothing', { maxPageSize: 0 }],
  ])('throw at once: %s', (_, options) => {
    expect(() => client.process({ beginExclusive: 0, updateFormat }, () => true, options as never)).toThrow(TypeError);
  });

  it('make a request invalid that goes downward', () => {
    marbles(({ flush }) => {
      const { service, client: mine } = workshop(5);
      const request = { beginExclusive: 0, endInclusive: 5, descendingOrder: true, updateFormat } as const;
      const seen = observe(mine.process(request, () => true));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: 'descendingOrder' }] });
      expect(service.asked).toEqual([]);
    });
  });
});
