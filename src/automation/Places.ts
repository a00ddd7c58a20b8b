import { asyncScheduler } from 'rxjs';

/** The maximum number of submissions and decisions in progress, with those that have given back their place. */
const maxRunning = 1_000;

/** How much a rule does at the same time: up to a number of places, less after a pause, and nothing during one. */
export class Places {
  #taken = 0;
  #pauses = 0;
  #pausedUntil = -Infinity;
  /** The number of submissions and decisions in progress. */
  running = 0;

  constructor(private readonly concurrency: number) {}

  /** Whether something may begin. After a pause, one attempt shows whether it is over. */
  get isFree(): boolean {
    const limit = this.#pauses > 0 ? 1 : this.concurrency;
    return this.#taken < limit && this.running < maxRunning && !this.isPaused;
  }

  get isPaused(): boolean {
    return this.pauseMs > 0;
  }

  /** How long the pause lasts, in milliseconds. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - asyncScheduler.now());
  }

  /** The number of pauses since the participant last showed that it is not overloaded. */
  get pauses(): number {
    return this.#pauses;
  }

  /** Takes a place. Returns how to give it back, and how to end what is in progress. */
  take(): { readonly giveBack: () => void; readonly end: () => void } {
    let isTaken = true;
    this.#taken += 1;
    this.running += 1;
    const giveBack = (): void => {
      if (isTaken) this.#taken -= 1;
      isTaken = false;
    };
    const end = (): void => {
      giveBack();
      this.running -= 1;
    };
    return { giveBack, end };
  }

  /** Begins a pause, or prolongs it. */
  pause(delayMs: number): void {
    this.#pauses += 1;
    this.#pausedUntil = Math.max(this.#pausedUntil, asyncScheduler.now() + delayMs);
  }

  /** The participant is not overloaded. */
  resume(): void {
    this.#pauses = 0;
  }
}
