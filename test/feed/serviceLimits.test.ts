import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { map, takeUntil, timer } from 'rxjs';
import { ResponseTooLargeError } from '../../src/errors/request.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply, notFound } from '../helpers/wire.js';

const isPage = (path: string): boolean => path.startsWith('/v2/updates');

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a page that is too large', () => {
  itInVirtualTime(
    'is requested with half the limit, loses nothing, and the limit stays for the ledger (G13)',
    ({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5, maxListElements: 30 });
      fill(ledger, ...upTo(100));
      const first = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(first.values)).toEqual(upTo(100));
      const limits = service.requests.filter(({ body }) => 'endInclusive' in body).map(({ query }) => query['limit']);
      expect(limits.slice(0, 4)).toEqual(['200', '100', '50', '25']);
      service.requests.length = 0;
      const second = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(second.values)).toEqual(upTo(100));
      expect(service.requests[1]?.query['limit']).toBe('25');
    },
  );

  itInVirtualTime('is also requested with half the limit if it is too large to be read', ({ flush }) => {
    const { ledger, feed, service } = world({
      latencyMs: 5,
      fault: ({ path, query }) =>
        isPage(path) && Number(query['limit']) > 6 ? new ResponseTooLargeError(path, 1_000) : undefined,
    });
    fill(ledger, ...upTo(100));
    const seen = observe(feed().pipe(takeUntil(timer(1_000))));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(100));
    expect(service.requests.slice(1, 7).map(({ query }) => query['limit'])).toEqual([
      '200',
      '100',
      '50',
      '25',
      '12',
      '6',
    ]);
  });

  itInVirtualTime('is an error if it has one update (G13)', ({ flush }) => {
    const { ledger, service, feed } = world({ maxListElements: 0 });
    fill(ledger, 1, 2);
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'PageLimitError', cursor: 0 });
    expect(service.requests).toHaveLength(9);
  });
});

describe('a path that does not serve updates', () => {
  const disabled = errorReply(400, errorBody('DEPRECATED_API_DISABLED', 9));
  const filter = { filtersByParty: { 'alice::1220ab': { cumulative: [] } } };

  it.each([
    ['404', notFound],
    ['405', errorReply(405, 'Method Not Allowed')],
    ['DEPRECATED_API_DISABLED', disabled],
  ])('is replaced by /v2/updates for good, in mid-stream, from the same cursor: %s (G14)', (_, reply) => {
    marbles(({ flush }) => {
      let gone = false;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (gone && path === '/v2/updates/flats' ? reply : undefined),
      });
      fill(ledger, ...upTo(500));
      const seen = observe(feed().pipe(takeUntil(timer(30_000))));
      timer(10_000).subscribe(() => {
        gone = true;
        fill(ledger, 501, 502);
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(502));
      const paths = service.requests.filter(({ path }) => isPage(path)).map(({ path }) => path);
      expect(paths.lastIndexOf('/v2/updates/flats')).toBe(paths.indexOf('/v2/updates') - 1);
      service.requests.length = 0;
      observe(feed().pipe(takeUntil(timer(100))));
      flush();
      expect(service.requests.some(({ path }) => path === '/v2/updates/flats')).toBe(false);
    });
  });

  itInVirtualTime(
    'is replaced with the update format that the interface document gives for a legacy filter',
    ({ flush }) => {
      const { ledger, service, client } = world({
        fault: ({ path }) => (path === '/v2/updates/flats' ? disabled : undefined),
      });
      fill(ledger, 1);
      observe(client.updates({ beginExclusive: 0, filter, verbose: true }).pipe(takeUntil(timer(10))));
      flush();
      const [, flats, updates] = service.requests;
      expect(flats?.body).toMatchObject({ filter, verbose: true });
      expect(flats?.body).not.toHaveProperty('updateFormat');
      const eventFormat = { ...filter, verbose: true };
      expect(updates?.path).toBe('/v2/updates');
      expect(updates?.body).toEqual({
        beginExclusive: 0,
        endInclusive: 1,
        descendingOrder: false,
        updateFormat: {
          includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
          includeReassignments: eventFormat,
          includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: ['alice::1220ab'] } },
        },
      });
    },
  );

  itInVirtualTime('is an error if the caller has chosen it', ({ flush }) => {
    const { ledger, client } = world({
      client: { updatesPath: '/v2/updates/flats' },
      fault: ({ path }) => (path === '/v2/updates/flats' ? notFound : undefined),
    });
    fill(ledger, 1);
    const seen = observe(client.updates({ beginExclusive: 0, updateFormat }));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 404 });
  });

  itInVirtualTime('is an error if the other does not serve them either', ({ flush }) => {
    const { ledger, feed } = world({ fault: ({ path }) => (isPage(path) ? notFound : undefined) });
    fill(ledger, 1);
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 404 });
  });
});

describe('a service that answers before the idle timeout with an error', () => {
  itInVirtualTime('gets polls with a shorter idle timeout, without a failure', ({ flush }) => {
    const timely = 'The server was not able to produce a timely response to your request.';
    const { ledger, service, feed } = world({
      latencyMs: 5,
      fault: ({ query }) =>
        Number(query['stream_idle_timeout_ms'] ?? 0) > 3_000
          ? timer(3_000).pipe(map(() => errorReply(503, timely)))
          : undefined,
    });
    const seen = observe(
      feed({}, { idleTimeoutMs: 20_000, retry: { giveUpAfterMs: 1 } }).pipe(takeUntil(timer(60_000))),
    );
    timer(30_000).subscribe(() => {
      fill(ledger, 1);
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1]);
    const waits = service.requests.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []);
    expect(waits.slice(0, 2)).toEqual(['20000', '1500']);
    // grows again gradually, in whole milliseconds
    expect(waits.slice(1).every((wait) => /^\d+$/.test(wait) && Number(wait) <= 3_300)).toBe(true);
  });

  itInVirtualTime('is a failure if a shorter idle timeout does not help', ({ flush }) => {
    const { feed } = world({
      latencyMs: 5,
      fault: ({ path }) => (isPage(path) ? timer(5_000).pipe(map(() => errorReply(503, 'busy'))) : undefined),
    });
    const seen = observe(feed({}, { retry: { giveUpAfterMs: 60_000 } }));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
  });
});
