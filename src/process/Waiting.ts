import { defer, ignoreElements, map, type Observable, repeat, tap, timer } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { HandlerError } from '../errors/process.js';
import { monotonicNow, stopwatch } from '../http/clock.js';
import { clampTimer } from '../http/retry.js';

/** How long a handler and a commit may take before they are reported, in milliseconds. */
const delayedMs = { handler: 30_000, commit: 10_000 };

/** The maximum time between two checks, in milliseconds. */
const maxCheckMs = 5_000;

/** What one run of a processor waits for: its handler, its commit, or nothing. */
export class Waiting {
  #during: keyof typeof delayedMs | undefined;
  #offset: Offset = 0;
  #since = 0;

  constructor(
    private readonly report: Report,
    private readonly handlerTimeoutMs: number,
  ) {}

  /** Begins to wait for the handler, which has the update at an offset, or a batch that begins there. */
  forHandler(offset: Offset, since: number): void {
    this.#begin('handler', offset, since);
  }

  /** Begins to wait for the commit of the updates from an offset. */
  forCommit(offset: Offset): void {
    this.#begin('commit', offset, monotonicNow());
  }

  /** Ends the wait. */
  end(): void {
    this.#during = undefined;
  }

  /**
   * Reports a wait that takes long. Fails with a {@link HandlerError} if a call of the handler takes too long.
   *
   * @param attempts - the number of the attempt
   */
  watch(attempts: number): Observable<never> {
    const check$ = defer(() => {
      const inMs = this.#nextCheckMs();
      const tookMs = stopwatch();
      return timer(clampTimer(inMs)).pipe(map(() => tookMs() - inMs));
    });
    return check$.pipe(
      tap((lateMs) => {
        this.#leaveOut(lateMs);
        this.#check(attempts);
      }),
      repeat(),
      ignoreElements(),
    );
  }

  /** Reports that the wait is given up. */
  abandon(): void {
    const [during, offset, waitedMs] = [this.#during, this.#offset, this.#waitedMs()];
    if (during !== undefined) this.report(() => ({ _tag: 'WorkAbandoned', during, offset, waitedMs }));
  }

  #begin(during: keyof typeof delayedMs, offset: Offset, since: number): void {
    this.#during = during;
    this.#offset = offset;
    this.#since = since;
  }

  #waitedMs(): number {
    return monotonicNow() - this.#since;
  }

  /** While the process was stopped, or its thread blocked, nothing could end. What began only then has not waited yet. */
  #leaveOut(lateMs: number): void {
    this.#since = Math.min(monotonicNow(), this.#since + Math.max(0, lateMs));
  }

  #nextCheckMs(): number {
    const leftMs = this.#during === 'handler' ? this.handlerTimeoutMs - this.#waitedMs() : this.handlerTimeoutMs;
    return Math.max(1, Math.min(maxCheckMs, leftMs));
  }

  #check(attempts: number): void {
    const [during, offset, waitedMs] = [this.#during, this.#offset, this.#waitedMs()];
    if (during === undefined) return;
    if (during === 'handler' && waitedMs >= this.handlerTimeoutMs) {
      const cause = new Error(`it did not end within ${this.handlerTimeoutMs / 1_000} s (handlerTimeoutMs)`);
      // never past the update: those before it in the same transaction were rolled back with it
      const next =
        'mend the handler or raise handlerTimeoutMs, and start again: every update since the last commit is handled again';
      throw new HandlerError(offset, undefined, attempts, cause, next);
    }
    if (waitedMs < delayedMs[during]) return;
    this.report(() =>
      during === 'handler' ? { _tag: 'HandlerDelayed', offset, waitedMs } : { _tag: 'CommitDelayed', waitedMs },
    );
  }
}
