import { Ledger } from '../ledger/Ledger.js';
import type { Submission } from '../submission/Submission.js';
import { clampTimer } from '../wire/values.js';
import { Completions } from './Completions.js';
import { HostedParties } from './parties.js';
import type { Settings } from './Settings.js';

/** The state of the sandbox: its settings, its ledger, its parties, and its completed and pending submissions. */
export class Participant {
  readonly ledger = new Ledger();
  readonly hosted = new HostedParties();
  readonly completions = new Completions();
  readonly pending = new PendingSubmissions();

  constructor(readonly settings: Settings) {}
}

/** The submissions that are in flight, by change id, and those that are not registered yet. */
class PendingSubmissions {
  readonly #inFlight = new Map<string, Submission>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  find(changeId: string): Submission | undefined {
    return this.#inFlight.get(changeId);
  }

  /** Commits after a delay. The change must not be in flight already. */
  add(changeId: string, submission: Submission, ms: number, commit: () => void): void {
    this.#inFlight.set(changeId, submission);
    this.hold(ms, () => {
      this.#inFlight.delete(changeId);
      commit();
    });
  }

  /** Registers a submission after a delay. Until then, it is not in flight. */
  hold(ms: number, register: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      register();
    }, clampTimer(ms));
    this.#timers.add(timer);
    timer.unref();
  }

  /** Cancels all pending submissions. */
  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#inFlight.clear();
  }
}
