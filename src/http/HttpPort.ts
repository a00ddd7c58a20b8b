import { Observable } from 'rxjs';

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

/**
 * Calls an abortable function for each subscription. Emits what it passes to `emit`, and then what its promise is resolved with.
 * Unsubscribing aborts the call, unless its promise is settled.
 */
export const fromAbortable = <A>(
  start: (signal: AbortSignal, emit: (value: A) => void) => Promise<A | undefined>,
): Observable<A> =>
  new Observable<A>((subscriber) => {
    const controller = new AbortController();
    let isSettled = false;
    start(controller.signal, (value) => {
      subscriber.next(value);
    }).then(
      (last) => {
        isSettled = true;
        if (last !== undefined) subscriber.next(last);
        subscriber.complete();
      },
      (error: unknown) => {
        isSettled = true;
        subscriber.error(error);
      },
    );
    return () => {
      // aborting a fetch that has failed may cause a second rejection, which would be unhandled
      if (!isSettled) controller.abort();
    };
  });

/** The path of a URL, for errors: without host, query and credentials. */
export const pathOf = (url: string): string => new URL(url).pathname;

/**
 * Returns headers with their names in lower case. Throws a TypeError for what cannot be sent, and for a header without a value,
 * such as that of a variable that is not set: the platform would send the text `undefined`.
 */
export function parseHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [absent] = absentIn(headers);
  if (absent !== undefined) throw new TypeError(`headers: ${absent} has no value`);
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    // the platform's message quotes the value
    throw new TypeError('headers contains an invalid name or value');
  }
}

/** Returns headers without those that have no value. Throws for what cannot be sent. */
export function presentHeaders(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const present = new Headers(headers);
  for (const name of absentIn(headers)) present.delete(name);
  return Object.fromEntries(present);
}

/** The names of the headers without a value, despite the types. */
const absentIn = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries<unknown>(headers).flatMap(([name, value]) => (value === undefined || value === null ? [name] : []));
