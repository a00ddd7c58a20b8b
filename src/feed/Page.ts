import type { Offset } from '../codecs/Offset.js';
import type { Update } from '../codecs/Update.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { InvalidUpdate } from './InvalidUpdate.js';

/** One answer, as far as it is good. */
export interface Page {
  /** In order, all within the range that was asked for. */
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** How many elements the service sent. */
  readonly count: number;
  /** Whether these are as many as it was asked for. */
  readonly isFull: boolean;
  /** The offset of the last element, also of one beyond the range; the range's start where there is none. */
  readonly last: Offset;
  /** How long the answer took, in milliseconds. */
  readonly tookMs: number;
  /** What ends the feed behind these updates. */
  readonly failure?: LedgerError;
}
