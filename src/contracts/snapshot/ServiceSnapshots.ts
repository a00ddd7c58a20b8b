import { asyncScheduler } from 'rxjs';
import type { Service } from '../../feed/Service.js';

/** How long pages are not requested after they were missing, in milliseconds. */
const pagesRetryMs = 60_000;

/** What is learned of a service about snapshots. Programs that read none do not load it. */
class ServiceSnapshots {
  #pagesMissingAt = -Infinity;
  #limit = Infinity;

  /** Whether to request pages. They are requested again some time after they were missing, or if the clock is set. */
  get hasPages(): boolean {
    return Math.abs(asyncScheduler.now() - this.#pagesMissingAt) >= pagesRetryMs;
  }

  /** The service, or a gateway before it, does not serve pages. That may be temporary. */
  pagesMissing(): void {
    this.#pagesMissingAt = asyncScheduler.now();
  }

  /** The maximum number of contracts in a page or a list. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** A page was answered fast: later ones may be a little larger. */
  answered(): void {
    this.#limit *= 1.1;
  }

  /** A page with `limit` contracts was too large, or took too long: later ones have at most half. Of several, the smallest counts. */
  tooLarge(limit: number): void {
    this.#limit = Math.min(this.#limit, Math.max(1, limit / 2));
  }
}

/** By service: all readers of a ledger's contracts share it. */
const learned = new WeakMap<object, ServiceSnapshots>();

/** What is learned of a service about snapshots. */
export function snapshotsOf({ identity }: Service): ServiceSnapshots {
  const known = learned.get(identity) ?? new ServiceSnapshots();
  learned.set(identity, known);
  return known;
}
