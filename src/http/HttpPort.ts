import type { Observable } from 'rxjs';

/** A request as it is sent. */
export interface HttpRequest {
  /** The method. */
  readonly method: 'GET' | 'POST';
  /** The absolute URL, with its query. */
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; absent for GET. */
  readonly body?: string;
}

/** A response with any status. */
export interface HttpResponse {
  /** The status. */
  readonly status: number;
  /** Names are in lower case. Those that matter here are `retry-after` and `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body. */
  readonly text: string;
}

/**
 * Sends requests to the service: a function from a request to a cold Observable that emits one response, whatever its
 * status, and completes. It aborts the request when it is unsubscribed, and errors if there is no response. It neither
 * retries nor times out.
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

/** The path of a URL, for errors: without host, query and credentials. */
export const pathOf = (url: string): string => new URL(url).pathname;
