import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeduplicationPeriod } from '../../src/codecs/ExecuteRequest.js';
import { extendDeduplication, type Since } from '../../src/submission/Sending.js';

const offset = fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat());
const seconds = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 604_800 }));
const wishes: fc.Arbitrary<DeduplicationPeriod> = fc.oneof(
  fc.constant({ Empty: {} }),
  fc
    .tuple(seconds, fc.nat({ max: 999_999_999 }))
    .map(([s, nanos]) => ({ DeduplicationDuration: { value: { seconds: s, nanos } } })),
  offset.map((value) => ({ DeduplicationOffset: { value } })),
);
const sinces: fc.Arbitrary<Since> = fc
  .tuple(fc.oneof(fc.nat({ max: 20_000 }), fc.nat({ max: 604_800_000 })), fc.option(offset, { nil: undefined }))
  .map(([elapsedMs, beginExclusive]) => ({ elapsedMs, ...(beginExclusive !== undefined && { beginExclusive }) }));

/** Whether the ledger finds what was committed by the first try, at once or at any time since. */
function reachesBack(period: DeduplicationPeriod, { elapsedMs, beginExclusive }: Since): boolean {
  if ('Empty' in period) return true;
  if ('DeduplicationDuration' in period) return period.DeduplicationDuration.value.seconds * 1_000 > elapsedMs;
  // an offset that the caller knew before the first try is one of before the first try
  return beginExclusive === undefined || period.DeduplicationOffset.value <= beginExclusive;
}

describe('the period of a submission that is sent again', () => {
  it('reaches back to the first try', () => {
    fc.assert(
      fc.property(wishes, sinces, (wish, since) => {
        expect(reachesBack(extendDeduplication(wish, since), since)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is the caller's own wherever that reaches back already, by whole seconds", () => {
    fc.assert(
      fc.property(wishes, sinces, (wish, since) => {
        fc.pre(reachesBack(wish, { ...since, elapsedMs: Math.ceil(since.elapsedMs / 1_000) * 1_000 }));
        expect(extendDeduplication(wish, since)).toEqual(wish);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is never shorter than the caller's own: somebody else may have sent the change before", () => {
    fc.assert(
      fc.property(seconds, sinces, (wish, since) => {
        const period = extendDeduplication({ DeduplicationDuration: { value: { seconds: wish } } }, since);
        const isLong = wish * 1_000 > since.elapsedMs;
        expect(reachesBack(period, { ...since, elapsedMs: isLong ? wish * 1_000 - 1 : since.elapsedMs })).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('begins where the first try did, where the caller wishes for a later offset', () => {
    const late = { DeduplicationOffset: { value: 8 } };
    expect(extendDeduplication(late, { elapsedMs: 0, beginExclusive: 7 })).toEqual({
      DeduplicationOffset: { value: 7 },
    });
    expect(extendDeduplication(late, { elapsedMs: 0, beginExclusive: 8 })).toEqual(late);
  });

  it('is longer than the time that has gone by, where the caller wishes for less', () => {
    const short = { DeduplicationDuration: { value: { seconds: 10 } } };
    expect(extendDeduplication(short, { elapsedMs: 9_000, beginExclusive: 7 })).toEqual(short);
    expect(extendDeduplication(short, { elapsedMs: 10_000, beginExclusive: 7 })).not.toEqual(short);
    expect(extendDeduplication(short, { elapsedMs: 10_000 })).not.toEqual(short);
  });
});
