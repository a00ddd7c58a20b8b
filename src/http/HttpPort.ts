import type { Observable } from 'rxjs';

/** A request as it leaves. */
export interface HttpRequest {
  /** The method. */
  readonly method: 'GET' | 'POST';
  /** Absolute, with its query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; absent for GET. */
  readonly body?: string;
}

/** An answer, of whatever status. */
export interface HttpResponse {
  /** The status. */
  readonly status: number;
  /** Names in lower case; those that matter here are `retry-after` and `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body. */
  readonly text: string;
}

/**
 * The way to the service: a function from a request to an Observable that is cold, emits one answer whatever its status
 * and completes, aborts when it is unsubscribed, and errors where there is no answer. Neither retries nor times out.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { createLedger, type HttpPort } from 'canton-rx';
 *
 * const port: HttpPort = () => of({ status: 200, headers: {}, text: '{"offset":42}' });
 * createLedger({ baseUrl: 'http://ledger.example', port }).ledgerEnd(); // emits 42
 * ```
 */
export type HttpPort = (request: HttpRequest) => Observable<HttpResponse>;
