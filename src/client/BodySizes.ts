import { monotonicNow } from '../http/clock.js';

/** A smaller body is not refused because of its size, in bytes: a gateway that says so is broken. */
const minLimit = 65_536;

/** After this time, a refused size is tried again, in milliseconds: an operator may have raised the limit. */
const rememberMs = 600_000;

/** What a participant, or a gateway in front of it, shows of the sizes that it accepts, in bytes. */
export class BodySizes {
  /** The largest size that was accepted. */
  #accepted = 0;
  /** The smallest size that was refused, and when. */
  #refused: { readonly size: number; readonly at: number } | undefined;

  /** Records that a body was accepted. If a smaller one was refused, that limit is no more. */
  accept(size: number): void {
    this.#accepted = Math.max(this.#accepted, size);
    if (this.#refused !== undefined && this.#refused.size <= size) this.#refused = undefined;
  }

  /** Records that a body was refused because of its size. */
  refuse(size: number): void {
    if (size < minLimit) return;
    const at = monotonicNow();
    this.#refused = { size: Math.min(size, this.#limit(at)), at };
    if (this.#accepted >= size) this.#accepted = 0;
  }

  /** Why a body need not be sent; `undefined` if it may be accepted. */
  problemOf(size: number): string | undefined {
    const limit = this.#limit(monotonicNow());
    if (size < limit) return undefined;
    const accepted = this.#accepted === 0 ? '' : `, and the largest that was accepted ${this.#accepted}`;
    return `not sent, because it is too large: it has ${size} bytes; a request of ${limit} bytes was refused${accepted}`;
  }

  #limit(now: number): number {
    return this.#refused !== undefined && now - this.#refused.at < rememberMs ? this.#refused.size : Infinity;
  }
}
