import { ask, lastOffset } from '../bareRead.js';
import { clock } from '../clock.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';

/** A long poll for the next update, and another behind it: nothing can be told sooner by this interface. */
export async function measure({ url, count }: Load): Promise<Outcome> {
  const arrivedAt: number[] = [];
  let beginExclusive = origin;
  while (arrivedAt.length < count) {
    const page = (await ask(url, 'limit=1&stream_idle_timeout_ms=5000', { beginExclusive })) as readonly unknown[];
    if (page.length === 0) continue;
    arrivedAt.push(clock());
    beginExclusive = lastOffset(page);
  }
  return { cost: NaN, arrivedAt };
}
