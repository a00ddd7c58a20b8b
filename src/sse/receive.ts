import { concat, concatMap, defer, type Observable, throwError, timeout } from 'rxjs';
import { parseRetryAfter, toConnectionError } from '../client/exchange.js';
import { sendWithToken, type TokenUser } from '../client/TokenSource.js';
import { ApiError } from '../errors/ApiError.js';
import { ConnectionError, RequestTimeoutError, ResponseTooLargeError } from '../errors/request.js';
import { clampTimer, mapError } from '../http/retry.js';
import { readEvents, type ServerSentEvent } from './ServerSentEvent.js';
import { fromAbortable, type HttpRequest } from '../http/HttpPort.js';

/** The server whose events are received. */
export interface RemoteServer extends TokenUser {
  readonly url: URL;
  readonly open: StreamPort;
  /** How long nothing may come, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The maximum number of characters of an event. */
  readonly maxEventLength: number;
  /** Whether it has sent events before. */
  hasAnswered: boolean;
}

/**
 * Receives events until the connection fails or the server ends it, which is an error, too. Every error is a `LedgerError`.
 * Emits an empty list when the server has accepted the request.
 *
 * @param lastEventId - the ID of the last event that was received before; empty if there is none
 */
export const receive = (server: RemoteServer, lastEventId: string): Observable<readonly ServerSentEvent[]> => {
  const { url, host } = server;
  const path = url.pathname;
  const send = (token: string | undefined): Observable<readonly ServerSentEvent[]> => {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId !== '' && { 'last-event-id': lastEventId }),
      ...server.headersWith(token),
    };
    const parts$ = defer(() => server.open({ method: 'GET', url: url.href, headers })).pipe(
      mapError((error) => toConnectionError(path, error, host, () => server.hasAnswered)),
      timeout({
        each: clampTimer(server.idleTimeoutMs),
        with: () => throwError(() => new RequestTimeoutError(path, server.idleTimeoutMs, host)),
      }),
    );
    const ended$ = throwError(() => endedError(server, 'the stream of events ended'));
    return concat(parts$, ended$).pipe(
      concatMap((part) => {
        if (part._tag === 'Chunk') return [part.bytes];
        checkHead(server, part);
        return [new Uint8Array()];
      }),
      readEvents(
        server.maxEventLength,
        () => new ResponseTooLargeError(path, server.maxEventLength),
        () => new ConnectionError(path, 'the stream of events is not UTF-8', { host }),
      ),
    );
  };
  return sendWithToken(server, { path }, send);
};

/** The shortest time before the next connection after the server has ended one, and the longest, in milliseconds. */
const [minPauseMs, maxPauseMs] = [500, 1_500];

/**
 * Returns the error for a connection that the server has ended. It may end all of them at once, and each time immediately, so
 * they do not come back at once.
 */
export const endedError = ({ url, host }: Pick<RemoteServer, 'url' | 'host'>, reason: string): ConnectionError => {
  const pauseMs = minPauseMs + Math.random() * (maxPauseMs - minPauseMs);
  return new ConnectionError(url.pathname, reason, { host, retryAfterMs: pauseMs });
};

/** Throws the error of a response that has no events. */
function checkHead(server: RemoteServer, { status, headers }: Extract<StreamPart, { readonly _tag: 'Head' }>): void {
  const { url, host, hasAnswered } = server;
  const path = url.pathname;
  server.tokens.answeredAt(headers['date']);
  const retryAfterMs = parseRetryAfter(headers);
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
  if (status === 200 && isStream) {
    server.hasAnswered = true;
    return;
  }
  if (status >= 200 && status <= 299) {
    const hint = 'check the address: it must be that of the stream of events';
    throw new ConnectionError(path, 'the response is not a stream of events', {
      host,
      hint,
      isPermanent: !hasAnswered,
      retryAfterMs,
    });
  }
  const { location } = headers;
  // the application itself decides who may read; once it has, anything else is an outage
  const isOfServer = status === 401 || status === 403 || (status >= 400 && !hasAnswered);
  throw new ApiError({
    ...{ path, status, host },
    ...(status < 400 && { url: url.origin + path, ...(location !== undefined && { location }) }),
    answeredBy: isOfServer ? 'ledger' : 'network',
    answeredBefore: hasAnswered ? 'here' : undefined,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** A part of a response that is read while it comes: first its head, then the chunks of its body. */
type StreamPart =
  | {
      readonly _tag: 'Head';
      readonly status: number;
      /** The headers. Names are in lower case. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly _tag: 'Chunk'; readonly bytes: Uint8Array };

/**
 * Sends a request whose response has no end. Emits the parts of the response, and completes with it. Errors if the connection
 * fails, before or after the head. Unsubscribing aborts the request.
 */
export type StreamPort = (request: HttpRequest) => Observable<StreamPart>;

/** Sends requests with `fetch`, and reads their responses while they come. */
export const fetchStream =
  (fetch?: typeof globalThis.fetch): StreamPort =>
  ({ method, url, headers }) =>
    fromAbortable<StreamPart>(async (signal, emit) => {
      // following a redirect would send headers to another host
      const init: RequestInit = { method, headers, signal, redirect: 'manual' };
      const response = await (fetch === undefined ? globalThis.fetch(url, init) : fetch(new Request(url, init)));
      emit({ _tag: 'Head', status: response.status, headers: Object.fromEntries(response.headers) });
      const reader = response.body?.getReader();
      // a fetch that is not the one of the platform may not know the signal
      const cancel = (): void => void reader?.cancel().catch(() => undefined);
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel);
      for (;;) {
        const { value: bytes } = (await reader?.read()) ?? {};
        if (bytes === undefined) return undefined;
        emit({ _tag: 'Chunk', bytes });
      }
    });
