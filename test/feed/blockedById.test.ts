import { expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import type { Entry } from '../helpers/virtualLedger.js';
import { errorReply, transactionWith } from '../helpers/wire.js';
import { updateFormat, upTo, world } from '../helpers/world.js';

/** The update with a number, which every participant has, at an offset of one of them. */
const at = (offset: number, n: number, synchronizerId = 'one::1220'): Entry => {
  const recordTime = new Date(Date.UTC(2026, 6, 24) + n).toISOString();
  return {
    offset,
    element: transactionWith(offset, { synchronizerId, updateId: `update${n}`, recordTime }),
  };
};

/** A ledger behind a gateway that blocks the path by ID from some time on. */
function blockable(status: number) {
  let isBlocked = false;
  const given = world({
    participantId: 'first::1220',
    latencyMs: 5,
    fault: ({ path }) =>
      isBlocked && path.endsWith('/update-by-id') ? errorReply(status, '<html>blocked</html>') : undefined,
  });
  return { ...given, block: () => (isBlocked = true) };
}

it.each([401, 403, 404, 405])(
  'a feed relocates again although a gateway blocks the path by ID, which worked before: %d',
  (status) => {
    marbles(({ flush }) => {
      const { ledger, client, block } = blockable(status);
      for (const n of upTo(3)) ledger.append(n, at(n, n).element);
      const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate' });
      const seen = observe(feed$.pipe(takeUntil(timer(120_000))));
      const moveTo = (participantId: string, by: number, count: number): void => {
        ledger.replace(
          upTo(count).map((n) => at(n + by, n)),
          count + by,
          participantId,
        );
      };
      timer(20_000).subscribe(() => {
        moveTo('second::1220', 100, 5);
      });
      timer(40_000).subscribe(() => {
        block();
        moveTo('third::1220', 50, 7);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1, 2, 3, 104, 105, 56, 57]);
    });
  },
);

it('a feed reads what was never read before its last update, although a gateway blocks the path by ID, which worked before', () => {
  marbles(({ flush }) => {
    const { ledger, client, block } = blockable(403);
    const [quiet, busy] = ['quiet::1220', 'one::1220'];
    ledger.append(1, at(1, 1, quiet).element);
    for (const n of [2, 3, 5]) ledger.append(n, at(n, n, busy).element);
    const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate' });
    const seen = observe(feed$.pipe(takeUntil(timer(120_000))));
    const second = [at(101, 1, quiet), ...[2, 3, 5].map((n) => at(100 + n, n, busy))];
    timer(20_000).subscribe(() => {
      ledger.replace(second, 105, 'second::1220');
    });
    timer(40_000).subscribe(() => {
      block();
      // a restore has put something before the last update
      ledger.replace([...second.slice(1, 3), at(104, 4, quiet), ...second.slice(3)], 105, 'second::1220');
      ledger.pruned = 101;
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1, 2, 3, 5, 104]);
  });
});
