import { Ledger } from '../ledger/Ledger.js';
import { clampTimer } from '../wire/values.js';
import { HostedParties } from './parties.js';
import type { Settings } from './Settings.js';

/** A committed command. */
export interface CommittedCommand {
  readonly submissionId: string;
  readonly completionOffset: number;
  /** The time of the commit, in milliseconds since the epoch. */
  readonly at: number;
}

/** The state of the sandbox: its settings, its ledger, its parties, and its committed and pending commands. */
export class Participant {
  readonly ledger = new Ledger();
  readonly hosted = new HostedParties();
  readonly deduplication = new Deduplication();
  readonly pending = new PendingCommits();

  constructor(readonly settings: Settings) {}
}

/** The committed commands by change id: user, acting parties and command id. */
class Deduplication {
  readonly #committed = new Map<string, CommittedCommand>();

  find(changeId: string): CommittedCommand | undefined {
    return this.#committed.get(changeId);
  }

  add(changeId: string, command: CommittedCommand): void {
    this.#committed.set(changeId, command);
  }

  /** Removes the commands that were committed after a backup. */
  restore(ledgerEnd: number): void {
    for (const [changeId, { completionOffset }] of this.#committed) {
      if (completionOffset > ledgerEnd) this.#committed.delete(changeId);
    }
  }
}

/** The accepted submissions that are not committed yet, by change id. */
class PendingCommits {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  has(changeId: string): boolean {
    return this.#timers.has(changeId);
  }

  /** Commits after a delay. The change must not be pending already. */
  add(changeId: string, ms: number, commit: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(changeId);
      commit();
    }, clampTimer(ms));
    this.#timers.set(changeId, timer);
    timer.unref();
  }

  /** Cancels all pending commits. */
  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
