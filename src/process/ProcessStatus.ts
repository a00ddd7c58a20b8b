import type { Offset } from '../codecs/Offset.js';
import type { Timestamp } from '../codecs/Timestamp.js';

/** How a processor is doing: plain JSON, for a health endpoint. */
export interface ProcessStatus {
  /**
   * Whether it has begun: a processor is `waiting` while another one of its name works, while it finds its place, and while
   * the store or the ledger cannot be reached for that. Then, whether it has handled everything that the ledger was seen
   * to have.
   */
  readonly state: 'waiting' | 'catchingUp' | 'caughtUp';
  /** Up to where everything is handled; absent while it waits. */
  readonly offset?: Offset;
  /** Where the ledger ended when it was seen last. */
  readonly ledgerEnd?: Offset;
  /** How many offsets lie between the two; not each of them is an update, or one that the request selects. */
  readonly lagOffsets?: number;
  /** Since when the ledger was seen to end beyond that, in milliseconds since the epoch; absent where it was not. */
  readonly behindSince?: number;
  /** When the ledger's end was seen last, in milliseconds since the epoch; absent while it was not. */
  readonly seenAt?: number;
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
