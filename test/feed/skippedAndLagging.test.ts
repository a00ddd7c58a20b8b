import { expect, it } from '@jest/globals';
import { timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { transactionWith } from '../helpers/wire.js';
import { world } from '../helpers/world.js';

/** An update of one of two synchronizers, in turn. */
const element = (offset: number): object =>
  transactionWith(offset, {
    updateId: `1220${offset}`,
    synchronizerId: `sync${offset % 2}::1220ab`,
    recordTime: new Date(offset * 1_000).toISOString(),
  });

it.each([5, 6, 7, 8])('what onGap has skipped is no gap when the participant lags: at %d of 9', (laggingEnd) => {
  marbles(({ flush }) => {
    let isDown = false;
    let isLagging = false;
    const { ledger, feed } = world({
      participantId: 'first::1220',
      latencyMs: 5,
      fault: (request) => {
        if (isDown) return new Error('reset');
        return isLagging ? ledger.reply(request, laggingEnd) : undefined;
      },
    });
    const append = (...all: readonly number[]): void => {
      for (const offset of all) ledger.append(offset, element(offset));
    };
    const gaps: number[] = [];
    append(1, 2);
    const seen = observe(
      feed(
        {},
        {
          onGap: ({ cursor }) => {
            gaps.push(cursor);
            return [ledger.end];
          },
        },
      ),
    );
    timer(10_000).subscribe(() => {
      isDown = true;
    });
    // all of the first synchronizer that was read is pruned, and so is some of it that was not; after a short outage, so that the
    // feed is back before the next update
    timer(11_000).subscribe(() => {
      isDown = false;
      append(3, 4, 5, 6);
      ledger.pruned = 4;
    });
    timer(30_000).subscribe(() => {
      append(8);
      ledger.end = 9;
    });
    timer(40_000).subscribe(() => {
      ledger.disconnect();
      isLagging = true;
    });
    timer(50_000).subscribe(() => {
      isLagging = false;
      append(10, 11);
    });
    timer(90_000).subscribe(() => {
      seen.subscription.unsubscribe();
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(gaps).toEqual([2]);
    expect(offsets(seen.values)).toEqual([1, 2, 8, 10, 11]);
  });
});
