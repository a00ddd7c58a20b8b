import type { Offset } from '../codecs/Offset.js';
import type { Timestamp } from '../codecs/Timestamp.js';

/** How a processor is doing: plain JSON, for a health endpoint. */
export interface ProcessStatus {
  /**
   * Whether it has done anything yet: a processor is `waiting` while another one of its name works, or while it finds its
   * place. Then, whether it has handled everything that the ledger was seen to have.
   */
  readonly state: 'waiting' | 'catchingUp' | 'caughtUp';
  /** Up to where everything is handled; absent while it waits. */
  readonly offset?: Offset;
  /** Where the ledger ended at the last look; absent where that failed. */
  readonly ledgerEnd?: Offset;
  /** How many offsets lie between the two; not each of them is an update, or one that the request selects. */
  readonly lagOffsets?: number;
  /** The latest record time of all that was handled. */
  readonly recordTime?: Timestamp;
  /**
   * How long ago that was, in milliseconds, by this machine's clock. On a quiet ledger it grows until the participant's next
   * checkpoint, mostly for a minute at most.
   */
  readonly recordTimeLagMs?: number;
  /** How many updates were handled since it was subscribed. */
  readonly handled: number;
  /** How many of them a second, over the last ten seconds. */
  readonly updatesPerSecond: number;
  /** When it has committed last, in milliseconds since the epoch; absent while it has not. */
  readonly committedAt?: number;
  /** When all this was so, in milliseconds since the epoch. */
  readonly at: number;
}
