import { refused } from '../errors/refused.js';
import type { Ledger } from '../ledger/Ledger.js';

/** Refuses to read from before what is pruned. */
export function checkPruned(beginExclusive: number, endInclusive: number | undefined, { pruned, end }: Ledger): void {
  if (beginExclusive >= pruned) return;
  const range = `Updates request from ${beginExclusive + 1} to ${endInclusive ?? end}`;
  throw refused('PARTICIPANT_PRUNED_DATA_ACCESSED', `${range} precedes pruned offset ${pruned}`, {
    context: { earliest_offset: String(pruned) },
  });
}
