import type { Offset } from '../codecs/Offset.js';
import { isLedgerResetError, type LedgerResetError } from '../errors/LedgerResetError.js';
import { isPrunedError, type PrunedError } from '../errors/PrunedError.js';

/** A place at which a ledger cannot be read on without a gap. */
export interface Gap {
  /** Where the feed stands: everything up to here has been emitted, or does not match the request. */
  readonly cursor: Offset;
  /** Why it cannot go on. A `PrunedError` tells the first offset that is still there, a `LedgerResetError` where the ledger ends. */
  readonly error: PrunedError | LedgerResetError;
}

/** Whether an error is one beyond which only the caller can say where to go on. */
export const isGapError = (u: unknown): u is Gap['error'] => isPrunedError(u) || isLedgerResetError(u);
