import { asyncScheduler, type Observable, Subject, type Subscription } from 'rxjs';
import { monotonicNow } from '../http/clock.js';
import type { CompleteRetryPolicy } from '../http/retry.js';

/** The maximum amount of work in progress, with that which has given back its place. */
const maxRunning = 1_000;

/**
 * How long a submission keeps its place, in milliseconds. One whose outcome takes minutes to determine must not keep others
 * waiting.
 */
const slowSubmissionMs = 5_000;

/** A place that work has taken. */
export interface Place {
  /** Lets other work begin, although this has not ended. */
  readonly giveBack: () => void;
  /** Gives the place back after a time, in milliseconds, if the work has not ended by then. */
  readonly giveBackAfter: (ms: number) => void;
  /** Gives the place of a submission back if its outcome takes long, unless the participant is overloaded. */
  readonly giveBackIfSlow: () => void;
  /**
   * Keeps the place after a decision, to submit what was decided. Returns whether it may: it may not if the place was given back, or
   * if nothing may begin now.
   */
  readonly keep: () => boolean;
  /** The work has ended. */
  readonly end: () => void;
}

/** How much is done at the same time: up to a number of places, less after a pause, and nothing during one. */
export class Places {
  #taken = 0;
  #pauses = 0;
  #pausedUntil = -Infinity;
  readonly #freed = new Subject<void>();
  /** The amount of work in progress. */
  running = 0;

  constructor(private readonly concurrency: number) {}

  /** How much may begin. After a pause, one attempt shows whether it is over. */
  get free(): number {
    return this.isPaused ? 0 : Math.max(0, Math.min(this.#limit - this.#taken, maxRunning - this.running));
  }

  get #limit(): number {
    return this.#pauses > 0 ? 1 : this.concurrency;
  }

  get isFree(): boolean {
    return this.free > 0;
  }

  get isPaused(): boolean {
    return this.pauseMs > 0;
  }

  /** How long the pause lasts, in milliseconds. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - monotonicNow());
  }

  /** The number of pauses since the participant last showed that it is not overloaded. */
  get pauses(): number {
    return this.#pauses;
  }

  /** Emits when a place was given back, or something in progress has ended. */
  get freed$(): Observable<void> {
    return this.#freed.asObservable();
  }

  /** Takes a place. */
  take(): Place {
    let taken = 1;
    let later: Subscription | undefined;
    this.#taken += 1;
    this.running += 1;
    const giveBack = (): void => {
      this.#taken -= taken;
      taken = 0;
      this.#freed.next();
    };
    const giveBackAfter = (ms: number): void => {
      later = asyncScheduler.schedule(giveBack, ms);
    };
    const giveBackIfSlow = (): void => {
      later = asyncScheduler.schedule(() => {
        if (this.#pauses > 0) giveBackIfSlow();
        else giveBack();
      }, slowSubmissionMs);
    };
    const keep = (): boolean => {
      if (taken === 0 || this.isPaused || this.#taken > this.#limit) return false;
      later?.unsubscribe();
      giveBackIfSlow();
      return true;
    };
    const end = (): void => {
      later?.unsubscribe();
      this.running -= 1;
      giveBack();
    };
    return { giveBack, giveBackAfter, giveBackIfSlow, keep, end };
  }

  /** Begins a pause, or prolongs it. */
  pause(delayMs: number): void {
    const leftMs = this.pauseMs;
    // what was sent before it and is refused during it says nothing new
    if (leftMs === 0) this.#pauses += 1;
    this.#pausedUntil = monotonicNow() + Math.max(leftMs, delayMs);
  }

  /** Begins a pause that is longer than the last one, unless there is one. Returns how long it lasts, in milliseconds. */
  beginPause(retry: CompleteRetryPolicy): number {
    if (!this.isPaused) this.pause(delayAfter(retry, this.#pauses));
    return this.pauseMs;
  }

  /** The participant is not overloaded. */
  resume(): void {
    this.#pauses = 0;
  }
}

/** The delay after a number of failures in a row, in milliseconds. */
export const delayAfter = ({ baseDelayMs, maxDelayMs }: CompleteRetryPolicy, failures: number): number =>
  halfJitter(Math.min(maxDelayMs, baseDelayMs * 2 ** failures));

/** Between half and all of a time: attempts neither come at once nor all at the same time. */
export const halfJitter = (ms: number): number => ms * (0.5 + Math.random() / 2);
