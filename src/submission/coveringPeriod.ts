import type { DeduplicationPeriod } from '../codecs/DeduplicationPeriod.js';
import type { Offset } from '../codecs/Offset.js';

/** Since when the ledger must look for an earlier try. */
export interface Since {
  /** How long ago, at most, when the ledger looks. */
  readonly elapsedMs: number;
  /** Where the ledger ended before it. */
  readonly beginExclusive?: Offset;
}

/**
 * The period of a request that is sent again: it must reach back to the first try, or the ledger commits twice. It is
 * the caller's own where that is long enough, and never a shorter one: somebody else may have sent the change before.
 */
export function coveringPeriod(wish: DeduplicationPeriod, { elapsedMs, beginExclusive }: Since): DeduplicationPeriod {
  if ('DeduplicationDuration' in wish) {
    const { seconds } = wish.DeduplicationDuration.value;
    const elapsed = Math.ceil(elapsedMs / 1_000);
    return seconds > elapsed
      ? wish
      : { DeduplicationDuration: { value: { seconds: seconds + 1 + elapsed, nanos: 0 } } };
  }
  if ('DeduplicationOffset' in wish) {
    const value = Math.min(wish.DeduplicationOffset.value, beginExclusive ?? Infinity);
    return { DeduplicationOffset: { value } };
  }
  return wish;
}
