import { describe, expect, it } from '@jest/globals';
import { map, NEVER, type Observable, take, takeUntil, timer } from 'rxjs';
import type { Update } from '../../src/codecs/Update.js';
import { positions } from '../../src/history/positions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { observe, offsets } from '../helpers/observe.js';
import { type Reply, scriptedService } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import {
  checkpoint,
  invalid,
  ok,
  reassignmentWith,
  transaction,
  transactionWith,
  unknownVariant,
} from '../helpers/wire.js';
import { fill, updateFormat, upTo, world, type World } from '../helpers/world.js';
import { append, isEnd, isPage, play } from './worlds.js';

const setEnd =
  (end: number) =>
  ({ ledger }: World): void => {
    ledger.end = end;
  };
/** A response with each element twice in a row. */
const eachTwice = (reply: Reply): Reply => {
  if (reply instanceof Error) return reply;
  const elements = JSON.parse(reply.text) as readonly unknown[];
  return ok(elements.flatMap((element) => [element, element]));
};
const add =
  (element: (offset: number) => object, offset: number) =>
  ({ ledger }: World): void => {
    ledger.append(offset, element(offset));
  };

describe('an open-ended feed', () => {
  itInVirtualTime('sends nothing before it is subscribed to, and keeps state per subscription', ({ flush }) => {
    const { ledger, service, feed } = world({ latencyMs: 5 });
    fill(ledger, ...upTo(500));
    const feed$ = feed();
    expect(service.requests).toEqual([]);
    const all = observe(feed$.pipe(takeUntil(timer(1_000))));
    const some = observe(feed$.pipe(take(3)));
    flush();
    expect(offsets(all.values)).toEqual(upTo(500));
    expect(offsets(some.values)).toEqual([1, 2, 3]);
  });

  it('emits existing updates, then new ones, once and in order, also of unknown variants', () => {
    const at = Object.fromEntries([21, 30, 31, 40].map((offset, i) => [1_000 * (i + 1), add(unknownVariant, offset)]));
    const { seen } = play({}, { updates: [3, 4, 9, 20], request: { beginExclusive: 3 }, forMs: 60_000, at });
    expect(offsets(seen.values)).toEqual([4, 9, 20, 21, 30, 31, 40]);
    expect(seen.values.map(({ _tag }) => _tag)).toContain('UnknownUpdate');
  });

  it('reads the ledger end once per catch-up, and then full pages', () => {
    const { service } = play({}, { updates: upTo(1_000), forMs: 500 });
    const paths = service.requests.map(({ path, query }) => `${path}?${query['limit'] ?? ''}`);
    const page = '/v2/updates/flats?200';
    expect(paths).toEqual([
      '/v2/state/ledger-end?',
      ...[page, page, page, page, page, page],
      '/v2/parties/participant-id?',
      '/v2/updates/flats?2',
    ]);
  });

  it('sends requests of the interface document, always with a limit, and bounded pages never with an idle timeout', () => {
    const { service } = play(
      {},
      { updates: [7], request: { beginExclusive: 2 }, options: { idleTimeoutMs: 3_000 }, forMs: 100 },
    );
    const [, page, , poll] = service.requests;
    const wildcard = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } };
    const eventFormat = { filtersByParty: { 'alice::1220ab': { cumulative: [wildcard] } }, verbose: false };
    expect(page).toMatchObject({ method: 'POST', query: { limit: '200' } });
    expect(page?.query).toEqual({ limit: '200' });
    expect(page?.body).toEqual({
      beginExclusive: 2,
      endInclusive: 7,
      descendingOrder: false,
      updateFormat: {
        includeTransactions: { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA', eventFormat },
        includeReassignments: eventFormat,
        includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: ['alice::1220ab'] } },
      },
    });
    // one element earlier, to see the last update first
    expect(poll?.query).toEqual({ limit: '2', stream_idle_timeout_ms: '3000' });
    expect(poll?.body).toMatchObject({ beginExclusive: 6, descendingOrder: false });
    expect(poll?.body).not.toHaveProperty('endInclusive');
  });

  it('moves its cursor in one request past ranges in which nothing matches, also up to an end without a ledger end', () => {
    const open = play({}, { forMs: 100, at: { 0: setEnd(1_000) } });
    expect(open.service.requests.flatMap(({ body }) => body['beginExclusive'] ?? [])).toEqual([0, 1_000]);
    const bounded = play({ hasLedgerEnd: false }, { request: { endInclusive: 1_000 }, at: { 0: setEnd(1_000) } });
    expect(bounded.seen.completed).toBe(true);
    expect(bounded.service.requests).toHaveLength(2);
  });

  it('moves its cursor on checkpoints and on unknown variants (G11)', () => {
    const at = { 1_000: add(checkpoint, 10), 2_000: add(unknownVariant, 11) };
    const { seen, service } = play({ latencyMs: 0 }, { forMs: 3_000, at });
    expect(seen.values.map(({ _tag, offset }) => [_tag, offset])).toEqual([
      ['OffsetCheckpoint', 10],
      ['UnknownUpdate', 11],
    ]);
    expect(service.requests.at(-1)?.body['beginExclusive']).toBe(11);
  });

  it('treats an empty answer as neither an end nor an error, and sends at most one request a second', () => {
    // a service that answers without waiting
    const fault = (request: Parameters<typeof isEnd>[0]) => (isEnd(request) ? ok({ offset: 0 }) : ok([]));
    const { seen, service } = play({ fault }, { forMs: 100_000 });
    expect(seen.error).toBeUndefined();
    expect(service.requests.length).toBeGreaterThan(90);
    expect(service.requests.length).toBeLessThanOrEqual(110);
  });

  it.each([
    ['without early checkpoints', {}, 40],
    ['with them', { earlyCheckpointMs: 500 }, 40],
    ['without a ledger end, and checkpoints at once', { hasLedgerEnd: false, earlyCheckpointMs: 0 }, 110],
  ])('makes few requests while idle: %s (G12)', (_, options, atMost) => {
    const { seen, service } = play(options, { forMs: 100_000 });
    expect(seen.error).toBeUndefined();
    expect(service.requests.length).toBeLessThan(atMost);
  });

  it('keeps following the ledger end while nothing matches, so that pruning does not overtake it', () => {
    const { seen, service } = play({}, { forMs: 60_000, at: { 1_000: setEnd(5_000) } });
    expect(seen.values).toEqual([]);
    expect(service.requests.at(-1)?.body['beginExclusive']).toBe(5_000);
  });

  itInVirtualTime('aborts its poll and leaves no timer when it is unsubscribed from (G24)', ({ flush }) => {
    const { service, feed } = world();
    const { subscription } = observe(feed());
    timer(2_000).subscribe(() => {
      subscription.unsubscribe();
    });
    flush(); // would never end with a timer left
    expect(service.open).toBe(0);
    expect(service.aborted).toHaveLength(1);
  });

  itInVirtualTime('sends no other request when it is unsubscribed from in the middle of a page', ({ flush }) => {
    const { ledger, service, feed } = world({ latencyMs: 5 });
    fill(ledger, ...upTo(1_000));
    const seen = observe(feed().pipe(take(3)));
    flush();
    expect(seen.completed).toBe(true);
    expect(service.requests).toHaveLength(2);
    expect(service.open).toBe(0);
  });
});

describe('a bounded feed', () => {
  it.each([
    [11, [1, 5, 10, 11]],
    [50, [1, 5, 10, 11, 12]],
  ])('completes after the last update at or below its end: %i', (endInclusive, emitted) => {
    const { seen, service } = play(
      {},
      { updates: [1, 5, 10, 11, 12], request: { endInclusive }, at: { 0: setEnd(100) } },
    );
    expect(offsets(seen.values)).toEqual(emitted);
    expect(seen.completed).toBe(true);
    expect(service.requests.every(({ query }) => !('stream_idle_timeout_ms' in query))).toBe(true);
  });

  it('waits until the ledger has reached its end', () => {
    const at = { 10_000: append(3), 20_000: append(4), 30_000: append(7) };
    const { seen } = play({}, { updates: [1, 2], request: { endInclusive: 5 }, at });
    expect(offsets(seen.values)).toEqual([1, 2, 3, 4]);
    expect(seen.completed).toBe(true);
  });

  it('completes when the ledger passes the end without an update that matches', () => {
    const { seen } = play({}, { request: { endInclusive: 5 }, at: { 10_000: setEnd(20) } });
    expect(seen).toMatchObject({ values: [], completed: true });
    expect(seen.endedAt).toBeLessThan(15_000);
  });

  it('completes at a checkpoint at its end', () => {
    const { seen, service } = play({}, { request: { endInclusive: 5 }, at: { 1_000: add(checkpoint, 9) } });
    expect(seen).toMatchObject({ values: [], completed: true });
    expect(seen.endedAt).toBeLessThan(1_100);
    expect(service.requests).toHaveLength(2);
  });

  it('completes without a request if it ends where it begins', () => {
    const { seen, service } = play({}, { request: { beginExclusive: 5, endInclusive: 5 } });
    expect(seen.completed).toBe(true);
    expect(service.requests).toEqual([]);
  });

  it('reads pages in descending order', () => {
    const request = { beginExclusive: 10, endInclusive: 900, descendingOrder: true };
    const { seen, service } = play({}, { updates: upTo(450), request, at: { 0: setEnd(1_000) } });
    expect(offsets(seen.values)).toEqual(upTo(450).slice(10).reverse());
    expect(seen.completed).toBe(true);
    expect(service.requests.every(({ body }) => body['descendingOrder'] === true)).toBe(true);
    expect(service.requests.map(({ body }) => body['endInclusive'])).toEqual([900, 250, 50]);
  });

  it('detects a ledger that answers in ascending order by more than one update', () => {
    // before 3.5 the order is ignored
    const { seen } = play(
      (its) => ({
        fault: (request) => its().ledger.reply({ ...request, body: { ...request.body, descendingOrder: false } }),
      }),
      {
        updates: [1, 2, 3],
        request: { endInclusive: 3, descendingOrder: true },
        options: { maxPageSize: 1 },
      },
    );
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'OrderError' });
  });

  it('waits for the end also in descending order', () => {
    const request = { endInclusive: 4, descendingOrder: true };
    const { seen, service } = play({}, { updates: [1, 2], request, at: { 60_000: append(4) } });
    expect(offsets(seen.values)).toEqual([4, 2, 1]);
    expect(service.requests.length).toBeLessThan(70);
  });

  it.each([
    ['upward', { endInclusive: 40_000 }],
    ['downward', { endInclusive: 40_000, descendingOrder: true }],
    ['with no end', {}],
  ])('is complete from a service that answers synchronously, however many pages: %s', (_, range) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world();
      fill(ledger, ...upTo(40_000));
      const seen = observe(feed(range).pipe(take(40_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values).sort((a, b) => a - b)).toEqual(upTo(40_000));
    });
  });
});

describe('a service with only the two operations of the interface document', () => {
  it('is read to its end and followed', () => {
    const { seen, service } = play(
      { hasLedgerEnd: false },
      { updates: upTo(10_000), forMs: 60_000, at: { 30_000: append(10_001, 10_002) } },
    );
    expect(offsets(seen.values)).toEqual(upTo(10_002));
    expect(service.requests.filter(isEnd)).toHaveLength(1);
    // 10 000 updates in pages that grow to 200
    expect(service.requests.length).toBeLessThan(100);
  });

  it.each([
    ['reached', { endInclusive: 250 }, upTo(250)],
    ['or not', { beginExclusive: 290, endInclusive: 305 }, upTo(301).slice(290)],
  ])('is read up to an end, %s', (_, request, emitted) => {
    const { seen } = play({ hasLedgerEnd: false }, { updates: upTo(300), request, at: { 20_000: append(301, 310) } });
    expect(offsets(seen.values)).toEqual(emitted);
    expect(seen.completed).toBe(true);
  });
});

describe('a page', () => {
  it('that is shorter than its limit loses nothing (G6)', () => {
    // silently sends at most 50 elements, whatever the limit
    const { seen } = play(
      (its) => ({
        fault: (request) => {
          const limit = String(Math.min(50, Number(request.query['limit'])));
          return isPage(request) ? its().ledger.reply({ ...request, query: { ...request.query, limit } }) : undefined;
        },
      }),
      { updates: upTo(500), forMs: 10_000 },
    );
    expect(offsets(seen.values)).toEqual(upTo(500));
  });

  it.each<[string, object, number | undefined, number[]]>([
    ['a range', { endInclusive: 250 }, undefined, upTo(250)],
    ['a feed without an end', {}, 30_000, upTo(302)],
  ])('that has more than the requested range loses and repeats nothing: %s', (_, request, forMs, emitted) => {
    const { seen } = play(
      (its) => ({
        // sends ten updates beyond the end, too
        fault: ({ body, ...rest }) => {
          const bound = body['endInclusive'];
          const endInclusive = typeof bound === 'number' ? Math.min(bound + 10, its().ledger.end) : bound;
          return its().ledger.reply({ ...rest, body: { ...body, endInclusive } });
        },
      }),
      // in the ledger end only after the page that it cuts
      { updates: upTo(300), request, ...(forMs !== undefined && { forMs }), at: { 6: append(301, 302) } },
    );
    expect(offsets(seen.values)).toEqual(emitted);
  });

  it('that has each of its updates twice counts each once, also the one with which a page begins as a proof', () => {
    const { seen } = play(
      (its) => ({
        fault: (request) => (isPage(request) ? its().ledger.reply(request).pipe(map(eachTwice)) : undefined),
      }),
      // one of the pages up to 5 has no update but the proof
      { updates: [1, 2], forMs: 60_000, at: { 3: setEnd(5), 20_000: append(9) } },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1, 2, 9]);
  });

  it.each([
    ['goes backwards', [transaction(5), transaction(3)]],
    ['leads nowhere', [transaction(0)]],
  ])('that %s ends the feed with an OrderError, and none of it is emitted', (_, elements) => {
    const { seen, service } = play(
      { fault: (request) => (isPage(request) ? ok(elements) : undefined) },
      { updates: [5] },
    );
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'OrderError' });
    expect(service.requests).toHaveLength(2);
  });
});

describe('an update that does not decode', () => {
  it('ends the feed by default, after everything before it, with its offset and the paths (G10)', () => {
    const { seen } = play({}, { updates: [1], at: { 0: add(invalid, 2) } });
    expect(offsets(seen.values)).toEqual([1]);
    expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 2, path: '/v2/updates/flats' });
    expect(String(seen.error)).toContain('update.Transaction.value.synchronizerId: expected string');
    expect(String(seen.error)).not.toContain('secret payload');
  });

  itInVirtualTime("is emitted with onUndecodable: 'emit', and the feed continues (G10)", ({ flush }) => {
    const its = world({ latencyMs: 5 });
    append(1)(its);
    add(invalid, 2)(its);
    const feed$ = its.client.updates({ beginExclusive: 0, updateFormat }, { onUndecodable: 'emit' });
    const seen = observe(feed$.pipe(takeUntil(timer(10_000))));
    timer(2_000).subscribe(() => {
      add(invalid, 3)(its);
    });
    timer(4_000).subscribe(() => {
      add(unknownVariant, 4)(its);
    });
    flush();
    expect(seen.values.map(({ _tag, offset }) => [_tag, offset])).toEqual([
      ['Transaction', 1],
      ['UndecodedUpdate', 2],
      ['UndecodedUpdate', 3],
      ['UnknownUpdate', 4],
    ]);
    expect(seen.error).toBeUndefined();
  });

  it.each([
    ['a transaction without a readable synchronizer', transactionWith(2, { synchronizerId: 7 })],
    ['a transaction without a readable record time', transactionWith(2, { recordTime: 7 })],
    ['a reassignment of 3.3, which names no synchronizer', reassignmentWith(2, { synchronizerId: null, events: [{}] })],
  ])('is emitted however little of it is readable: %s (G10)', (_, element) => {
    marbles(({ flush }) => {
      const its = world({ latencyMs: 5 });
      append(1)(its);
      add(() => element, 2)(its);
      append(3)(its);
      const request = { beginExclusive: 0, endInclusive: 3, updateFormat };
      const seen = observe(its.client.updates(request, { onUndecodable: 'emit' }).pipe(positions()));
      flush();
      expect(seen.error).toBeUndefined();
      expect(seen.values.map(([{ _tag, offset }, position]) => [_tag, offset, position.lastUpdate?.updateId])).toEqual([
        ['Transaction', 1, '12201'],
        ['UndecodedUpdate', 2, '12202'],
        ['Transaction', 3, '12203'],
      ]);
    });
  });

  const noOffset = { update: { Novelty: { value: { noOffset: true } } } };
  const twoVariants = { update: { A: {}, B: {} } };
  it.each([null, 'frame', 7, [], {}, { update: {} }, twoVariants, noOffset])(
    'always ends the feed if it has no offset: %j',
    (element) => {
      const service = scriptedService((request) => [ok(isEnd(request) ? { offset: 3 } : [transaction(1), element])]);
      const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const seen = observe(client.updates({ beginExclusive: 0, updateFormat }, { onUndecodable: 'emit' }));
      expect(offsets(seen.values)).toEqual([1]);
      expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
      expect(seen.error).toHaveProperty('offset', undefined);
    },
  );
});

describe('an invalid request', () => {
  const requests: readonly (readonly [string, (ledger: Ledger) => Observable<Update>])[] = [
    // @ts-expect-error -- the compiler refuses it as well
    ['both formats', (ledger) => ledger.updates({ beginExclusive: 0, updateFormat, verbose: false })],
    [
      'descending without an end',
      // @ts-expect-error -- the compiler refuses it as well
      (ledger) => ledger.updates({ beginExclusive: 0, updateFormat, descendingOrder: true }),
    ],
    // @ts-expect-error -- the compiler refuses it as well
    ['a misspelt field', (ledger) => ledger.updates({ beginExclusive: 0, updateFormt: updateFormat })],
    ['an end before the begin', (ledger) => ledger.updates({ beginExclusive: 5, endInclusive: 4, updateFormat })],
    ['a negative begin', (ledger) => ledger.updates({ beginExclusive: -1, updateFormat })],
    ['a begin beyond 2^53', (ledger) => ledger.updates({ beginExclusive: 2 ** 53, updateFormat })],
  ];

  it.each(requests)('is refused before anything is sent: %s', (_, updatesOf) => {
    const { client, service } = world();
    expect(observe(updatesOf(client)).error).toMatchObject({ _tag: 'InvalidRequestError' });
    expect(service.requests).toEqual([]);
  });

  it.each([
    { maxPageSize: 0 },
    { maxPageSize: 1.5 },
    { idleTimeoutMs: 0 },
    { idleTimeoutMs: Number.NaN },
    { parallelRanges: 0 },
    { parallelRanges: 33 },
  ])('has invalid options, which throw synchronously: %p', (options) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
    expect(() => ledger.updates({ beginExclusive: 0, updateFormat }, options)).toThrow(TypeError);
  });
});
