import { asyncScheduler } from 'rxjs';
import { jitter } from '../http/retry.js';

/**
 * The result of a WebSocket that has ended: it delivered elements, it delivered none, or another path must be tried.
 */
type SocketResult = 'delivered' | 'empty' | 'pathSwitched';

/** The delay after the end of a socket before a feed of its ledger opens another one. */
const backOff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };

/** The sockets of a participant that have ended. All feeds of a ledger share it, whichever transport opens their sockets. */
export class SocketBackOff {
  #endedAt = 0;
  #delayMs = 0;
  /** The number of consecutive sockets that delivered nothing. */
  #failures = 0;

  /** Whether a socket ended so recently that no feed opens another. Setting the clock back does not prolong the delay. */
  get isActive(): boolean {
    return Math.abs(asyncScheduler.now() - this.#endedAt) < this.#delayMs;
  }

  /**
   * Records that a socket has ended. Returns for how long no feed opens another one, in milliseconds: the more consecutive
   * sockets deliver nothing, the longer. Several sockets that end within one delay count as one failure.
   */
  ended(result: SocketResult): number {
    this.#failures = result === 'empty' ? this.#failures + Number(!this.isActive) : 0;
    this.#delayMs = result === 'pathSwitched' ? 0 : jitter(this.#failures, backOff);
    this.#endedAt = asyncScheduler.now();
    return this.#delayMs;
  }
}
