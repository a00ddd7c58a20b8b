import type { Offset } from '../codecs/Offset.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/** Even a page of one update is too large: for the service, or for the ledger's `maxAnswerBytes`. */
export class PageLimitError extends Error {
  /** The class's name. */
  override readonly name = 'PageLimitError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'PageLimitError' as const;

  constructor(
    /** Where the feed stands. */
    readonly cursor: Offset,
  ) {
    super(lines('A page of one update is too large.', { Cursor: cursor }));
  }
}

/** Whether a value is a {@link PageLimitError}. */
export const isPageLimitError = (u: unknown): u is PageLimitError => hasTag(u, 'PageLimitError');
