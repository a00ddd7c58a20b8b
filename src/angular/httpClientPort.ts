import {
  FetchBackend,
  HttpBackend,
  HttpClient,
  HttpErrorResponse,
  type HttpResponse as AngularResponse,
} from '@angular/common/http';
import { ApplicationRef, inject, NgZone } from '@angular/core';
import {
  asapScheduler,
  BehaviorSubject,
  catchError,
  concatMap,
  defer,
  filter,
  finalize,
  map,
  type Observable,
  observeOn,
  of,
  race,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { ResponseTooLargeError } from '../errors/request.js';
import { monotonicNow } from '../http/clock.js';
import { type HttpPort, type HttpResponse, pathOf } from '../http/HttpPort.js';
import { outsideZone } from './zone.js';

/**
 * Creates a port that sends requests through Angular's HttpClient. Must be called in an injection context.
 *
 * @internal
 */
export function httpClientPort(): HttpPort {
  const client = inject(HttpClient);
  const yielding = yieldToStability(inject(ApplicationRef));
  const zone = inject(NgZone);
  // the XMLHttpRequest backend warns about this option on each request
  const redirect = inject(HttpBackend) instanceof FetchBackend && ({ redirect: 'manual' } as const);
  return ({ method, url, headers, body }) => {
    const path = pathOf(url);
    const response$ = client
      .request(method, url, {
        ...redirect,
        body,
        headers: { ...headers },
        observe: 'response',
        responseType: 'text',
        // a response received on the server is out of date when the browser has the page
        transferCache: false,
      })
      .pipe(
        map(toHttpResponse),
        catchError((error: unknown) => responseOfError(error, path)),
      );
    if (!path.includes('/v2/updates')) return response$;
    const isPoll = url.includes('stream_idle_timeout_ms=');
    // emits after HttpClient has ended its pending task
    return yielding(isPoll, response$).pipe(observeOn(asapScheduler), outsideZone(zone));
  };
}

/**
 * How long after its first poll an application counts as starting, unless it becomes stable earlier, in milliseconds.
 */
const startupMs = 30_000;

/** How long a poll waits for other requests while the application is starting, in milliseconds. */
const maxTurnMs = 15_000;

/**
 * Delays requests for updates so that the application can become stable between them. Each request keeps it unstable,
 * and a feed always has an open one.
 */
function yieldToStability(app: ApplicationRef): <A>(isPoll: boolean, source: Observable<A>) => Observable<A> {
  const openRequests$ = new BehaviorSubject(0);
  let startedAt: number | undefined;
  let hasBeenStable = false;
  const yielded$ = whenStable(app).pipe(
    tap((isStable) => {
      hasBeenStable ||= isStable;
    }),
  );
  const isStarting = (): boolean => {
    startedAt ??= monotonicNow();
    return !hasBeenStable && monotonicNow() < startedAt + startupMs;
  };
  const turn = (isPoll: boolean): Observable<unknown> => {
    if (openRequests$.value === 0) return yielded$;
    // only the first of concurrent requests yields, but during the start, overlapping polls would keep it unstable
    if (!isPoll || !isStarting()) return of(true);
    const allEnded$ = openRequests$.pipe(filter((open) => open === 0));
    return race(allEnded$, timer(maxTurnMs)).pipe(
      take(1),
      concatMap(() => yielded$),
    );
  };
  return (isPoll, source) =>
    defer(() => turn(isPoll)).pipe(
      concatMap(() => {
        openRequests$.next(openRequests$.value + 1);
        return source.pipe(
          finalize(() => {
            openRequests$.next(openRequests$.value - 1);
          }),
        );
      }),
    );
}

/** How long an application that only has to render may take to become stable, in milliseconds. */
const maxRenderMs = 50;

/** Emits `true` once the application is stable, or `false` if it does not become stable in time. */
const whenStable = (app: ApplicationRef): Observable<boolean> =>
  // other subscribers of `isStable` are notified first
  race(app.isStable.pipe(filter(Boolean), observeOn(asapScheduler)), timer(maxRenderMs).pipe(map(() => false))).pipe(
    take(1),
  );

/** Converts the response of HttpClient to that of a port. */
const toHttpResponse = (response: AngularResponse<unknown> | HttpErrorResponse): HttpResponse => {
  const { headers, status } = response;
  const text: unknown = 'body' in response ? response.body : response.error;
  return {
    status,
    headers: Object.fromEntries(
      headers.keys().map((name) => [name.toLowerCase(), headers.getAll(name)?.join(', ') ?? '']),
    ),
    text: typeof text === 'string' ? text : '',
  };
};

/** HttpClient fails for each status other than 2xx, which is a response for a port. Any other error is passed on. */
function responseOfError(error: unknown, path: string): Observable<HttpResponse> {
  if (!(error instanceof HttpErrorResponse)) return throwError(() => error);
  if (isComplete(error)) return of(toHttpResponse(error));
  const maxBytes = exceededLimit(error.error);
  return throwError(() => (maxBytes === undefined ? error : new ResponseTooLargeError(path, maxBytes)));
}

/** Whether a response was read completely: one that was cut off has its status, but an error in place of the text. */
const isComplete = ({ status, error }: HttpErrorResponse): boolean =>
  status > 0 && (typeof error === 'string' || error === null);

/** The code of Angular 22 for a body that exceeds its limit; negative if angular.dev documents the error. */
const bodyLimitCode = 2825;

/** The default limit on a server, in bytes. The message contains it only in development builds of Angular. */
const defaultBodyLimit = 2 ** 20;

/** Returns the limit that a body has exceeded; `undefined` for any other error. */
function exceededLimit(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (Math.abs(Number(error.code)) !== bodyLimitCode) return undefined;
  const [, bytes = defaultBodyLimit] = /\((\d+) bytes\)/.exec(error.message) ?? [];
  return Number(bytes);
}
