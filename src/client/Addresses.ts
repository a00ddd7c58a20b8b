import { defer, map, type Observable, type ObservableInput, Subject, take, tap } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { ConnectionError } from '../errors/request.js';
import { monotonicNow } from '../http/clock.js';
import { mapError, timeoutWith } from '../http/retry.js';

/**
 * The URL of a participant's JSON Ledger API; or those of several participants that host the same parties; or a function
 * that returns the URL for a request.
 *
 * - A list: all requests go to one address, at first to the first one. After an outage, the requests go to the next one,
 *   and after the last one to the first again.
 * - A function: it is called before every request, and may return an Observable or a Promise. If it fails, so does the
 *   request, with a transient `ConnectionError`.
 *
 * @category Ledger
 */
export type BaseUrl = string | readonly [string, ...string[]] | (() => string | ObservableInput<string>);

/**
 * The addresses of a ledger that has several, and the one to which requests go now. All requests share it, because the
 * offsets of a participant mean nothing at another one.
 */
export class Addresses {
  /** The index of the present address in a list. */
  #index = 0;
  #last: string | undefined;
  /** When the present address failed after its last answer, in milliseconds. */
  #failingSince: number | undefined;
  #answeredAt = -Infinity;
  readonly #moved = new Subject<void>();

  /**
   * @param source - a list of valid addresses, or a function, whose addresses are checked
   * @param nextAfterMs - how long an address of the list may fail before the next one is tried, in milliseconds
   * @param timeoutMs - how long the function may take, in milliseconds
   */
  constructor(
    private readonly source: readonly string[] | Extract<BaseUrl, () => unknown>,
    private readonly nextAfterMs: number,
    private readonly timeoutMs: number,
  ) {}

  /** The address of the last request; `undefined` before the first one. */
  get last(): string | undefined {
    return this.#last;
  }

  /** Emits after the requests have gone to another address. */
  get moved$(): Observable<void> {
    return this.#moved.asObservable();
  }

  /** Emits the address for a request. Reports if it is another one than before. */
  next(path: string, report: Report): Observable<string> {
    const { source } = this;
    return defer(() => (typeof source === 'function' ? this.#ask(source, path) : [this.#choose(source)])).pipe(
      tap((to) => {
        const from = this.#last;
        this.#last = to;
        if (from === undefined || from === to) return;
        report(() => ({ _tag: 'AddressChanged', from, to }));
        this.#moved.next();
      }),
    );
  }

  /**
   * Records how a request ended. Any answer of the participant ends the outage of an address, a refusal too.
   *
   * @param waitingSince - since when there should have been a response, in milliseconds
   */
  ended(address: string, waitingSince: number, error?: unknown): void {
    // a late end of a request to the last address says nothing about the present one
    if (address !== this.#last) return;
    const now = monotonicNow();
    if (!isOutage(error)) {
      this.#failingSince = undefined;
      this.#answeredAt = now;
      return;
    }
    const since = isLedgerError(error, 'RequestTimeoutError') ? waitingSince : now;
    this.#failingSince ??= Math.max(since, this.#answeredAt);
  }

  /** Chooses from a list when a request is sent, not when one fails, so that the outage includes the delay in between. */
  #choose(list: readonly string[]): string {
    if (this.#failingSince !== undefined && monotonicNow() - this.#failingSince >= this.nextAfterMs) {
      this.#index = (this.#index + 1) % list.length;
      this.#failingSince = undefined;
      this.#answeredAt = -Infinity;
    }
    return list[this.#index] ?? '';
  }

  #ask(source: () => string | ObservableInput<string>, path: string): Observable<string> {
    const fail = (reason: string): ConnectionError => new ConnectionError(path, reason);
    return defer(() => {
      const provided = source();
      return typeof provided === 'string' ? [provided] : provided;
    }).pipe(
      take(1),
      map(validateBaseUrl),
      // not the error of the function, which may quote a secret
      mapError((error) => fail(error instanceof InvalidUrl ? error.message : 'the function baseUrl failed')),
      timeoutWith(this.timeoutMs, () => fail('the function baseUrl returned no address in time')),
    );
  }
}

/** Whether an error leaves open whether the participant works: there is no answer, or only that of a gateway. */
const isOutage = (error: unknown): error is LedgerError =>
  isLedgerError(error, 'ConnectionError', 'RequestTimeoutError') ||
  (isLedgerError(error, 'ApiError') &&
    isTransient(error) &&
    (error.status >= 500 || (error.answeredBy === 'network' && error.status !== 429)));

/** An address that a ledger cannot have. */
class InvalidUrl extends TypeError {}

/** Checks an address, and returns it without slashes at its end. Throws a TypeError. */
export function validateBaseUrl(baseUrl: string): string {
  // paths are appended to it, and errors and reports may show it
  if (!/^https?:\/\/[^\s@?#]+$/.test(baseUrl) || !URL.canParse(baseUrl)) {
    const got = /[@?#%]/.test(baseUrl) ? '' : `, got '${baseUrl}'`;
    throw new InvalidUrl(`baseUrl must be an absolute http(s) URL without credentials, query, hash or spaces${got}`);
  }
  return baseUrl.replace(/(?<!\/)\/+$/, '');
}
