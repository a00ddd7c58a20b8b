import { describe, expect, it } from '@jest/globals';
import { NEVER, take, takeUntil, timer } from 'rxjs';
import { createLedger } from '../../src/ledger/createLedger.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { ok, scripted, type Scripted } from '../helpers/scripted.js';
import { VirtualLedger, type VirtualOptions } from '../helpers/virtualLedger.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { checkpoint, novelty, transaction } from '../helpers/wire.js';

describe('an open-ended feed', () => {
  it('sends nothing before it is subscribed, and each subscription is its own', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(500));
      const feed$ = feed();
      expect(service.asked).toEqual([]);
      const all = observe(feed$.pipe(takeUntil(timer(1_000))));
      const some = observe(feed$.pipe(take(3)));
      flush();
      expect(offsets(all.values)).toEqual(upTo(500));
      expect(offsets(some.values)).toEqual([1, 2, 3]);
    });
  });

  it('emits what there is, then what comes, once and in order', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, 3, 4, 9, 20);
      const seen = observe(feed({ beginExclusive: 3 }).pipe(takeUntil(timer(60_000))));
      for (const [i, offset] of [21, 30, 31, 40].entries())
        timer(1_000 * (i + 1)).subscribe(() => {
          ledger.append(offset, novelty(offset));
        });
      flush();
      expect(offsets(seen.values)).toEqual([4, 9, 20, 21, 30, 31, 40]);
      expect(seen.values.map(({ _tag }) => _tag)).toContain('UnknownUpdate');
    });
  });

  it('reads the ledger end once per catch-up, and then full pages', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(1_000));
      observe(feed().pipe(takeUntil(timer(500))));
      flush();
      const paths = service.asked.map(({ path, query }) => `${path}?${query['limit'] ?? ''}`);
      const page = '/v2/updates/flats?200';
      expect(paths).toEqual(['/v2/state/ledger-end?', ...[page, page, page, page, page], '/v2/updates/flats?1']);
    });
  });

  it('asks in the words of the interface document, always with a limit and never with an idle timeout for a bounded page', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, 7);
      observe(feed({ beginExclusive: 2 }, { idleTimeoutMs: 3_000 }).pipe(takeUntil(timer(100))));
      flush();
      const [, page, poll] = service.asked;
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
    });
  });

  it('moves its cursor past ranges in which nothing matches', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, 5);
      ledger.end = 1_000;
      observe(feed().pipe(takeUntil(timer(100))));
      flush();
      expect(service.asked.at(-1)?.body['beginExclusive']).toBe(1_000);
    });
  });

  it('moves its cursor on checkpoints and on variants that it does not know', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      const seen = observe(feed().pipe(takeUntil(timer(3_000))));
      timer(1_000).subscribe(() => {
        ledger.append(10, checkpoint(10));
      });
      timer(2_000).subscribe(() => {
        ledger.append(11, novelty(11));
      });
      flush();
      expect(seen.values.map(({ _tag, offset }) => [_tag, offset])).toEqual([
        ['OffsetCheckpoint', 10],
        ['UnknownUpdate', 11],
      ]);
      expect(service.asked.at(-1)?.body['beginExclusive']).toBe(11);
    });
  });

  it('takes an empty answer for neither an end nor an error, and makes at most one request a second of it', () => {
    marbles(({ flush }) => {
      // a service that does not wait at all
      const service = scripted(({ path }) => [path.endsWith('ledger-end') ? ok({ offset: 0 }) : ok([])]);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const seen = observe(ledger.updates({ beginExclusive: 0, updateFormat }).pipe(takeUntil(timer(100_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(service.asked.length).toBeGreaterThan(90);
      expect(service.asked.length).toBeLessThanOrEqual(110);
    });
  });

  it.each([undefined, 500])(
    'makes less than one request a second while idle, with checkpoints after %p ms',
    (earlyCheckpointMs) => {
      marbles(({ flush }) => {
        const { service, feed } = world({
          latencyMs: 5,
          ...(earlyCheckpointMs !== undefined && { earlyCheckpointMs }),
        });
        const seen = observe(feed().pipe(takeUntil(timer(100_000))));
        flush();
        expect(seen.error).toBeUndefined();
        expect(service.asked.length).toBeLessThan(40);
      });
    },
  );

  it('keeps following the ledger end while nothing matches, so that pruning does not overtake it', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(1_000).subscribe(() => {
        ledger.end = 5_000;
      });
      flush();
      expect(seen.values).toEqual([]);
      expect(service.asked.at(-1)?.body['beginExclusive']).toBe(5_000);
    });
  });

  it('aborts the request in flight and leaves no timer when it is unsubscribed in a poll', () => {
    marbles(({ flush }) => {
      const { service, feed } = world();
      const { subscription } = observe(feed());
      timer(2_000).subscribe(() => {
        subscription.unsubscribe();
      });
      flush(); // would never end with a timer left
      expect(service.open).toBe(0);
      expect(service.aborted).toHaveLength(1);
    });
  });

  it('asks for nothing more when it is unsubscribed in the middle of a page', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed().pipe(take(3)));
      flush();
      expect(seen.completed).toBe(true);
      expect(service.asked).toHaveLength(2);
      expect(service.open).toBe(0);
    });
  });

  it('has one request in flight at most where it is to read one range at a time', () => {
    marbles(({ flush }) => {
      let most = 0;
      const ledger = new VirtualLedger({ latencyMs: 10 });
      fill(ledger, ...upTo(1_000));
      const service: Scripted = scripted((asked) => {
        most = Math.max(most, service.open);
        return ledger.answer(asked);
      });
      observe(
        createLedger({ baseUrl: 'http://ledger.example', port: service.port })
          .updates({ beginExclusive: 0, updateFormat }, { parallelRanges: 1 })
          .pipe(takeUntil(timer(10_000))),
      );
      flush();
      expect(most).toBe(1);
    });
  });
});

describe('the live path', () => {
  const latencies = (options: VirtualOptions, everyMs: number, count: number, idleTimeoutMs = 5_000): number[] => {
    const all: number[] = [];
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 10, ...options });
      const appendedAt = new Map<number, number>();
      const seen = observe(feed({}, { idleTimeoutMs }).pipe(takeUntil(timer(everyMs * (count + 1) + 10_000))));
      for (const i of upTo(count)) {
        // not in step with anything that the feed does
        const at = 3_000 + everyMs * i + ((i * 7_919) % everyMs);
        timer(at).subscribe(() => {
          appendedAt.set(i, at);
          ledger.append(i, transaction(i));
        });
      }
      flush();
      const updates = seen.values.map((update, i) => ({ ...update, at: seen.times[i] ?? Infinity }));
      for (const { _tag, offset, at } of updates)
        if (_tag === 'Transaction') all.push(at - (appendedAt.get(offset) ?? Infinity));
    });
    return all.sort((a, b) => a - b);
  };

  it.each([
    ['rarely', 7_001],
    ['every second', 1_003],
    ['ten times a second', 101],
  ])('brings an update at once from a service without early checkpoints: %s', (_, everyMs) => {
    const all = latencies({}, everyMs, 50);
    expect(all).toHaveLength(50);
    // at worst it comes while the last one is still being caught up
    expect(all.at(-1)).toBeLessThanOrEqual(50);
    expect(all[25]).toBeLessThanOrEqual(30);
  });

  it.each([
    ['rarely', 7_001],
    ['every second', 1_103],
    ['three times a second', 337],
  ])('brings an update within 600 ms from a service with early checkpoints, most at once: %s', (_, everyMs) => {
    const all = latencies({ earlyCheckpointMs: 500 }, everyMs, 50);
    expect(all).toHaveLength(50);
    expect(all.at(-1)).toBeLessThanOrEqual(600);
    expect(all[25]).toBeLessThanOrEqual(30);
  });

  it('brings an update soon after another from a service that knows the two operations alone', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ hasLedgerEnd: false, latencyMs: 1 });
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      // the second comes while the feed, after a prompt answer, asks for more than one
      const at = [10_000, 10_010, 12_000, 20_000, 20_005, 20_011, 25_000];
      for (const [i, time] of at.entries())
        timer(time).subscribe(() => {
          ledger.append(i + 1, transaction(i + 1));
        });
      flush();
      expect(offsets(seen.values)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      for (const [i, time] of at.entries()) expect((seen.times[i] ?? Infinity) - time).toBeLessThan(100);
    });
  });

  it('brings an update in time from a service that knows the two operations alone', () => {
    const all = latencies({ hasLedgerEnd: false }, 1_003, 50);
    expect(all).toHaveLength(50);
    expect(all[25]).toBeLessThanOrEqual(30);
    expect(all.at(-1)).toBeLessThanOrEqual(600);
  });

  it('brings an update within 600 ms from a service that knows the two operations alone and sends checkpoints early', () => {
    const all = latencies({ hasLedgerEnd: false, earlyCheckpointMs: 500, latencyMs: 1 }, 1_003, 100);
    expect(all).toHaveLength(100);
    expect(all.at(-1)).toBeLessThanOrEqual(600);
  });

  it('keeps up with 500 updates a second', () => {
    const all = latencies({}, 2, 5_000);
    expect(all).toHaveLength(5_000);
    expect(all[4_950]).toBeLessThan(250);
  });
});

describe('a bounded feed', () => {
  it('completes after the last update at or below its end', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, 1, 5, 10, 11, 12);
      ledger.end = 100;
      const seen = observe(feed({ endInclusive: 11 }));
      const gap = observe(feed({ endInclusive: 50 }));
      flush();
      expect(offsets(seen.values)).toEqual([1, 5, 10, 11]);
      expect(seen.completed).toBe(true);
      expect(offsets(gap.values)).toEqual([1, 5, 10, 11, 12]);
      expect(gap.completed).toBe(true);
      expect(service.asked.every(({ query }) => !('stream_idle_timeout_ms' in query))).toBe(true);
    });
  });

  it('waits for an end that the ledger has not reached yet', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, 1, 2);
      const seen = observe(feed({ endInclusive: 5 }));
      for (const [i, offset] of [3, 4, 7].entries())
        timer(10_000 * (i + 1)).subscribe(() => {
          ledger.append(offset, transaction(offset));
        });
      flush();
      expect(offsets(seen.values)).toEqual([1, 2, 3, 4]);
      expect(seen.completed).toBe(true);
    });
  });

  it('completes when the ledger passes the end without an update that matches', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      const seen = observe(feed({ endInclusive: 5 }));
      timer(10_000).subscribe(() => {
        ledger.end = 20;
      });
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.completed).toBe(true);
      expect(seen.endedAt).toBeLessThan(15_000);
    });
  });

  it('completes at a checkpoint that has reached the end', () => {
    marbles(({ flush }) => {
      const { ledger, feed, service } = world({ latencyMs: 5 });
      const seen = observe(feed({ endInclusive: 5 }));
      timer(1_000).subscribe(() => {
        ledger.append(9, checkpoint(9));
      });
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.completed).toBe(true);
      expect(seen.endedAt).toBeLessThan(1_100);
      expect(service.asked).toHaveLength(2);
    });
  });

  it('completes empty without a request when it ends where it begins', () => {
    marbles(({ flush }) => {
      const { service, feed } = world();
      const seen = observe(feed({ beginExclusive: 5, endInclusive: 5 }));
      flush();
      expect(seen.completed).toBe(true);
      expect(service.asked).toEqual([]);
    });
  });

  it('pages downward in descending order', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(450));
      ledger.end = 1_000;
      const seen = observe(feed({ beginExclusive: 10, endInclusive: 900, descendingOrder: true }));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(450).slice(10).reverse());
      expect(seen.completed).toBe(true);
      expect(service.asked.every(({ body }) => body['descendingOrder'] === true)).toBe(true);
      expect(service.asked.map(({ body }) => body['endInclusive'])).toEqual([900, 250, 50]);
    });
  });

  it('does not take the one update of a ledger that answers upward for the last', () => {
    marbles(({ flush }) => {
      // before 3.5 the order is not known
      const { ledger, service } = world({ latencyMs: 5 });
      fill(ledger, 1, 2, 3);
      const upward = scripted((asked) => ledger.answer({ ...asked, body: { ...asked.body, descendingOrder: false } }));
      const client = createLedger({ baseUrl: 'http://ledger.example', port: upward.port });
      const seen = observe(
        client.updates({ beginExclusive: 0, endInclusive: 3, descendingOrder: true, updateFormat }, { maxPageSize: 1 }),
      );
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.error).toMatchObject({ _tag: 'OrderError' });
      expect(service.asked).toEqual([]);
    });
  });

  it.each([
    ['upward', { endInclusive: 40_000 }],
    ['downward', { endInclusive: 40_000, descendingOrder: true }],
    ['with no end', {}],
  ])('is read whole from a service whose answers are there at once, however many: %s', (_, range) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world();
      fill(ledger, ...upTo(40_000));
      const seen = observe(feed(range).pipe(take(40_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values).sort((a, b) => a - b)).toEqual(upTo(40_000));
    });
  });

  it('waits for the end in descending order too', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, 1, 2);
      const seen = observe(feed({ endInclusive: 4, descendingOrder: true }));
      timer(60_000).subscribe(() => {
        ledger.append(4, transaction(4));
      });
      flush();
      expect(offsets(seen.values)).toEqual([4, 2, 1]);
      expect(service.asked.length).toBeLessThan(70);
    });
  });
});

describe('a service that knows the two operations of the interface document alone', () => {
  it('is read to its end and followed', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ hasLedgerEnd: false, latencyMs: 5 });
      fill(ledger, ...upTo(10_000));
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(30_000).subscribe(() => {
        fill(ledger, 10_001, 10_002);
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(10_002));
      expect(service.asked.filter(({ path }) => path.endsWith('ledger-end'))).toHaveLength(1);
      // 10 000 updates in pages that grow to 200
      expect(service.asked.length).toBeLessThan(100);
    });
  });

  it('is read up to a bound, reached or not', () => {
    marbles(({ flush }) => {
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
  });

  it('is not asked in a loop while it is idle', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ hasLedgerEnd: false, earlyCheckpointMs: 0 });
      observe(feed().pipe(takeUntil(timer(100_000))));
      flush();
      expect(service.asked.length).toBeLessThan(110);
    });
  });
});

describe('a page', () => {
  it('that a service cut short of its limit loses nothing', () => {
    marbles(({ flush }) => {
      const ledger = new VirtualLedger({ latencyMs: 5 });
      fill(ledger, ...upTo(500));
      // sends 50 at the most, whatever it is asked for, and says nothing
      const service = scripted((asked) =>
        ledger.answer({
          ...asked,
          query: { ...asked.query, limit: String(Math.min(50, Number(asked.query['limit']))) },
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
});

describe('a service that sends more than it was asked for', () => {
  it('is not believed beyond the range, and nothing is lost or repeated', () => {
    marbles(({ flush }) => {
      const ledger = new VirtualLedger({ latencyMs: 5 });
      fill(ledger, ...upTo(300));
      // ten updates beyond the bound come too
      const service = scripted(({ body, ...asked }) => {
        const bound = body['endInclusive'];
        const endInclusive = typeof bound === 'number' ? Math.min(bound + 10, ledger.end) : bound;
        return ledger.answer({ ...asked, body: { ...body, endInclusive } });
      });
      const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const bounded = observe(client.updates({ beginExclusive: 0, endInclusive: 250, updateFormat }));
      const open = observe(client.updates({ beginExclusive: 0, updateFormat }).pipe(takeUntil(timer(30_000))));
      // known to the ledger end only after the page that is cut by it
      timer(6).subscribe(() => {
        fill(ledger, 301, 302);
      });
      flush();
      expect(offsets(bounded.values)).toEqual(upTo(250));
      expect(offsets(open.values)).toEqual(upTo(302));
    });
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
  ])('that make no sense throw at once: %p', (options) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
    expect(() => ledger.updates({ beginExclusive: 0 }, options)).toThrow(TypeError);
  });
});
