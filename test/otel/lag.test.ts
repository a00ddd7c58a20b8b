import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Follower, Followers } from '../../src/otel/metrics.js';
import { Recorder } from '../../src/otel/Recorder.js';
import { type Measured, sdk } from './support.js';

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-07-24T10:00:10Z'));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const follower = (
  cursor: number | undefined,
  times: Readonly<Record<string, string>> = {},
  attributes = {},
): Follower => ({ attributes, cursor, recordTimes: new Map(Object.entries(times)) });

/** What a meter reads of the lag of these feeds. */
async function measuredLags(
  followers: readonly Follower[],
  ledgerEnd: number | undefined,
): Promise<{ readonly offsets: readonly Partial<Measured>[]; readonly seconds: readonly Partial<Measured>[] }> {
  const telemetry = sdk();
  const all = new Followers(new Recorder(telemetry, {}));
  all.ledgerEnd = ledgerEnd;
  for (const one of followers) all.add(one);
  const measured = await telemetry.measured();
  const read = (name: string) =>
    measured.filter((one) => one.name === name).map(({ attributes, value }) => ({ attributes, value }));
  return { offsets: read('canton_rx.lag.offsets'), seconds: read('canton_rx.lag.record_time') };
}

const ofSynchronizer = (id: string, value: number) => ({ attributes: { 'canton.synchronizer.id': id }, value });

describe('the lag', () => {
  it.each([[[3, 10]], [[10, 3]], [[undefined, 3]], [[3, undefined]]])(
    'is that of the slowest feed, whatever the order of the feeds: %j',
    async (cursors) => {
      const { offsets } = await measuredLags(
        cursors.map((cursor) => follower(cursor)),
        10,
      );
      expect(offsets).toEqual([{ attributes: {}, value: 7 }]);
    },
  );

  it('is by synchronizer, from the oldest of the newest record times', async () => {
    const followers = [
      follower(1, { a: '2026-07-24T10:00:08.250Z', b: '2026-07-24T10:00:00Z' }),
      follower(1, { a: '2026-07-24T10:00:09.000001Z' }),
    ];
    const { seconds } = await measuredLags(followers, undefined);
    expect(seconds).toEqual([ofSynchronizer('a', 1.75), ofSynchronizer('b', 10)]);
  });

  it('is never negative: a feed may be beyond the end that was read last, and a clock may be slow', async () => {
    const followers = [follower(12, { a: '2026-07-24T10:00:11Z' })];
    expect(await measuredLags(followers, 10)).toEqual({
      offsets: [{ attributes: {}, value: 0 }],
      seconds: [ofSynchronizer('a', 0)],
    });
  });

  it('is separate for each processor, and absent where the cursor or the ledger end is not known', async () => {
    const named = { 'canton_rx.processor.name': 'balances' };
    expect((await measuredLags([follower(1, {}, named), follower(2)], 10)).offsets).toEqual([
      { attributes: named, value: 9 },
      { attributes: {}, value: 8 },
    ]);
    const none = { offsets: [], seconds: [] };
    expect(await measuredLags([follower(undefined)], 10)).toEqual(none);
    expect(await measuredLags([follower(1)], undefined)).toEqual(none);
    expect(await measuredLags([], 10)).toEqual(none);
  });
});
