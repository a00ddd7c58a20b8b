import { catchError, concatMap, defer, finalize, map, type Observable, of } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { NotSentError, type Submission } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';

/**
 * The participant at which a change is submitted, if the ledger has several addresses. It stays the same as long as an
 * attempt may have been committed: another participant knows neither the offsets of the first one nor its
 * deduplication, so that the same change sent there could be committed a second time.
 */
export class Home {
  #chosen: Service | undefined;
  #subscriptions = 0;

  constructor(
    private readonly service: Service,
    /** Called before the change is sent to another participant than before. */
    private readonly onMove: () => void,
  ) {}

  /**
   * Submits the change at its participant. Fails with a `NotSentError` if there is no address yet.
   *
   * @param mayBeCommitted - whether an attempt that has ended may have been committed
   */
  submit<A>(
    path: string,
    named: Submission,
    mayBeCommitted: () => boolean,
    send: (service: Service) => Observable<A>,
  ): Observable<A> {
    return defer(() => {
      this.#subscriptions += 1;
      return this.#choose(path, named, mayBeCommitted).pipe(
        concatMap(send),
        finalize(() => {
          this.#subscriptions -= 1;
        }),
      );
    });
  }

  #choose(path: string, named: Submission, mayBeCommitted: () => boolean): Observable<Service> {
    // another subscription may be sending it there
    const mustStay = (): boolean => this.#subscriptions > 1 || mayBeCommitted();
    if (this.#chosen !== undefined && mustStay()) return of(this.#chosen);
    return this.service.located(path).pipe(
      catchError((error: unknown) => {
        throw isLedgerError(error, 'ConnectionError') ? new NotSentError(error.reason, named) : error;
      }),
      map((present) => {
        if (this.#chosen === undefined || !mustStay()) {
          if (this.#chosen !== undefined && this.#chosen !== present) this.onMove();
          this.#chosen = present;
        }
        return this.#chosen;
      }),
    );
  }
}
