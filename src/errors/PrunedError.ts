import type { Offset } from '../codecs/Offset.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/**
 * The participant has deleted updates that the feed has not seen. Going on from `earliestOffset` leaves them out for
 * good; whether that may be is for the caller to say.
 */
export class PrunedError extends Error {
  /** The class's name. */
  override readonly name = 'PrunedError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'PrunedError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The smallest `beginExclusive` that is still valid, where the ledger says it. */
    readonly earliestOffset?: Offset,
  ) {
    super(lines('The ledger is pruned beyond the cursor.', { 'Earliest offset': earliestOffset, Path: path }));
  }
}

/** Whether a value is a {@link PrunedError}. */
export const isPrunedError = (u: unknown): u is PrunedError => hasTag(u, 'PrunedError');
