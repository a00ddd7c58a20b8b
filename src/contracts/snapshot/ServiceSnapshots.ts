import { asyncScheduler } from 'rxjs';
import type { Service } from '../../feed/Service.js';

/** How long no pages are requested after the participant did not serve them, in milliseconds. */
const pagesRetryMs = 60_000;

/** What is known about the snapshots of a participant. Programs that read none do not load this. */
class ServiceSnapshots {
  #pagesMissingAt = -Infinity;
  #limit = Infinity;

  /** Whether to request pages. They are requested again after a while, or if the clock was changed. */
  get hasPages(): boolean {
    return Math.abs(asyncScheduler.now() - this.#pagesMissingAt) >= pagesRetryMs;
  }

  /** Records that the participant, or a gateway in front of it, does not serve pages. That may be temporary. */
  pagesMissing(): void {
    this.#pagesMissingAt = asyncScheduler.now();
  }

  /** The maximum number of contracts in a page or a list. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Records a fast response: later pages may be a little larger. */
  answered(): void {
    this.#limit *= 1.1;
  }

  /**
   * Records that a page with `limit` contracts was too large or took too long: later pages have at most half as many.
   * Of several such pages, the smallest counts.
   */
  tooLarge(limit: number): void {
    this.#limit = Math.min(this.#limit, Math.max(1, limit / 2));
  }
}

/** By participant: all readers of a ledger's contracts share it. */
const learned = new WeakMap<object, ServiceSnapshots>();

/** Returns what is known about the snapshots of a participant. */
export function snapshotsOf({ identity }: Service): ServiceSnapshots {
  const known = learned.get(identity) ?? new ServiceSnapshots();
  learned.set(identity, known);
  return known;
}
