import { timerMs } from '../http/timerMs.js';

/** The submissions that were taken and are not committed yet, by change id. */
export class PendingCommits {
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
