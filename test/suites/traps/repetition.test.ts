/** Mistakes of other clients of this ledger: repeated updates, requests in a loop, cursors that do not advance. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import { ofVariant } from '../../../src/operators/ofVariant.js';
import { observe, offsets } from '../../helpers/observe.js';
import type { ServiceRequest, Reply } from '../../helpers/scripted.js';
import { fill, upTo, world } from '../../helpers/world.js';
import { checkpoint, errorBody, errorReply, ok } from '../../helpers/wire.js';
import { marbles } from '../../helpers/time.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const isPage = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
const isPoll = ({ query }: ServiceRequest): boolean => 'stream_idle_timeout_ms' in query;
const beginOf = ({ body }: ServiceRequest): number => Number(body['beginExclusive']);
const down = errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));

describe('a feed that was interrupted', () => {
  it('resumes after the last update, not where it began', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, 10, 20, 30);
      const seen = observe(feed().pipe(takeUntil(timer(30_000))));
      timer(2_000).subscribe(() => {
        ledger.disconnect();
        fill(ledger, 40, 50, 60);
      });
      flush();
      expect(offsets(seen.values)).toEqual([10, 20, 30, 40, 50, 60]);
      expect(service.requests.filter(isPage).map(beginOf).slice(1, 3)).toEqual([30, 30]);
    });
  });

  it('survives an outage of four minutes', () => {
    marbles(({ flush }) => {
      const start = asyncScheduler.now();
      const { ledger, feed } = world({
        fault: () => (asyncScheduler.now() - start < 240_000 ? new Error('connect ECONNREFUSED') : undefined),
      });
      fill(ledger, 10);
      const seen = observe(feed().pipe(takeUntil(timer(400_000))));
      flush();
      expect(seen).toMatchObject({ error: undefined, values: [{ offset: 10 }] });
    });
  });
});

describe('the retry budget of a feed', () => {
  it.each<[string, Reply]>([
    ['a connection that opens', { status: 200, headers: {}, text: '' }],
    ['its first bytes', { status: 200, headers: {}, text: '[{"update":{"Trans' }],
  ])('is not renewed by %s', (_, reply) => {
    marbles(({ flush }) => {
      // requests for the ledger end succeed all the time
      const { ledger, feed } = world({ latencyMs: 5, fault: (request) => (isPage(request) ? reply : undefined) });
      fill(ledger, 10);
      const seen = observe(
        feed({}, { retry: { giveUpAfterMs: 10_000, maxDelayMs: 500 } }).pipe(takeUntil(timer(600_000))),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ConnectionError' });
      expect(seen.endedAt).toBeLessThan(11_000);
    });
  });
});

describe('a failure', () => {
  it.each([
    ['PARTICIPANT_PRUNED_DATA_ACCESSED', 9],
    ['PERMISSION_DENIED', 7],
    ['INVALID_ARGUMENT', 8],
  ])('that is permanent ends the feed at once, without an update: %s', (code, category) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        fault: (request) => (isPage(request) ? errorReply(400, errorBody(code, category)) : undefined),
      });
      fill(ledger, 10);
      const seen = observe(feed().pipe(takeUntil(timer(600_000))));
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.error).toBeDefined();
      expect(service.requests.filter(isPage)).toHaveLength(1);
    });
  });

  it('is retried after a longer delay each time, or after its Retry-After', () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    marbles(({ flush }) => {
      const at: number[] = [];
      const start = asyncScheduler.now();
      const { feed } = world({
        fault: (_, n) => {
          at.push(asyncScheduler.now() - start);
          return n === 4 ? errorReply(429, '', { 'retry-after': '9' }) : down;
        },
      });
      observe(feed().pipe(takeUntil(timer(12_000))));
      flush();
      expect(at).toEqual([0, 250, 750, 1_750, 10_750]);
    });
  });
});

describe('the cursor', () => {
  it('advances with a page of a single checkpoint, for retries and for resuming', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      const seen = observe(feed().pipe(takeUntil(timer(10_000))));
      timer(1_000).subscribe(() => {
        ledger.append(700, checkpoint(700));
      });
      timer(2_000).subscribe(() => {
        ledger.disconnect();
      });
      flush();
      expect(service.requests.filter(isPage).map(beginOf).slice(0, 3)).toEqual([0, 700, 700]);
      expect(offsets(seen.values)).toEqual([700]);
    });
  });

  it('passes a thousand empty offsets in two requests', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      ledger.end = 1_000;
      const open = observe(feed().pipe(takeUntil(timer(900))));
      flush();
      // the ledger end, a page, and the open poll
      expect(service.requests.map(beginOf).slice(1)).toEqual([0, 1_000]);
      const bounded = observe(feed({ endInclusive: 1_000 }));
      flush();
      expect(service.requests).toHaveLength(5);
      expect([open.error, bounded.error]).toEqual([undefined, undefined]);
    });
  });

  it('passes empty offsets at once also where the service has no ledger end', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ hasLedgerEnd: false });
      ledger.end = 1_000;
      const bounded = observe(feed({ endInclusive: 1_000 }));
      flush();
      expect(bounded.completed).toBe(true);
      expect(service.requests).toHaveLength(2);
    });
  });

  it('begins at beginExclusive, and never at the pruning offset of a ledger', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, ...upTo(20));
      ledger.pruned = 10;
      const seen = observe(feed({ beginExclusive: 12 }).pipe(takeUntil(timer(100))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(20).slice(12));
      expect(Math.min(...service.requests.filter(isPage).map(beginOf))).toBe(12);
    });
  });

  it('advances past updates that a filter downstream drops', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, ...upTo(500));
      const seen = observe(feed().pipe(ofVariant('Reassignment'), takeUntil(timer(2_000))));
      timer(1_000).subscribe(() => {
        ledger.disconnect();
      });
      flush();
      expect(seen.values).toEqual([]);
      expect(service.requests.filter(isPage).map(beginOf)).toEqual([0, 200, 400, 500, 500]);
    });
  });

  it('advances when the subscriber has received the updates, not before', () => {
    marbles(({ flush }) => {
      const received: number[] = [];
      const before: (readonly number[])[] = [];
      const { ledger, feed } = world({
        fault: (request) => {
          if (isPage(request)) before.push([...received]);
          return undefined;
        },
      });
      fill(ledger, ...upTo(5));
      feed({ endInclusive: 5 }, { maxPageSize: 2 }).subscribe(({ offset }) => received.push(offset));
      flush();
      expect(before).toEqual([[], [1, 2], [1, 2, 3, 4]]);
    });
  });
});

describe('polls', () => {
  it('never overlap, no matter how long an answer takes', () => {
    marbles(({ flush }) => {
      let most = 0;
      const { ledger, service, feed } = world({
        latencyMs: 9_000,
        fault: () => {
          most = Math.max(most, service.open);
          return undefined;
        },
      });
      fill(ledger, ...upTo(500));
      observe(feed({}, { parallelRanges: 1 }).pipe(takeUntil(timer(300_000))));
      flush();
      expect(service.requests.length).toBeGreaterThan(10);
      expect(most).toBe(1);
    });
  });

  it('that return empty at once do not loop', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ fault: (request) => (isPoll(request) ? ok([]) : undefined) });
      observe(feed().pipe(takeUntil(timer(100_000))));
      flush();
      expect(service.requests.length).toBeGreaterThan(50);
      expect(service.requests.length).toBeLessThan(120);
    });
  });
});
