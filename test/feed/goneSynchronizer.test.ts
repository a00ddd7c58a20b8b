import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import { bareOffset } from '../../src/codecs/LedgerPosition.js';
import { positions } from '../../src/history/positions.js';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { transactionWith } from '../helpers/wire.js';
import { updateFormat, world } from '../helpers/world.js';

const at = (offset: number, synchronizerId: string, n: number) => ({
  offset,
  element: transactionWith(offset, {
    updateId: `update${n}`,
    synchronizerId,
    recordTime: new Date(n * 1_000).toISOString(),
  }),
});

/** The updates of a participant whose second synchronizer has ended after its first update. */
const first = [at(2, 'gone::1220', 2), ...[3, 4, 5, 6].map((n) => at(n, 'one::1220', n))];

/** Where a participant has the same updates later, but those that are pruned. */
interface Later {
  readonly participantId: string;
  readonly options: UpdatesOptions;
  readonly pruned: number;
  readonly offsetOf: (n: number) => number;
}

const restored: Later = {
  participantId: 'first::1220',
  options: {},
  pruned: 2,
  offsetOf: (n) => (n < 5 ? n : n + 2),
};

const another: Later = {
  participantId: 'second::1220',
  options: { onOtherNode: 'relocate' },
  pruned: 22,
  offsetOf: (n) => n + 20,
};

describe('after a move to a participant that has pruned everything of a synchronizer, a feed', () => {
  it.each([
    ['restored', restored],
    ['another', another],
  ])('has positions with the offsets of that one, which is %s', (_, { participantId, options, pruned, offsetOf }) => {
    const { seen, again } = marbles(({ flush }) => {
      const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
      const has = (n: number) => at(offsetOf(n), 'one::1220', n);
      for (const { offset, element } of first) ledger.append(offset, element);
      const feed$ = client.updates({ beginExclusive: 0, updateFormat }, options);
      const read = observe(feed$.pipe(positions(), takeUntil(timer(60_000))));
      timer(20_000).subscribe(() => {
        ledger.replace([3, 4, 5, 6, 7, 8].map(has), offsetOf(8), participantId);
        ledger.pruned = pruned;
      });
      flush();
      // what was read is pruned, too, before the program begins again
      ledger.pruned = offsetOf(8);
      const { offset, element } = has(9);
      ledger.append(offset, element);
      const after = read.values.at(-1)?.[1] ?? bareOffset(0);
      const next$ = client.updates({ after, updateFormat }, options);
      const next = observe(next$.pipe(takeUntil(timer(60_000))));
      flush();
      return { seen: read, again: next };
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values.map(([{ offset }]) => offset)).toEqual([2, 3, 4, 5, 6, offsetOf(7), offsetOf(8)]);
    const lastUpdate = { offset: offsetOf(8), updateId: 'update8' };
    expect(seen.values.at(-1)?.[1]).toMatchObject({ offset: offsetOf(8), participantId, lastUpdate });
    expect(again.error).toBeUndefined();
    expect(offsets(again.values)).toEqual([offsetOf(9)]);
  });
});

it('does not wait for a synchronizer of which it knows only the time of a checkpoint, and which another participant does not have', () => {
  marbles(({ flush }) => {
    const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
    const one = (offset: number, n: number) => at(offset, 'one::1220', n);
    const times = [
      { synchronizerId: 'one::1220', recordTime: '2026-07-24T10:00:00Z' },
      { synchronizerId: 'gone::1220', recordTime: '2026-07-24T10:00:00Z' },
    ];
    ledger.append(1, { update: { OffsetCheckpoint: { value: { offset: 1, synchronizerTimes: times } } } });
    for (const { offset, element } of [one(2, 2), one(3, 3)]) ledger.append(offset, element);
    const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate' });
    const seen = observe(feed$.pipe(positions(), takeUntil(timer(60_000))));
    timer(20_000).subscribe(() => {
      ledger.replace([one(22, 2), one(23, 3), one(24, 4), one(25, 5)], 25, 'second::1220');
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(seen.values.map(([{ offset }]) => offset)).toEqual([1, 2, 3, 24, 25]);
    expect(seen.values.at(-1)?.[1]).toMatchObject({ offset: 25, participantId: 'second::1220' });
  });
});

it('waits for a synchronizer whose last update is later than what another participant has pruned', () => {
  marbles(({ flush }) => {
    const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
    const one = (offset: number, n: number) => at(offset, 'one::1220', n);
    const late = (offset: number, n: number) => at(offset, 'late::1220', n);
    for (const { offset, element } of [one(3, 3), one(4, 4), late(5, 5), one(6, 6)]) ledger.append(offset, element);
    const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate' });
    const seen = observe(feed$.pipe(positions(), takeUntil(timer(90_000))));
    timer(20_000).subscribe(() => {
      ledger.replace(
        [3, 4, 6, 7, 8].map((n) => one(n + 20, n)),
        28,
        'second::1220',
      );
      ledger.pruned = 23;
    });
    timer(60_000).subscribe(() => {
      for (const { offset, element } of [late(29, 5), late(30, 9)]) ledger.append(offset, element);
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(seen.values.map(([{ offset }, position]) => [offset, position.offset, position.participantId])).toEqual([
      ...[3, 4, 5, 6].map((n) => [n, n, 'first::1220']),
      ...[27, 28].map((n) => [n, 6, 'first::1220']),
      [30, 30, 'second::1220'],
    ]);
  });
});
