import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeduplicationPeriod } from '../../src/codecs/ExecuteRequest.js';
import { LedgerString } from '../../src/codecs/scalars.js';
import { attemptMs, deduplicationPeriod, isLongest } from '../../src/submission/deduplication.js';
import { randomUuid } from '../../src/submission/Run.js';
import { effort } from '../helpers/effort.js';

/** Attempts of one change at a participant, on one time axis in milliseconds. The change is first sent at 0. */
interface World {
  readonly requested: DeduplicationPeriod;
  /** The ledger end before the first attempt; `undefined` if it could not be read. */
  readonly since: number | undefined;
  /** The commits of others, with the time of each: `since` of them are before the first attempt. */
  readonly perSecond: number;
  /** When the attempts are sent; the first one at 0. */
  readonly sentAt: readonly number[];
  /** How long after that the participant checks each of them, up to the longest that an attempt takes. */
  readonly heldMs: readonly number[];
  /** How long before the first attempt an earlier life of the program has committed the same change. */
  readonly earlierLifeMs: number;
  readonly requestTimeoutMs: number;
}

const seconds = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 604_800 }));
const offset = fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat());
const requested: fc.Arbitrary<DeduplicationPeriod> = fc.oneof(
  fc.constant({ Empty: {} }),
  fc
    .tuple(seconds, fc.nat({ max: 999_999_999 }))
    .map(([s, nanos]) => ({ DeduplicationDuration: { value: { seconds: s, nanos } } })),
  offset.map((value) => ({ DeduplicationOffset: { value } })),
);
const world: fc.Arbitrary<World> = fc.integer({ min: 1, max: 60_000 }).chain((requestTimeoutMs) =>
  fc.record({
    requested,
    since: fc.option(fc.nat({ max: 1_000 }), { nil: undefined, freq: 4 }),
    perSecond: fc.nat({ max: 5 }),
    sentAt: fc
      .array(fc.oneof(fc.nat({ max: 20_000 }), fc.nat({ max: 604_800_000 })), { minLength: 1, maxLength: 5 })
      .map((later) => [0, ...later.sort((a, b) => a - b)]),
    heldMs: fc.array(fc.nat({ max: attemptMs(requestTimeoutMs) }), { minLength: 6, maxLength: 6 }),
    earlierLifeMs: fc.nat({ max: 604_800_000 }),
    requestTimeoutMs: fc.constant(requestTimeoutMs),
  }),
);

/** The period of an attempt of a world. */
const periodOf = ({ requested, since, sentAt, requestTimeoutMs }: World, index: number): DeduplicationPeriod =>
  deduplicationPeriod({
    requested,
    since,
    isLater: index > 0,
    ageMs: sentAt[index] ?? 0,
    attemptMs: attemptMs(requestTimeoutMs),
  });

/** Whether a participant that checks an attempt at a time finds a commit of another time, at an offset. */
function finds(period: DeduplicationPeriod, checkedAt: number, commit: { atMs: number; offset: number }): boolean {
  // the default of the participant can be as short as 30 seconds
  if ('Empty' in period) return false;
  if ('DeduplicationOffset' in period) return commit.offset > period.DeduplicationOffset.value;
  const { seconds: s, nanos } = period.DeduplicationDuration.value;
  return commit.atMs >= checkedAt - s * 1_000 - (nanos ?? 0) / 1_000_000;
}

describe('the deduplication period of an attempt', () => {
  it('reaches back to before the first attempt could have been accepted, whenever it is checked', () => {
    fc.assert(
      fc.property(world, (its) => {
        // without a known ledger end, an offset of the caller may be one of another ledger
        const { since = 0, sentAt, heldMs, perSecond } = its;
        for (const [index, sent] of sentAt.entries()) {
          const checkedAt = sent + (heldMs[index] ?? 0);
          // any attempt may have been accepted, at any time from the first one on
          for (const atMs of [0, ...sentAt.map((at, i) => at + (heldMs[i] ?? 0))].filter((at) => at <= checkedAt)) {
            const commit = { atMs, offset: since + 1 + Math.floor((atMs / 1_000) * perSecond) };
            expect(finds(periodOf(its, index), checkedAt, commit)).toBe(true);
          }
        }
      }),
      { numRuns: effort(1_000, 10_000) },
    );
  });

  it('reaches as far beyond that as the caller requests, since the caller may have sent the change before', () => {
    fc.assert(
      fc.property(world, (its) => {
        const { requested, since, sentAt, earlierLifeMs } = its;
        for (const [index, checkedAt] of sentAt.entries()) {
          const commit = { atMs: -earlierLifeMs, offset: Math.max(0, (since ?? 1_000) - 3) };
          const isProven = since !== undefined || !('DeduplicationOffset' in requested);
          const isRequested = isProven && !isLongest(requested) && finds(requested, 0, commit);
          // checked at once, as the caller has counted on
          if (isRequested) expect(finds(periodOf(its, index), checkedAt, commit)).toBe(true);
        }
      }),
      { numRuns: effort(1_000, 10_000) },
    );
  });

  const base = { requested: undefined, isLater: false, ageMs: 0, attemptMs: 120_000 };
  const duration = (s: number, nanos = 0): DeduplicationPeriod => ({
    DeduplicationDuration: { value: { seconds: s, nanos } },
  });

  const at = (value: number): DeduplicationPeriod => ({ DeduplicationOffset: { value } });

  it.each<[string, Parameters<typeof deduplicationPeriod>[0], DeduplicationPeriod]>([
    ['a week by default', base, duration(604_800)],
    ['longer after more than a week', { ...base, isLater: true, ageMs: 700_000_000 }, duration(700_121)],
    [
      'the offset from which a pruned participant can look',
      { ...base, since: 77, earliest: 30 },
      { DeduplicationOffset: { value: 30 } },
    ],
    ['never an offset after the start', { ...base, since: 20, earliest: 30 }, { DeduplicationOffset: { value: 20 } }],
    ['the offset that the caller requests', { ...base, requested: at(9), since: 20 }, at(9)],
    ['never an offset of the caller after the start', { ...base, requested: at(30), since: 20 }, at(20)],
    [
      'a week instead of an offset of the caller if the start is unknown',
      { ...base, requested: at(9) },
      duration(604_800),
    ],
    ['the beginning if the caller requests that', { ...base, requested: at(0) }, at(0)],
    [
      'never weaker than the caller requests',
      { ...base, requested: duration(600), since: 77, earliest: 30 },
      duration(600),
    ],
    ['at least as long as an attempt may take', { ...base, requested: duration(3) }, duration(121)],
    ['as requested if that is long enough', { ...base, requested: duration(121, 5) }, duration(121, 5)],
    [
      'one that JSON can hold',
      { ...base, isLater: true, requested: duration(Number.MAX_SAFE_INTEGER) },
      duration(Number.MAX_SAFE_INTEGER),
    ],
  ])('is %s', (_, reach, period) => {
    expect(deduplicationPeriod(reach)).toEqual(period);
  });
});

describe('the longest time that an attempt takes', () => {
  it('is short enough for a period of it, also if requests have no limit of time', () => {
    const signed = { requested: { Empty: {} }, isLater: true, ageMs: 0, attemptMs: attemptMs(Infinity) };
    const period = deduplicationPeriod(signed);
    const seconds = 'DeduplicationDuration' in period ? period.DeduplicationDuration.value.seconds : NaN;
    // a ledger refuses a period from before the year 1; requests end when their timer does
    expect(seconds).toBe(1 + Math.ceil((4 * (2 ** 31 - 1)) / 1_000));
    expect(attemptMs(30_000)).toBe(120_000);
  });
});

describe('randomUuid', () => {
  it('is a UUID of version 4, another each time, and a valid LedgerString', () => {
    const all = Array.from({ length: 1_000 }, randomUuid);
    for (const uuid of all) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(LedgerString.is(uuid)).toBe(true);
    }
    expect(new Set(all).size).toBe(1_000);
  });
});
