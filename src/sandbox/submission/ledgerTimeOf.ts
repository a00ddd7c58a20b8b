import type { Prepared } from '../prepared/Prepared.js';
import type { Execution } from './Execution.js';

/** The ledger time of a submission: a given time, or the later one that was asked for. In microseconds. */
export function ledgerTimeOf(prepared: Prepared, execution: Execution, atLeast: number): number {
  return Math.max(atLeast, prepared.minLedgerTime ?? 0, execution.minLedgerTime ?? 0);
}
