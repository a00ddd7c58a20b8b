import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { ResponseTooLargeError } from '../../src/errors/request.js';
import type { Range } from '../../src/feed/Page.js';
import { observe, offsets } from '../helpers/observe.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import type { Entry } from '../helpers/virtualLedger.js';
import { errorBody, errorReply, notFound, transactionWithId } from '../helpers/wire.js';
import { fill, upTo, world, type World, type WorldOptions } from '../helpers/world.js';
import { append, isEnd, isPage, play } from './worlds.js';

type Fault = NonNullable<WorldOptions['fault']>;

describe('a page that is too large', () => {
  itInVirtualTime(
    'is requested with half the limit, loses nothing, and the limit stays for the ledger (G13)',
    ({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5, maxListElements: 30 });
      fill(ledger, ...upTo(75));
      const first = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(first.values)).toEqual(upTo(75));
      const limits = service.requests.filter(({ body }) => 'endInclusive' in body).map(({ query }) => query['limit']);
      expect(limits.slice(0, 4)).toEqual(['200', '100', '50', '25']);
      service.requests.length = 0;
      const second = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(second.values)).toEqual(upTo(75));
      expect(service.requests[1]?.query['limit']).toBe('25');
    },
  );

  it('is also requested with half the limit if it is too large to be read', () => {
    const { seen, service } = play(
      {
        fault: (request) =>
          isPage(request) && Number(request.query['limit']) > 6
            ? new ResponseTooLargeError(request.path, 1_000)
            : undefined,
      },
      { updates: upTo(100), forMs: 1_000 },
    );
    expect(offsets(seen.values)).toEqual(upTo(100));
    const limits = service.requests.slice(1, 7).map(({ query }) => Number(query['limit']));
    expect(limits).toEqual([200, 100, 50, 25, 12, 6]);
  });

  it('is an error if it has one update (G13)', () => {
    const { seen, service } = play({ maxListElements: 0 }, { updates: [1, 2] });
    expect(seen.error).toMatchObject({ _tag: 'PageLimitError', cursor: 0 });
    expect(service.requests).toHaveLength(9);
  });
});

describe('the limit of pages after large updates', () => {
  /** How a participant answers that cannot send a page with several large updates. */
  const refuseLarge =
    (isLarge: (offset: number) => boolean, most = 1): Fault =>
    (request) => {
      if (!isPage(request)) return undefined;
      const { beginExclusive, endInclusive = Infinity, descendingOrder = false } = request.body as unknown as Range;
      const limit = Number(request.query['limit']);
      const end = Math.min(endInclusive, lastOffset);
      const sent = Array.from({ length: Math.min(limit, end - beginExclusive) }, (_, i) =>
        descendingOrder ? end - i : beginExclusive + 1 + i,
      );
      return sent.filter(isLarge).length > most ? new ResponseTooLargeError(request.path, 1_000) : undefined;
    };
  const lastOffset = 3_003;
  const limitsOf = (diagnostics: readonly Diagnostic[]): number[] =>
    diagnostics.flatMap((event) => (event._tag === 'PageLimitLearned' ? [event.pageLimit] : []));

  it.each([1, undefined])('grows back: small updates are read in large pages again, %s at a time (G13)', (ranges) => {
    const diagnostics: Diagnostic[] = [];
    const { seen, service } = play(
      { fault: refuseLarge((offset) => offset <= 3) },
      {
        updates: upTo(lastOffset),
        request: { endInclusive: lastOffset },
        options: ranges === undefined ? {} : { parallelRanges: ranges },
        diagnostics,
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(lastOffset));
    expect(limitsOf(diagnostics)).toEqual([100, 50, 25, 12, 6, 3, 1, 2, 4, 8, 16, 32, 64, 128, 200]);
    expect(service.requests.length).toBeLessThan(100);
  });

  it.each([
    [1, 1],
    [6, 1],
    [1, undefined],
    [6, undefined],
  ])('stays for a ledger of large updates, of which %i fit in a page: few requests are refused', (most, ranges) => {
    const { seen, service, refused } = withRefusals(
      refuseLarge(() => true, most),
      ranges,
    );
    expect(offsets(seen.values)).toEqual(upTo(lastOffset));
    expect(refused()).toBeLessThan(service.requests.length * 0.03);
  });

  const withRefusals = (fault: Fault, ranges?: number) => {
    let count = 0;
    const played = play(
      {
        fault: (request, n) => {
          const reply = fault(request, n);
          if (reply !== undefined) count += 1;
          return reply;
        },
      },
      {
        updates: upTo(lastOffset),
        request: { endInclusive: lastOffset },
        options: ranges === undefined ? {} : { parallelRanges: ranges },
      },
    );
    return { ...played, refused: () => count };
  };

  it('does not end a feed in descending order that could have been read in pages of two', () => {
    const { seen } = play(
      { fault: refuseLarge((offset) => offset > 3_000, 2) },
      { updates: upTo(lastOffset), request: { endInclusive: lastOffset, descendingOrder: true } },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(lastOffset).reverse());
  });

  it('grows back in a feed that cannot read the ledger end', () => {
    const { seen, service } = play(
      {
        fault: (request, n) => (isEnd(request) ? notFound : refuseLarge((offset) => offset <= 3)(request, n)),
      },
      { updates: upTo(lastOffset), forMs: 60_000 },
    );
    expect(offsets(seen.values)).toEqual(upTo(lastOffset));
    expect(Number(service.requests.filter(isPage).at(-1)?.query['limit'])).toBeLessThan(3);
  });
});

describe('a participant that sends one update in a page', () => {
  const oneAtMost: Fault = (request) =>
    isPage(request) && Number(request.query['limit']) > 1
      ? errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
      : undefined;
  const others = (offset: number): Entry => ({ offset, element: transactionWithId(offset, `other${offset}`) });
  const replace = ({ ledger }: World): void => {
    ledger.replaceQuietly(upTo(30).map(others), 30);
  };

  it.each<[string, boolean]>([
    ['while a feed follows', true],
    ['of which the ledger end is not served', false],
  ])(
    'is noticed to have another ledger, with the same ID and without a failed request, %s (G19)',
    (_, hasLedgerEnd) => {
      const { seen } = play(
        { fault: oneAtMost, participantId: 'first::1220', hasLedgerEnd },
        { updates: upTo(9), forMs: 60_000, at: { 20_000: replace } },
      );
      expect(offsets(seen.values)).toEqual(upTo(9));
      expect(seen.values.every((update) => 'updateId' in update && update.updateId.startsWith('1220'))).toBe(true);
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', reason: 'anotherLedger' });
    },
  );

  it('is noticed to have another ledger while a feed catches up (G19)', () => {
    const { seen } = play(
      (its) => ({
        fault: (request, n) => {
          if (request.body['beginExclusive'] === 5) replace(its());
          return oneAtMost(request, n);
        },
      }),
      { updates: upTo(9), request: { endInclusive: 9 }, options: { parallelRanges: 1 } },
    );
    expect(seen.values.every((update) => 'updateId' in update && update.updateId.startsWith('1220'))).toBe(true);
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', reason: 'anotherLedger' });
  });

  it('is read, and followed, with two requests for each page', () => {
    const { seen, service } = play(
      { fault: oneAtMost },
      { updates: upTo(9), forMs: 60_000, at: { 20_000: append(10, 11), 40_000: ({ ledger }) => (ledger.pruned = 11) } },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(11));
    expect(service.requests.length).toBeLessThan(60);
  });
});

describe('a path that does not serve updates', () => {
  const disabled = errorReply(400, errorBody('DEPRECATED_API_DISABLED', 9));
  const filter = { filtersByParty: { 'alice::1220ab': { cumulative: [] } } };

  it.each([
    ['404', notFound],
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
      const paths = service.requests.filter(isPage).map(({ path }) => path);
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

  it.each<[string, Parameters<typeof play>[0]]>([
    [
      'the caller has chosen it',
      {
        client: { updatesPath: '/v2/updates/flats' },
        fault: ({ path }) => (path === '/v2/updates/flats' ? notFound : undefined),
      },
    ],
    ['the other does not serve them either', { fault: (request) => (isPage(request) ? notFound : undefined) }],
  ])('is an error if %s', (_, options) => {
    expect(play(options, { updates: [1] }).seen.error).toMatchObject({ _tag: 'ApiError', status: 404 });
  });
});
