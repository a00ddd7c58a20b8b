import { defer, finalize, type Observable, share, tap } from 'rxjs';

/** A call that returns one value, shared by all subscribers that need the value at the same time. */
export class SharedCall<A> {
  #running$: Observable<A> | undefined;

  constructor(private readonly call$: Observable<A>) {}

  /** Whether a subscriber waits for the value. */
  get isRunning(): boolean {
    return this.#running$ !== undefined;
  }

  /** Emits the value of the call that is running, or of a new one. The call ends with its last subscriber. */
  readonly value$: Observable<A> = defer(() => (this.#running$ ??= this.#start()));

  #start(): Observable<A> {
    const end = (): void => {
      if (this.#running$ === running$) this.#running$ = undefined;
    };
    // ends before the value is emitted, because that may synchronously lead to the next call
    const running$ = this.call$.pipe(tap({ next: end, error: end }), finalize(end), share());
    return running$;
  }
}
