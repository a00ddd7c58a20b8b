import { catchError, concat, defer, EMPTY, ignoreElements, lastValueFrom, merge, mergeMap } from 'rxjs';
import { type Observable, shareReplay, Subject, take, throwError, timer } from 'rxjs';
import type { Participant } from '../participant/Participant.js';
import { clampTimer } from '../wire/values.js';

/** Where connections without a server come in. It is shut while the sandbox is down, and then cuts them off. */
export class Door {
  readonly #cuts = new Subject<void>();
  #state: 'open' | 'shut' | 'closed' = 'open';
  #lastRestart$: Observable<unknown> = EMPTY;

  constructor(private readonly participant: Participant) {}

  /**
   * Lets a connection in, or refuses it. The result does not complete by itself.
   *
   * @param connection - what the connection receives
   * @param cut - what it receives when it is cut off
   */
  admit<A>(connection: () => Observable<A>, cut: () => Observable<A>): Observable<A> {
    return defer(() => {
      if (this.#state !== 'open') return throwError(() => connectionError('ECONNREFUSED', 'connect ECONNREFUSED'));
      // the cut first: a connection may receive everything at once
      const cut$ = this.#cuts.pipe(take(1), mergeMap(cut));
      return merge(cut$, connection());
    });
  }

  /** Cuts off all connections, and refuses new ones. */
  shut(): void {
    if (this.#state === 'open') this.#state = 'shut';
    this.cutAll();
  }

  /** Admits connections again, unless the sandbox is closed. */
  open(): void {
    if (this.#state === 'shut') this.#state = 'open';
  }

  /** Shuts for good. */
  close(): void {
    this.#state = 'closed';
    this.cutAll();
  }

  /** Shuts for a time, after the restarts that were requested before. */
  restart(downMs: number, whileDown?: () => void): Promise<void> {
    const down$ = defer(() => {
      this.shut();
      whileDown?.();
      return downMs > 0 && this.#state !== 'closed' ? timer(clampTimer(downMs), this.participant.scheduler) : EMPTY;
    });
    const opened$ = defer(() => {
      this.open();
      return EMPTY;
    });
    const earlier$ = this.#lastRestart$.pipe(catchError(() => EMPTY));
    const restart$ = concat(earlier$, down$, opened$).pipe(
      ignoreElements(),
      shareReplay({ bufferSize: 1, refCount: false }),
    );
    this.#lastRestart$ = restart$;
    return lastValueFrom(restart$, { defaultValue: undefined });
  }

  private cutAll(): void {
    for (const record of this.participant.log) record.settle();
    this.#cuts.next();
  }
}

/** The error of a connection as `fetch` and `node:http` have it in their causes. */
export const connectionError = (code: 'ECONNREFUSED' | 'ECONNRESET', message: string): Error =>
  Object.assign(new Error(message), { code });
