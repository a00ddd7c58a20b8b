import { Ledger } from '../ledger/Ledger.js';
import { timerMs } from '../wire/values.js';
import { HostedParties } from './parties.js';
import type { Settings } from './Settings.js';

/** A command that was committed. */
export interface Accepted {
  readonly submissionId: string;
  readonly completionOffset: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/** The state of the service: what it is set to, its ledger, its parties and the commands that it remembers or has under way. */
export class Participant {
  readonly ledger = new Ledger();
  readonly hosted = new HostedParties();
  readonly deduplication = new Deduplication();
  readonly pending = new PendingCommits();

  constructor(readonly settings: Settings) {}
}

/** The committed commands by change id: user, acting parties and command id. */
class Deduplication {
  readonly #accepted = new Map<string, Accepted>();

  find(changeId: string): Accepted | undefined {
    return this.#accepted.get(changeId);
  }

  remember(changeId: string, accepted: Accepted): void {
    this.#accepted.set(changeId, accepted);
  }

  /** A restored participant knows nothing of what came after its backup. */
  restore(ledgerEnd: number): void {
    for (const [changeId, { completionOffset }] of this.#accepted) {
      if (completionOffset > ledgerEnd) this.#accepted.delete(changeId);
    }
  }
}

/** The submissions that were taken and are not committed yet, by change id. */
class PendingCommits {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  has(changeId: string): boolean {
    return this.#timers.has(changeId);
  }

  /** Commits later; to be called for a change that is not under way. */
  add(changeId: string, ms: number, commit: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(changeId);
      commit();
    }, timerMs(ms));
    this.#timers.set(changeId, timer);
    timer.unref();
  }

  /** None of them will be committed. */
  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
