import type { EventFormat } from '../formats/EventFormat.js';
import type { Ledger } from '../ledger/Ledger.js';

/** What only submitters may know of an update. */
interface Private {
  readonly offset: number;
  readonly commandId: string;
  readonly paidTrafficCost: number | null;
}

/** Hides the command and its cost from those who did not submit it. */
export function asSeenBy<A extends Private>(update: A, { byParty, anyParty }: EventFormat, ledger: Ledger): A {
  const submitters = ledger.submittersOf(update.offset);
  const own = submitters === undefined || anyParty !== undefined || submitters.some((party) => byParty.has(party));
  return own ? update : { ...update, commandId: '', paidTrafficCost: null };
}
