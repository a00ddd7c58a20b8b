import type { Offset } from '../codecs/Offset.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Retried } from './Retried.js';

/**
 * The place to resume from is beyond the end of the ledger, and stays there: the participant was restored from an older
 * backup, or is another one. Its offsets mean something else now.
 */
export class LedgerResetError extends Error {
  /** The class's name. */
  override readonly name = 'LedgerResetError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'LedgerResetError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** Where the feed stands. */
    readonly cursor: Offset,
    /** Where the ledger ends, where it is known. */
    readonly ledgerEnd?: Offset,
  ) {
    super(lines('The cursor is beyond the ledger end.', { Cursor: cursor, 'Ledger end': ledgerEnd }));
  }
}

/** Whether a value is a {@link LedgerResetError}. */
export const isLedgerResetError = (u: unknown): u is LedgerResetError => hasTag(u, 'LedgerResetError');
