import type { Offset } from '../codecs/Offset.js';
import type { Update } from '../codecs/Update.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import type { Step } from '../feed/Place.js';

/** Updates that are handled and committed together, unless there is a reason not to. */
export interface Chunk {
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** How far the ledger is read behind them. */
  readonly reached: Offset;
  readonly isCaughtUp: boolean;
  /** Whether the request ends behind them. */
  readonly isLast?: boolean;
  /** What ends the feed behind them. */
  readonly failure?: { readonly error: unknown };
}

/** What a step of the feed has brought. */
export const chunkOf = ({ place, page }: Step): Chunk => ({
  updates: page?.updates ?? [],
  reached: place.cursor,
  isCaughtUp: place.hasCaughtUp,
  isLast: place.next === 'nothing',
});
