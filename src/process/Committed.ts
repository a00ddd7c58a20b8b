import type { Offset } from '../codecs/Offset.js';
import type { Timestamp } from '../codecs/Timestamp.js';

/** How far a processor has come: what is at or before the offset has been handled, and the store knows. */
export interface Committed {
  /** Everything up to here has been handled, or does not concern the processor. */
  readonly offset: Offset;
  /** The latest record time of each synchronizer, by its id. */
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /** How many updates were handled since the commit before; 0 where only the place has moved, and in the first that tells where it begins. */
  readonly handled: number;
  /** Whether everything has been handled that the ledger was seen to have. */
  readonly isCaughtUp: boolean;
}
