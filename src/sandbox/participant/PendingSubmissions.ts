import { AsyncSubject, defer, map, type Observable, type SchedulerLike, Subscription, timer } from 'rxjs';
import { clampTimer } from '../wire/values.js';
import type { Submission } from './Completions.js';

/** The submissions that are in flight, by change id, and those that are not registered yet. */
export class PendingSubmissions {
  readonly #inFlight = new Map<string, Submission>();
  readonly #locked = new Set<string>();
  #running = new Subscription();

  constructor(private readonly scheduler: SchedulerLike) {}

  find(changeId: string): Submission | undefined {
    return this.#inFlight.get(changeId);
  }

  /** Whether a submission that is in flight locks a contract. */
  isLocked(contractId: string): boolean {
    return this.#locked.has(contractId);
  }

  /** Keeps a change in flight for a time, with contracts locked, and then emits. It must not be in flight already. */
  hold(changeId: string, submission: Submission, contractIds: readonly string[], ms: number): Observable<undefined> {
    return defer(() => {
      this.#inFlight.set(changeId, submission);
      for (const contractId of contractIds) this.#locked.add(contractId);
      return timer(clampTimer(ms), this.scheduler);
    }).pipe(
      map(() => {
        this.#inFlight.delete(changeId);
        for (const contractId of contractIds) this.#locked.delete(contractId);
        return undefined;
      }),
    );
  }

  /** Runs the work of a submission to its end, also if its client disconnects. Emits the result. */
  run<A>(work$: Observable<A>): Observable<A> {
    const result$ = new AsyncSubject<A>();
    this.#running.add(work$.subscribe(result$));
    return result$;
  }

  /** Cancels all pending submissions. */
  clear(): void {
    this.#running.unsubscribe();
    this.#running = new Subscription();
    this.#inFlight.clear();
    this.#locked.clear();
  }
}
