import { catchError, EMPTY, endWith, interval, merge, type Observable, type Subscription, takeUntil, tap } from 'rxjs';
import { clampTimer } from '../http/retry.js';
import { type ChangeLog, LogReader } from './ChangeLog.js';
import { heartbeat, retryBytes } from './ServerSentEvent.js';

/** How long an `EventSource` waits before it connects again, in milliseconds. */
const retryMs = 1_000;

/** A stream to one reader. It takes an event from the log whenever the reader wants one. */
export class Connection {
  #reader: LogReader | undefined;
  #isBegun = false;
  /** Whether the reader waits for a chunk. */
  #isWanted = false;
  /** Set when the view has ended, with the last event if there is one. */
  #end: { readonly last?: Uint8Array | undefined } | undefined;
  #subscription: Subscription | undefined;

  constructor(
    private readonly controller: ReadableStreamDefaultController<Uint8Array>,
    private readonly lastEventId: string | undefined,
    private readonly maxBuffered: number,
  ) {}

  open(
    log$: Observable<ChangeLog>,
    { heartbeatMs, until$ }: { readonly heartbeatMs: number; readonly until$: Observable<unknown> },
  ): void {
    const changes$ = log$.pipe(
      tap({
        next: (log) => {
          this.#reader ??= new LogReader(log, this.lastEventId, this.maxBuffered);
          this.#send();
        },
        error: (error: unknown) => {
          this.#endWith(this.#reader?.log.failed(error));
        },
        complete: () => {
          this.#endWith();
        },
      }),
      catchError(() => EMPTY),
    );
    const heartbeats$ = interval(clampTimer(heartbeatMs)).pipe(
      tap(() => {
        if (this.#isWanted) this.#enqueue(heartbeat);
      }),
    );
    // without an authorization that can be relied on, there is none
    const end$ = until$.pipe(
      catchError(() => EMPTY),
      endWith(undefined),
    );
    this.#subscription = merge(changes$, heartbeats$)
      .pipe(takeUntil(end$))
      .subscribe({
        error: (error: unknown) => {
          this.controller.error(error);
        },
        complete: () => {
          this.#close();
        },
      });
  }

  /** The reader wants a chunk. */
  pull(): void {
    this.#isWanted = true;
    this.#send();
  }

  cancel(): void {
    this.#subscription?.unsubscribe();
  }

  #send(): void {
    if (!this.#isWanted) return;
    const chunk = this.#next();
    if (chunk !== undefined) this.#enqueue(chunk);
    else if (this.#end !== undefined) this.#close();
  }

  #next(): Uint8Array | undefined {
    if (!this.#isBegun) {
      this.#isBegun = true;
      return retryBytes(retryMs);
    }
    const event = this.#reader?.next();
    if (event !== undefined) return event;
    const last = this.#end?.last;
    if (last !== undefined) this.#end = {};
    return last;
  }

  #enqueue(chunk: Uint8Array): void {
    this.#isWanted = false;
    this.controller.enqueue(chunk);
  }

  /** The view has ended. The reader still gets what it has not read. */
  #endWith(last?: Uint8Array): void {
    this.#end = { last };
    this.#send();
  }

  #close(): void {
    this.cancel();
    this.controller.close();
  }
}
