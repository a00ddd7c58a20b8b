import { describe, expect, it } from '@jest/globals';
import { type Follower, lagsOf } from '../../src/otel/lag.js';

const now = Date.parse('2026-07-24T10:00:10Z');
const follower = (
  cursor: number | undefined,
  times: Readonly<Record<string, string>> = {},
  attributes = {},
): Follower => ({ attributes, cursor, recordTimes: new Map(Object.entries(times)) });

describe('lags', () => {
  it.each([[[3, 10]], [[10, 3]], [[undefined, 3]], [[3, undefined]]])(
    'are those of the feed that is behind most, in whatever order they come: %j',
    (cursors) => {
      const followers = cursors.map((cursor) => follower(cursor));
      expect(lagsOf(followers, 10, now)).toMatchObject([{ offsets: 7 }]);
    },
  );

  it('are by synchronizer, of the oldest of the newest record times', () => {
    const followers = [
      follower(1, { a: '2026-07-24T10:00:08.250Z', b: '2026-07-24T10:00:00Z' }),
      follower(1, { a: '2026-07-24T10:00:09.000001Z' }),
    ];
    expect(lagsOf(followers, undefined, now)[0]?.seconds).toEqual(
      new Map([
        ['a', 1.75],
        ['b', 10],
      ]),
    );
  });

  it('are never negative: a feed may be beyond the end that was read last, and a clock may be slow', () => {
    const followers = [follower(12, { a: '2026-07-24T10:00:11Z' })];
    expect(lagsOf(followers, 10, now)).toMatchObject([{ offsets: 0, seconds: new Map([['a', 0]]) }]);
  });

  it('are told of each processor by itself, and not told where nothing is known', () => {
    const named = { 'canton_rx.processor.name': 'balances' };
    expect(lagsOf([follower(1, {}, named), follower(2)], 10, now)).toMatchObject([
      { attributes: named, offsets: 9 },
      { attributes: {}, offsets: 8 },
    ]);
    expect(lagsOf([follower(undefined)], 10, now)[0]?.offsets).toBeUndefined();
    expect(lagsOf([follower(1)], undefined, now)[0]?.offsets).toBeUndefined();
    expect(lagsOf([], 10, now)).toEqual([]);
  });
});
