import { describe, expect, it } from '@jest/globals';
import { take, timer } from 'rxjs';
import { createLedger } from '../../src/ledger/createLedger.js';
import { observe, offsets } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { checkpoint, transaction } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

describe('a bounded feed', () => {
  itInVirtualTime('completes after the last update at or below its end', ({ flush }) => {
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
    expect(service.requests.every(({ query }) => !('stream_idle_timeout_ms' in query))).toBe(true);
  });

  itInVirtualTime('waits until the ledger has reached its end', ({ flush }) => {
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

  itInVirtualTime('completes when the ledger passes the end without an update that matches', ({ flush }) => {
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

  itInVirtualTime('completes at a checkpoint at its end', ({ flush }) => {
    const { ledger, feed, service } = world({ latencyMs: 5 });
    const seen = observe(feed({ endInclusive: 5 }));
    timer(1_000).subscribe(() => {
      ledger.append(9, checkpoint(9));
    });
    flush();
    expect(seen.values).toEqual([]);
    expect(seen.completed).toBe(true);
    expect(seen.endedAt).toBeLessThan(1_100);
    expect(service.requests).toHaveLength(2);
  });

  itInVirtualTime('completes without a request if it ends where it begins', ({ flush }) => {
    const { service, feed } = world();
    const seen = observe(feed({ beginExclusive: 5, endInclusive: 5 }));
    flush();
    expect(seen.completed).toBe(true);
    expect(service.requests).toEqual([]);
  });

  itInVirtualTime('reads pages in descending order', ({ flush }) => {
    const { ledger, service, feed } = world({ latencyMs: 5 });
    fill(ledger, ...upTo(450));
    ledger.end = 1_000;
    const seen = observe(feed({ beginExclusive: 10, endInclusive: 900, descendingOrder: true }));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(450).slice(10).reverse());
    expect(seen.completed).toBe(true);
    expect(service.requests.every(({ body }) => body['descendingOrder'] === true)).toBe(true);
    expect(service.requests.map(({ body }) => body['endInclusive'])).toEqual([900, 250, 50]);
  });

  itInVirtualTime('detects a ledger that answers in ascending order by more than one update', ({ flush }) => {
    // before 3.5 the order is ignored
    const { ledger, service } = world({ latencyMs: 5 });
    fill(ledger, 1, 2, 3);
    const upward = scriptedService((request) =>
      ledger.reply({ ...request, body: { ...request.body, descendingOrder: false } }),
    );
    const client = createLedger({ baseUrl: 'http://ledger.example', port: upward.port });
    const seen = observe(
      client.updates({ beginExclusive: 0, endInclusive: 3, descendingOrder: true, updateFormat }, { maxPageSize: 1 }),
    );
    flush();
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'OrderError' });
    expect(service.requests).toEqual([]);
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

  itInVirtualTime('waits for the end also in descending order', ({ flush }) => {
    const { ledger, service, feed } = world({ latencyMs: 5 });
    fill(ledger, 1, 2);
    const seen = observe(feed({ endInclusive: 4, descendingOrder: true }));
    timer(60_000).subscribe(() => {
      ledger.append(4, transaction(4));
    });
    flush();
    expect(offsets(seen.values)).toEqual([4, 2, 1]);
    expect(service.requests.length).toBeLessThan(70);
  });
});
