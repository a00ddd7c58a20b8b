import { describe, expect, it } from '@jest/globals';
import { NEVER, take, takeUntil, timer } from 'rxjs';
import { createLedger } from '../../src/ledger/createLedger.js';
import { observe, offsets } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { checkpoint, unknownVariant, ok } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

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

  itInVirtualTime('emits existing updates, then new ones, once and in order', ({ flush }) => {
    const { ledger, feed } = world({ latencyMs: 5 });
    fill(ledger, 3, 4, 9, 20);
    const seen = observe(feed({ beginExclusive: 3 }).pipe(takeUntil(timer(60_000))));
    for (const [i, offset] of [21, 30, 31, 40].entries())
      timer(1_000 * (i + 1)).subscribe(() => {
        ledger.append(offset, unknownVariant(offset));
      });
    flush();
    expect(offsets(seen.values)).toEqual([4, 9, 20, 21, 30, 31, 40]);
    expect(seen.values.map(({ _tag }) => _tag)).toContain('UnknownUpdate');
  });

  itInVirtualTime('reads the ledger end once per catch-up, and then full pages', ({ flush }) => {
    const { ledger, service, feed } = world({ latencyMs: 5 });
    fill(ledger, ...upTo(1_000));
    observe(feed().pipe(takeUntil(timer(500))));
    flush();
    const paths = service.requests.map(({ path, query }) => `${path}?${query['limit'] ?? ''}`);
    const page = '/v2/updates/flats?200';
    expect(paths).toEqual(['/v2/state/ledger-end?', ...[page, page, page, page, page], '/v2/updates/flats?1']);
  });

  itInVirtualTime(
    'sends requests of the interface document, always with a limit, and bounded pages never with an idle timeout',
    ({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, 7);
      observe(feed({ beginExclusive: 2 }, { idleTimeoutMs: 3_000 }).pipe(takeUntil(timer(100))));
      flush();
      const [, page, poll] = service.requests;
      expect(page).toMatchObject({ method: 'POST', query: { limit: '200' } });
      expect(page?.query).toEqual({ limit: '200' });
      expect(page?.body).toEqual({
        beginExclusive: 2,
        endInclusive: 7,
        descendingOrder: false,
        updateFormat: {
          includeTransactions: {
            transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
            eventFormat: {
              filtersByParty: {
                'alice::1220ab': {
                  cumulative: [{ identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } }],
                },
              },
              verbose: false,
            },
          },
          includeReassignments: {
            filtersByParty: {
              'alice::1220ab': {
                cumulative: [{ identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } }],
              },
            },
            verbose: false,
          },
          includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: ['alice::1220ab'] } },
        },
      });
      expect(poll?.query).toEqual({ limit: '1', stream_idle_timeout_ms: '3000' });
      expect(poll?.body).toMatchObject({ beginExclusive: 7, descendingOrder: false });
      expect(poll?.body).not.toHaveProperty('endInclusive');
    },
  );

  itInVirtualTime(
    'moves its cursor in one request past ranges in which nothing matches, also up to an end without a ledger end',
    ({ flush }) => {
      const [open, bounded] = [world(), world({ hasLedgerEnd: false })];
      for (const { ledger } of [open, bounded]) ledger.end = 1_000;
      observe(open.feed().pipe(takeUntil(timer(100))));
      const seen = observe(bounded.feed({ endInclusive: 1_000 }));
      flush();
      expect(open.service.requests.flatMap(({ body }) => body['beginExclusive'] ?? [])).toEqual([0, 1_000]);
      expect(seen.completed).toBe(true);
      expect(bounded.service.requests).toHaveLength(2);
    },
  );

  itInVirtualTime('moves its cursor on checkpoints and on unknown variants (G11)', ({ flush }) => {
    const { ledger, service, feed } = world();
    const seen = observe(feed().pipe(takeUntil(timer(3_000))));
    timer(1_000).subscribe(() => {
      ledger.append(10, checkpoint(10));
    });
    timer(2_000).subscribe(() => {
      ledger.append(11, unknownVariant(11));
    });
    flush();
    expect(seen.values.map(({ _tag, offset }) => [_tag, offset])).toEqual([
      ['OffsetCheckpoint', 10],
      ['UnknownUpdate', 11],
    ]);
    expect(service.requests.at(-1)?.body['beginExclusive']).toBe(11);
  });

  itInVirtualTime(
    'treats an empty answer as neither an end nor an error, and sends at most one request a second',
    ({ flush }) => {
      // a service that answers without waiting
      const service = scriptedService(({ path }) => [path.endsWith('ledger-end') ? ok({ offset: 0 }) : ok([])]);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const seen = observe(ledger.updates({ beginExclusive: 0, updateFormat }).pipe(takeUntil(timer(100_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(service.requests.length).toBeGreaterThan(90);
      expect(service.requests.length).toBeLessThanOrEqual(110);
    },
  );

  it.each([undefined, 500])(
    'makes less than one request a second while idle, with checkpoints after %p ms (G12)',
    (earlyCheckpointMs) => {
      marbles(({ flush }) => {
        const { service, feed } = world({
          latencyMs: 5,
          ...(earlyCheckpointMs !== undefined && { earlyCheckpointMs }),
        });
        const seen = observe(feed().pipe(takeUntil(timer(100_000))));
        flush();
        expect(seen.error).toBeUndefined();
        expect(service.requests.length).toBeLessThan(40);
      });
    },
  );

  itInVirtualTime(
    'keeps following the ledger end while nothing matches, so that pruning does not overtake it',
    ({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(1_000).subscribe(() => {
        ledger.end = 5_000;
      });
      flush();
      expect(seen.values).toEqual([]);
      expect(service.requests.at(-1)?.body['beginExclusive']).toBe(5_000);
    },
  );

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

describe('a service with only the two operations of the interface document', () => {
  itInVirtualTime('is read to its end and followed', ({ flush }) => {
    const { ledger, service, feed } = world({ hasLedgerEnd: false, latencyMs: 5 });
    fill(ledger, ...upTo(10_000));
    const seen = observe(feed().pipe(takeUntil(timer(60_000))));
    timer(30_000).subscribe(() => {
      fill(ledger, 10_001, 10_002);
    });
    flush();
    expect(offsets(seen.values)).toEqual(upTo(10_002));
    expect(service.requests.filter(({ path }) => path.endsWith('ledger-end'))).toHaveLength(1);
    // 10 000 updates in pages that grow to 200
    expect(service.requests.length).toBeLessThan(100);
  });

  itInVirtualTime('is read up to an end, reached or not', ({ flush }) => {
    const { ledger, feed } = world({ hasLedgerEnd: false, latencyMs: 5 });
    fill(ledger, ...upTo(300));
    const past = observe(feed({ endInclusive: 250 }));
    const future = observe(feed({ beginExclusive: 290, endInclusive: 305 }));
    timer(20_000).subscribe(() => {
      fill(ledger, 301, 310);
    });
    flush();
    expect(offsets(past.values)).toEqual(upTo(250));
    expect(past.completed).toBe(true);
    expect(offsets(future.values)).toEqual([291, 292, 293, 294, 295, 296, 297, 298, 299, 300, 301]);
    expect(future.completed).toBe(true);
  });

  itInVirtualTime('gets few requests while it is idle', ({ flush }) => {
    const { service, feed } = world({ hasLedgerEnd: false, earlyCheckpointMs: 0 });
    observe(feed().pipe(takeUntil(timer(100_000))));
    flush();
    expect(service.requests.length).toBeLessThan(110);
  });
});

describe('a page', () => {
  itInVirtualTime('that is shorter than its limit loses nothing (G6)', ({ flush }) => {
    const ledger = new VirtualLedger({ latencyMs: 5 });
    fill(ledger, ...upTo(500));
    // silently sends at most 50 elements, whatever the limit
    const service = scriptedService((request) =>
      ledger.reply({
        ...request,
        query: { ...request.query, limit: String(Math.min(50, Number(request.query['limit']))) },
      }),
    );
    const feed$ = createLedger({ baseUrl: 'http://ledger.example', port: service.port }).updates({
      beginExclusive: 0,
      updateFormat,
    });
    const seen = observe(feed$.pipe(takeUntil(timer(10_000))));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(500));
  });
});

describe('a service that sends more than the requested range', () => {
  itInVirtualTime('is ignored beyond the range, and nothing is lost or repeated', ({ flush }) => {
    const ledger = new VirtualLedger({ latencyMs: 5 });
    fill(ledger, ...upTo(300));
    // sends ten updates beyond the end, too
    const service = scriptedService(({ body, ...request }) => {
      const bound = body['endInclusive'];
      const endInclusive = typeof bound === 'number' ? Math.min(bound + 10, ledger.end) : bound;
      return ledger.reply({ ...request, body: { ...body, endInclusive } });
    });
    const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const bounded = observe(client.updates({ beginExclusive: 0, endInclusive: 250, updateFormat }));
    const open = observe(client.updates({ beginExclusive: 0, updateFormat }).pipe(takeUntil(timer(30_000))));
    // in the ledger end only after the page that it cuts
    timer(6).subscribe(() => {
      fill(ledger, 301, 302);
    });
    flush();
    expect(offsets(bounded.values)).toEqual(upTo(250));
    expect(offsets(open.values)).toEqual(upTo(302));
  });
});

describe('options', () => {
  it.each([
    { maxPageSize: 0 },
    { maxPageSize: 1.5 },
    { idleTimeoutMs: 0 },
    { idleTimeoutMs: Number.NaN },
    { parallelRanges: 0 },
    { parallelRanges: 33 },
  ])('that are invalid throw synchronously: %p', (options) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
    expect(() => ledger.updates({ beginExclusive: 0, updateFormat }, options)).toThrow(TypeError);
  });
});
