import { isInterfaceType } from '../../codecs/ContractType.js';
import { matchId } from '../../codecs/decodePayload.js';
import { monotonicNow } from '../../http/clock.js';
import type { ReconcileReason } from '../ContractChange.js';
import type { ContractQuery } from '../ContractQuery.js';
import type { EndingEvent } from '../ContractsFold.js';

/** The wait after contracts were read again and did not differ, in milliseconds. It doubles each time. */
const minPauseMs = 60_000;

/** The longest such wait, in milliseconds. */
const maxPauseMs = 60 * 60_000;

/** How many contracts are remembered that were missing once. */
const maxRemembered = 10_000;

/**
 * Signs that contracts are missing from those that a feed keeps up to date, and when to read the contracts again because
 * of them. A sign may mislead: an update can end a contract that a party only witnessed. So each contract counts once, and
 * readings that found no difference are spaced out.
 */
export class Suspicion {
  readonly #isSelected: (event: EndingEvent) => boolean;
  readonly #missed = new Set<string>();
  #reason: ReconcileReason | undefined;
  #dueAt = -Infinity;
  #pauseMs = minPauseMs;

  constructor({ types = {} }: ContractQuery) {
    const all = Object.values(types);
    const matchers = all.map(({ templateId }) => matchId(templateId));
    // an event that ends a contract does not say which interfaces its template implements
    const isAnySelected = all.length === 0 || all.some(isInterfaceType);
    this.#isSelected = ({ templateId, packageName }) =>
      isAnySelected || templateId === undefined || matchers.some((matches) => matches(templateId, packageName));
  }

  /** Why the contracts must be read again now; `undefined` if they need not. */
  get due(): ReconcileReason | undefined {
    return monotonicNow() >= this.#dueAt ? this.#reason : undefined;
  }

  /** Records updates at or before the offset that was reached: they match the query by now. */
  appeared(): void {
    this.#reason ??= 'appeared';
    this.#dueAt = -Infinity;
  }

  /** Records a new package. */
  packageFound(): void {
    this.#reason = 'packageFound';
    this.#dueAt = -Infinity;
  }

  /** Records events that ended or moved contracts which were not there. */
  missed(events: readonly EndingEvent[]): void {
    for (const event of events) {
      const { contractId } = event;
      if (this.#missed.has(contractId) || !this.#isSelected(event)) continue;
      if (this.#missed.size >= maxRemembered) this.#missed.clear();
      this.#missed.add(contractId);
      this.#reason ??= 'appeared';
    }
  }

  /** Records that the contracts were read again. */
  checked(isDifferent: boolean): void {
    this.#reason = undefined;
    this.#pause(isDifferent);
  }

  /** Records that they cannot be read at this offset: a later one may do. */
  postponed(): void {
    this.#pause(false);
  }

  #pause(isDifferent: boolean): void {
    this.#dueAt = isDifferent ? -Infinity : monotonicNow() + this.#pauseMs;
    this.#pauseMs = isDifferent ? minPauseMs : Math.min(maxPauseMs, this.#pauseMs * 2);
  }
}
