import { asyncScheduler, type Observable, Subject } from 'rxjs';

/** The maximum number of submissions and decisions in progress, with those that have given back their place. */
const maxRunning = 1_000;

/** How much a rule does at the same time: up to a number of places, less after a pause, and nothing during one. */
export class Places {
  #taken = 0;
  #pauses = 0;
  #pausedAt = 0;
  #pausedForMs = 0;
  readonly #freed = new Subject<void>();
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
    const now = asyncScheduler.now();
    // a clock that was set back must not prolong it
    this.#pausedAt = Math.min(this.#pausedAt, now);
    return Math.max(0, this.#pausedAt + this.#pausedForMs - now);
  }

  /** The number of pauses since the participant last showed that it is not overloaded. */
  get pauses(): number {
    return this.#pauses;
  }

  /** Emits when a place was given back, or something in progress has ended. */
  get freed$(): Observable<void> {
    return this.#freed.asObservable();
  }

  /** Takes a place. Returns how to give it back, and how to end what is in progress. */
  take(): { readonly giveBack: () => void; readonly end: () => void } {
    let taken = 1;
    this.#taken += 1;
    this.running += 1;
    const giveBack = (): void => {
      this.#taken -= taken;
      taken = 0;
      this.#freed.next();
    };
    const end = (): void => {
      this.running -= 1;
      giveBack();
    };
    return { giveBack, end };
  }

  /** Begins a pause, or prolongs it. */
  pause(delayMs: number): void {
    const leftMs = this.pauseMs;
    // what was sent before it and is refused during it says nothing new
    if (leftMs === 0) this.#pauses += 1;
    this.#pausedAt = asyncScheduler.now();
    this.#pausedForMs = Math.max(leftMs, delayMs);
  }

  /** The participant is not overloaded. */
  resume(): void {
    this.#pauses = 0;
  }
}
