import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { type VirtualOptions } from '../helpers/virtualLedger.js';
import { upTo, world } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

describe('the live path', () => {
  const latencies = (options: VirtualOptions, everyMs: number, count: number, idleTimeoutMs = 5_000): number[] => {
    const all: number[] = [];
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 10, ...options });
      const appendedAt = new Map<number, number>();
      const seen = observe(feed({}, { idleTimeoutMs }).pipe(takeUntil(timer(everyMs * (count + 1) + 10_000))));
      for (const i of upTo(count)) {
        // out of step with the requests of the feed
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
  ])('delivers an update at once from a service without early checkpoints: %s', (_, everyMs) => {
    const all = latencies({}, everyMs, 50);
    expect(all).toHaveLength(50);
    // at worst it comes while the feed catches up with the one before
    expect(all.at(-1)).toBeLessThanOrEqual(50);
    expect(all[25]).toBeLessThanOrEqual(30);
  });

  it.each([
    ['rarely', 7_001],
    ['every second', 1_103],
    ['three times a second', 337],
  ])('delivers an update within 600 ms from a service with early checkpoints, most at once: %s', (_, everyMs) => {
    const all = latencies({ earlyCheckpointMs: 500 }, everyMs, 50);
    expect(all).toHaveLength(50);
    expect(all.at(-1)).toBeLessThanOrEqual(600);
    expect(all[25]).toBeLessThanOrEqual(30);
  });

  itInVirtualTime('delivers an update soon after another from a service with only the two operations', ({ flush }) => {
    const { ledger, feed } = world({ hasLedgerEnd: false, latencyMs: 1 });
    const seen = observe(feed().pipe(takeUntil(timer(60_000))));
    // the second comes during a poll with a higher limit, after a prompt answer
    const at = [10_000, 10_010, 12_000, 20_000, 20_005, 20_011, 25_000];
    for (const [i, time] of at.entries())
      timer(time).subscribe(() => {
        ledger.append(i + 1, transaction(i + 1));
      });
    flush();
    expect(offsets(seen.values)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (const [i, time] of at.entries()) expect((seen.times[i] ?? Infinity) - time).toBeLessThan(100);
  });

  it('delivers an update in time from a service with only the two operations', () => {
    const all = latencies({ hasLedgerEnd: false }, 1_003, 50);
    expect(all).toHaveLength(50);
    expect(all[25]).toBeLessThanOrEqual(30);
    expect(all.at(-1)).toBeLessThanOrEqual(600);
  });

  it('delivers an update within 600 ms from a service with only the two operations and early checkpoints', () => {
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
