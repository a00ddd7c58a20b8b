import type { Observable } from 'rxjs';

/**
 * An HTTP request, as it is sent.
 *
 * @category HTTP
 */
export interface HttpRequest {
  /** The method. */
  readonly method: 'GET' | 'POST';
  /** The absolute URL, with its query. */
  readonly url: string;
  /** The headers. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body: JSON text, or the form of a login. Absent for GET. */
  readonly body?: string;
}

/**
 * An HTTP response with any status.
 *
 * @category HTTP
 */
export interface HttpResponse {
  /** The status. 0 for a redirect that the platform neither follows nor shows, as in browsers. */
  readonly status: number;
  /**
   * The headers. Names are in lower case. The library reads `retry-after`, `date` and `location`, and in errors `server` and
   * `via`.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body. */
  readonly text: string;
}

/**
 * Sends HTTP requests: a function that takes a request and returns a cold Observable. The Observable emits one response with
 * any status and completes, or errors if there is no response. Unsubscribing aborts the request. A port neither retries nor
 * times out.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { createLedger, type HttpPort } from 'canton-rx';
 *
 * const port: HttpPort = () => of({ status: 200, headers: {}, text: '{"offset":42}' });
 * createLedger({ baseUrl: 'http://ledger.example', port }).ledgerEnd(); // emits 42
 * ```
 * @category HTTP
 */
export type HttpPort = (request: HttpRequest) => Observable<HttpResponse>;

/** The path of a URL, for errors: without host, query and credentials. */
export const pathOf = (url: string): string => new URL(url).pathname;
