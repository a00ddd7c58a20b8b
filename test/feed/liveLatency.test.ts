import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import { effort } from '../helpers/effort.js';
import { observe, offsets } from '../helpers/observe.js';
import { type VirtualOptions } from '../helpers/virtualLedger.js';
import { upTo, world } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

describe('the live path', () => {
  /** The delays of updates, in ascending order. On a busy ledger, there are updates that the request does not select. */
  const latencies = (options: VirtualOptions, everyMs: number, count: number, isBusy = false): number[] => {
    const all: number[] = [];
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 10, ...options });
      const appendedAt = new Map<number, number>();
      if (isBusy)
        timer(0, 1_000)
          .pipe(takeUntil(timer(everyMs * (count + 1))))
          .subscribe(() => (ledger.end += 1));
      const seen = observe(feed().pipe(takeUntil(timer(everyMs * (count + 1) + 10_000))));
      for (const n of upTo(count)) {
        const i = isBusy ? n * 100 : n;
        // out of step with the requests of the feed
        const at = 3_000 + everyMs * n + ((n * 7_919) % everyMs);
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

  // whatever the moment: a participant with a cache of checkpoints sends one within milliseconds of a request
  it.each([1, 6, 50, 250, 499, 580, 620, 800, 999, 1_001, 3_000])(
    'delivers an update within 600 ms if each poll gets a checkpoint after %d ms',
    (earlyCheckpointMs) => {
      for (const everyMs of [1_103, 7_001]) {
        const all = latencies({ earlyCheckpointMs }, everyMs, 30);
        expect(all).toHaveLength(30);
        expect(all.at(-1)).toBeLessThanOrEqual(620);
      }
    },
  );

  it.each([1, 6, 300, 590])(
    'leaves no gap after the checkpoint of a participant that sends one after %d ms if it has news, every 15 seconds',
    (earlyMs) => {
      let [cached, reads] = [-1, 0];
      const earlyCheckpointMs = (begin: number): number | undefined => {
        const now = Math.floor(asyncScheduler.now() / 15_000);
        if (now > cached) [cached, reads] = [now, 0];
        // only the first poll after each refresh, with the offset of other updates
        return (reads += 1) === 1 && begin > 0 ? earlyMs : undefined;
      };
      const all = latencies({ earlyCheckpointMs }, 7_001, 60, true);
      expect(all).toHaveLength(60);
      expect(all.at(-1)).toBeLessThanOrEqual(60);
    },
  );

  it('delivers an update within 600 ms if a poll gets a checkpoint now and then, even one without news', () => {
    let polls = 0;
    const all = latencies({ earlyCheckpointMs: () => ((polls += 1) % 3 === 0 ? 6 : undefined) }, 7_001, 60);
    expect(all).toHaveLength(60);
    expect(all.at(-1)).toBeLessThanOrEqual(600);
    expect(all[30]).toBeLessThanOrEqual(30);
  });

  it('delivers an update within 1220 ms, whichever polls get a checkpoint, and when', () => {
    // after more than five checkpoints in a row, a request may wait longer for the next one
    const isShort = (each: readonly (number | null)[]): boolean =>
      !each.includes(null) || !/\d{6}/.test([...each, ...each].map((moment) => (moment === null ? '-' : '1')).join(''));
    const moments = fc
      .array(fc.option(fc.integer({ min: 1, max: 1_200 })), { minLength: 1, maxLength: 12 })
      .filter(isShort);
    fc.assert(
      fc.property(moments, (each) => {
        let polls = 0;
        const earlyCheckpointMs = (): number | undefined => each[(polls += 1) % each.length] ?? undefined;
        const all = latencies({ earlyCheckpointMs }, 2_003, 20);
        expect(all).toHaveLength(20);
        // the poll may have to wait for its turn, or waits for a checkpoint that comes late or not at all
        expect(all.at(-1)).toBeLessThanOrEqual(1_220);
      }),
      { numRuns: effort(10, 1_000) },
    );
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
