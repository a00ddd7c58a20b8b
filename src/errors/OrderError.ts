import type { Offset } from '../codecs/Offset.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/** The service sent updates out of order, or a full page that leads nowhere. Nothing of that page was emitted. */
export class OrderError extends Error {
  /** The class's name. */
  override readonly name = 'OrderError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'OrderError' as const;

  constructor(
    /** The offset that came where it must not. */
    readonly offset: Offset,
    /** The offset before it. */
    readonly previous: Offset,
  ) {
    super(lines('The updates are out of order.', { Offset: offset, After: previous }));
  }
}

/** Whether a value is an {@link OrderError}. */
export const isOrderError = (u: unknown): u is OrderError => hasTag(u, 'OrderError');
