import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import type { Gap } from '../../src/feed/LedgerFeed.js';
import { positions } from '../../src/history/positions.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import type { Entry } from '../helpers/virtualLedger.js';
import { transactionWith } from '../helpers/wire.js';
import { updateFormat, upTo, world, type World } from '../helpers/world.js';

/** The update with a number, which every participant has, at an offset of one of them. */
const at = (offset: number, synchronizerId: string, n: number): Entry => {
  const recordTime = new Date(Date.UTC(2026, 6, 24) + n).toISOString();
  return { offset, element: transactionWith(offset, { synchronizerId, updateId: `update${n}`, recordTime }) };
};

const first = [at(1, 'one::1220', 1), at(2, 'two::1220', 2)];

/** Reads a participant, and then another one that does not have yet what was read of one of two synchronizers. */
const relocated = (change: (given: World) => void) =>
  marbles(({ flush }) => {
    const given = world({ latencyMs: 5, participantId: 'first::1220' });
    const { ledger, client } = given;
    for (const { offset, element } of first) ledger.append(offset, element);
    const gaps: Gap[] = [];
    const onGap = (gap: Gap): number[] => {
      gaps.push(gap);
      return gap.error._tag === 'PrunedError' ? [gap.error.earliestOffset ?? 0] : [];
    };
    const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate', onGap });
    const seen = observe(feed$.pipe(positions(), takeUntil(timer(120_000))));
    timer(10_000).subscribe(() => {
      ledger.replace([at(20, 'two::1220', 2), at(21, 'two::1220', 3)], 21, 'second::1220');
    });
    timer(40_000).subscribe(() => {
      change(given);
    });
    flush();
    const read = seen.values.map(([update, position]) => ({ id: 'updateId' in update && update.updateId, position }));
    return { seen, read, gaps };
  });

describe('a feed that reads another participant, which lags,', () => {
  it('has positions of that one from where it skips what is pruned there', () => {
    const { read, gaps } = relocated(({ ledger }) => {
      ledger.pruned = 80;
      ledger.end = 84;
      timer(30_000).subscribe(() => {
        const { offset, element } = at(85, 'two::1220', 9);
        ledger.append(offset, element);
      });
    });
    expect(gaps).toMatchObject([{ cursor: 21, error: { earliestOffset: 80 } }]);
    expect(read.map(({ id }) => id)).toEqual(['update1', 'update2', 'update3', 'update9']);
    expect(read.at(-1)?.position).toMatchObject({ offset: 85, participantId: 'second::1220' });
  });

  it('finds a gap if the first one is back, and has pruned what was not read', () => {
    const { read, gaps } = relocated(({ ledger }) => {
      const all = [...first, ...[3, 4, 5, 6].map((n) => at(n, 'two::1220', n))];
      ledger.replace(all, 6, 'first::1220');
      ledger.pruned = 4;
    });
    expect(gaps).toMatchObject([{ cursor: 2, error: { earliestOffset: 4 } }]);
    expect(read.map(({ id }) => id)).toEqual(['update1', 'update2', 'update3', 'update5', 'update6']);
  });
});

describe('a participant that has pruned what follows', () => {
  /** Reads a participant, and then another one, with the same history at other offsets, that is pruned. */
  const relocatedTo = (offsetOf: (n: number) => number) =>
    marbles(({ flush }) => {
      const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
      for (const n of upTo(9)) ledger.append(100 + n, at(100 + n, 'one::1220', n).element);
      const gaps: Gap[] = [];
      const onGap = (gap: Gap): number[] => {
        gaps.push(gap);
        return gap.error._tag === 'PrunedError' ? [gap.error.earliestOffset ?? 0] : [];
      };
      const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate', onGap });
      const seen = observe(feed$.pipe(positions(), takeUntil(timer(200_000))));
      timer(20_000).subscribe(() => {
        const entries = upTo(14).map((n) => at(offsetOf(n), 'one::1220', n));
        ledger.replace(entries, offsetOf(14), 'second::1220');
        ledger.pruned = offsetOf(12);
      });
      timer(150_000).subscribe(() => {
        ledger.append(offsetOf(15), at(offsetOf(15), 'one::1220', 15).element);
      });
      flush();
      return { seen, gaps };
    });

  it.each<[string, (n: number) => number]>([
    ['greater', (n) => 200 + n],
    ['smaller', (n) => n],
  ])('is continued at where onGap says, although its offsets are %s', (_, offsetOf) => {
    const { seen, gaps } = relocatedTo(offsetOf);
    expect(seen.error).toBeUndefined();
    expect(gaps).toMatchObject([{ cursor: 109, error: { _tag: 'PrunedError', earliestOffset: offsetOf(12) } }]);
    expect(seen.values.map(([{ offset }]) => offset)).toEqual([
      ...upTo(9).map((n) => 100 + n),
      ...[13, 14, 15].map(offsetOf),
    ]);
    expect(seen.values.slice(9).map(([, { participantId }]) => participantId)).toEqual(Array(3).fill('second::1220'));
  });
});

describe('a page of another participant, which has the last update at the same offset,', () => {
  const firstHas = [at(10, 'one::1220', 1), at(11, 'two::1220', 2), at(12, 'one::1220', 3)];
  const next = [at(13, 'two::1220', 4), at(14, 'two::1220', 5)];
  const others = [at(10, 'two::1220', 2), at(11, 'two::1220', 4), at(12, 'one::1220', 3), at(13, 'two::1220', 5)];

  it.each([
    ['before the ID is read', 'relocate', ['page 1']],
    ['before the ID is read', 'fail', ['page 1']],
    ['or later, as long as a page takes', 'relocate', ['page 2', 'id 2']],
    ['or later, as long as a page takes', 'fail', ['page 2', 'id 2']],
  ] as const)('is not read as one of the first, if it answers after an outage, %s (%s)', (_, onOtherNode, ofOther) => {
    marbles(({ flush }) => {
      let isOut = false;
      const counts = { page: 0, id: 0 };
      const { ledger, client } = world({
        latencyMs: 5,
        participantId: 'first::1220',
        fault: ({ path, body }) => {
          if (!isOut) return undefined;
          const isPage = path.startsWith('/v2/updates/flats') && body['endInclusive'] === undefined;
          const name = isPage ? 'page' : 'id';
          if (isPage || path === '/v2/parties/participant-id') counts[name] += 1;
          const isOther = ofOther.some((each) => each === `${name} ${counts[name]}`);
          ledger.replaceQuietly(isOther ? others : [...firstHas, ...next], isOther ? 13 : 14);
          ledger.reconfigure({ participantId: isOther ? 'second::1220' : 'first::1220' });
          return undefined;
        },
      });
      for (const { offset, element } of firstHas) ledger.append(offset, element);
      const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode });
      const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
      timer(10_000).subscribe(() => {
        isOut = true;
        ledger.disconnect();
      });
      flush();
      const read = seen.values.flatMap((update) => ('updateId' in update ? [update.updateId] : []));
      expect([read, seen.error]).toEqual([upTo(5).map((n) => `update${n}`), undefined]);
    });
  });

  it('is not read as one of the first, either, if nothing has failed', () => {
    marbles(({ flush }) => {
      const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
      for (const { offset, element } of firstHas) ledger.append(offset, element);
      const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate' });
      const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
      timer(10_000).subscribe(() => {
        ledger.replaceQuietly(others, 13);
        ledger.reconfigure({ participantId: 'second::1220' });
      });
      flush();
      const read = seen.values.flatMap((update) => ('updateId' in update ? [update.updateId] : []));
      expect([read, seen.error]).toEqual([upTo(5).map((n) => `update${n}`), undefined]);
    });
  });

  it.each(upTo(30).flatMap((ms) => [[ms, 'by polls'] as const, [ms, 'by a WebSocket'] as const]))(
    'is not read as one of the first, if it answers from %d ms after the start (%s)',
    (ms, by) => {
      const all = [at(9, 'one::1220', 1), ...others];
      marbles(({ flush }) => {
        const { ledger, client, websocket } = world({ latencyMs: 5, participantId: 'first::1220' });
        for (const { offset, element } of firstHas) ledger.append(offset, element);
        const transport = by === 'by polls' ? {} : websocket;
        const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate', ...transport });
        const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
        timer(ms).subscribe(() => {
          ledger.replaceQuietly(all, 13);
          ledger.reconfigure({ participantId: 'second::1220' });
        });
        flush();
        const read = seen.values.flatMap((update) => ('updateId' in update ? [update.updateId] : []));
        expect([read.toSorted(), seen.error]).toEqual([upTo(5).map((n) => `update${n}`), undefined]);
      });
    },
  );
});

it.each(upTo(40))('a feed that moved to offset 0 reads no other ledger there, which answers %d ms later', (ms) => {
  const timeOf = (n: number) => new Date(Date.UTC(2026, 6, 24) + n).toISOString();
  // nothing of the second synchronizer was read
  const recordTimes = {
    'one::1220': { recordTime: timeOf(10), updateId: 'update10' },
    'two::1220': { recordTime: timeOf(5) },
  };
  const lastUpdate = { offset: 50, updateId: 'update10' };
  const after = { offset: 50, participantId: 'first::1220', recordTimes, lastUpdate };
  marbles(({ flush }) => {
    const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
    ledger.append(50, at(50, 'one::1220', 10).element);
    const feed$ = client.updates({ after, updateFormat }, { onOtherNode: 'relocate' });
    const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
    timer(10_000).subscribe(() => {
      ledger.replace([at(1, 'two::1220', 11), at(2, 'one::1220', 10)], 2, 'second::1220');
    });
    timer(10_000 + ms).subscribe(() => {
      ledger.replace([at(1, 'three::1220', 97), at(2, 'three::1220', 98)], 2, 'third::1220');
    });
    flush();
    const read = seen.values.flatMap((update) => ('updateId' in update ? [update.updateId] : []));
    expect(read.filter((id) => id !== 'update11')).toEqual([]);
  });
});
