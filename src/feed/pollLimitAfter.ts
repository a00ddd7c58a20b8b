import type { Page } from './Page.js';

/** What the last poll was and brought. */
export interface Polled {
  readonly page: Page;
  readonly isFruitful: boolean;
  readonly hasLedgerEnd: boolean;
  readonly limit: number;
  readonly tookMs: number;
}

/** A checkpoint that comes in this time after a poll's start came because of it, and will come again. */
const earlyMs = 1_000;

/**
 * How many elements the next poll asks for. One, so that the first update is answered at once; two where the service
 * has just sent a checkpoint and nothing else, since 3.5.1 and later send one half a second after the start, and it
 * counts. A service that does not tell its ledger end is polled for four times as many as long as the answers are full.
 */
export function pollLimitAfter({ page, isFruitful, hasLedgerEnd, limit, tookMs }: Polled): number {
  if (!isFruitful) return page.count > 0 && tookMs < earlyMs ? 2 : 1;
  if (hasLedgerEnd || !page.isFull) return 1;
  return limit * 4;
}
