import type { DeduplicationPeriod } from '../codecs/DeduplicationPeriod.js';
import type { Offset } from '../codecs/Offset.js';

/** Since when the ledger must look for an earlier try. */
export interface Since {
  readonly elapsedMs: number;
  readonly beginExclusive?: Offset;
}

/**
 * The period of a request that is sent again: it must reach back to the first try, or the ledger commits twice. It is
 * the caller's own where that is long enough, and otherwise reaches just as far as it must.
 */
export function coveringPeriod(wish: DeduplicationPeriod, { elapsedMs, beginExclusive }: Since): DeduplicationPeriod {
  const asNeeded: DeduplicationPeriod =
    beginExclusive === undefined ? { Empty: {} } : { DeduplicationOffset: { value: beginExclusive } };
  if ('DeduplicationDuration' in wish) {
    const { seconds } = wish.DeduplicationDuration.value;
    return seconds * 1_000 > elapsedMs ? wish : asNeeded;
  }
  if ('DeduplicationOffset' in wish) {
    const isBefore = beginExclusive === undefined || wish.DeduplicationOffset.value <= beginExclusive;
    return isBefore ? wish : asNeeded;
  }
  return wish;
}
