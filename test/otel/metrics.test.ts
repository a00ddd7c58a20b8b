import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { ConnectionError, RequestTimeoutError } from '../../src/errors/request.js';
import { type Follower, Followers } from '../../src/otel/Followers.js';
import { errorTypeOf } from '../../src/diagnostics/metrics.js';
import { Recorder } from '../../src/otel/Recorder.js';
import { cantonError } from '../../src/sandbox/index.js';
import { upTo } from '../helpers/world.js';
import { type Measured, sdk } from './support.js';

const apiError = (status: number, code?: string): ApiError => {
  if (code === undefined) return new ApiError({ path: '/v2/updates', status, text: 'words' });
  const canton = JsCantonError.decode(cantonError(code));
  if (canton._tag === 'Left') throw new Error('not an error of the ledger');
  return new ApiError({ path: '/v2/updates', status, canton: canton.right });
};

describe('the type of an error', () => {
  it.each([
    [apiError(503, 'SERVICE_NOT_RUNNING'), 'SERVICE_NOT_RUNNING'],
    [apiError(401, 'NA'), '401'],
    [apiError(502), '502'],
    [apiError(400, 'words for people'), '400'],
    [new ConnectionError('/v2/updates', 'the connection failed', { code: 'ECONNRESET' }), 'ECONNRESET'],
    [new ConnectionError('/v2/updates', 'there was no answer'), 'ConnectionError'],
    [new RequestTimeoutError('/v2/updates', 1), 'RequestTimeoutError'],
    [new RangeError('words'), 'RangeError'],
    [Object.assign(new Error('words'), { name: 'words for people' }), '_OTHER'],
    ['words', '_OTHER'],
    [undefined, '_OTHER'],
  ])('is a code, a status or a name: %p', (error, type) => {
    expect(errorTypeOf(error)).toBe(type);
  });

  it('never contains text for people, whatever is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(errorTypeOf(thrown)).toMatch(/^\w{1,80}$/);
      }),
    );
  });
});

describe('a recorder', () => {
  const named = (name: string) => Object.assign(new Error('words'), { name });
  const recorder = new Recorder({});

  it.each([
    ['synchronizers', 50, recorder.synchronizerLabel],
    ['types of errors', 100, (name: string) => recorder.errorType(named(name))],
  ] as const)('has a label for each of the first %s: %i, and one for all others', (_, max, label) => {
    const known = upTo(max).map((n) => `Known${n}`);
    expect(known.map(label)).toEqual(known);
    expect(['Other1', ...known, 'Other2'].map(label)).toEqual(['_OTHER', ...known, '_OTHER']);
  });
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
  const all = new Followers(new Recorder(telemetry));
  all.ledgerEnd = ledgerEnd;
  for (const one of followers) all.add(one);
  const measured = await telemetry.measured();
  const read = (name: string) =>
    measured.filter((one) => one.name === name).map(({ attributes, value }) => ({ attributes, value }));
  return { offsets: read('canton_rx.lag.offsets'), seconds: read('canton_rx.lag.record_time') };
}

const ofSynchronizer = (id: string, value: number) => ({ attributes: { 'canton.synchronizer.id': id }, value });

describe('the lag', () => {
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-07-24T10:00:10Z'));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

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

  it.each([[[3, 10]], [[10, 3]]])(
    'is that of the slowest feed of all ledgers at one address, such as those of two users, until it ends: %j',
    async (cursors) => {
      const telemetry = sdk();
      const at = { 'server.address': 'ledger.example' };
      const ledgers = cursors.map((cursor) => {
        const followers = new Followers(new Recorder(telemetry, () => at));
        const one = follower(cursor);
        followers.ledgerEnd = 10;
        followers.add(one);
        return {
          cursor,
          end: () => {
            followers.remove(one);
          },
        };
      });
      const values = async () => (await telemetry.measured('canton_rx.lag.offsets')).map(({ value }) => value);
      expect(await values()).toEqual([7]);
      for (const { end } of ledgers.filter(({ cursor }) => cursor === 10)) end();
      expect(await values()).toEqual([7]);
      for (const { end } of ledgers.filter(({ cursor }) => cursor === 3)) end();
      expect(await values()).toEqual([0]);
    },
  );

  it('is 0 at the former address of a ledger that has moved', async () => {
    const telemetry = sdk();
    let address = 'one.example';
    const followers = new Followers(new Recorder(telemetry, () => ({ 'server.port': address, to: address })));
    followers.ledgerEnd = 10;
    followers.add(follower(3));
    const values = async () =>
      (await telemetry.measured('canton_rx.lag.offsets')).map(({ attributes, value }) => [attributes['to'], value]);
    expect(await values()).toEqual([['one.example', 7]]);
    address = 'two.example';
    expect(new Map((await values()) as [string, number][])).toEqual(
      new Map([
        ['one.example', 0],
        ['two.example', 7],
      ]),
    );
  });

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
