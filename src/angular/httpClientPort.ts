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
  asyncScheduler,
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
import { AnswerTooLargeError } from '../errors/request.js';
import type { HttpPort, HttpResponse } from '../http/HttpPort.js';
import { pathOf } from '../http/kyPort.js';
import { outsideZone } from './zone.js';

/** The port of Angular's HttpClient. To be called where `inject()` can be. */
export function httpClientPort(): HttpPort {
  const client = inject(HttpClient);
  const inTurn = yieldToStability(inject(ApplicationRef));
  const zone = inject(NgZone);
  // XMLHttpRequest does not know it, and each request would be warned of
  const onlyHere = inject(HttpBackend) instanceof FetchBackend && ({ redirect: 'manual' } as const);
  return ({ method, url, headers, body }) => {
    const path = pathOf(url);
    const answer$ = client
      .request(method, url, {
        ...onlyHere,
        body,
        headers: { ...headers },
        observe: 'response',
        responseType: 'text',
        // what a ledger says now, it does not say when the page is there
        transferCache: false,
      })
      .pipe(
        map(responseOf),
        catchError((error: unknown) => answerOf(error, path)),
      );
    if (!path.includes('/v2/updates')) return answer$;
    // HttpClient has ended its task by then
    return inTurn(url.includes('stream_idle_timeout_ms='), answer$).pipe(observeOn(asapScheduler), outsideZone(zone));
  };
}

const startMs = 30_000;

/** How long polls wait for one another at most, and for how long they do so from the first on, in milliseconds. */
const longestMsGivingWay = 15_000;

/** Has requests wait for their turn, so that those of feeds, which have no end, let an application be stable between them. */
function yieldToStability(app: ApplicationRef): <A>(isPoll: boolean, source: Observable<A>) => Observable<A> {
  // how many are under way
  const open$ = new BehaviorSubject(0);
  let begunAt: number | undefined;
  let hasBeenStable = false;
  const moment$ = whenStable(app).pipe(
    tap((isStable) => {
      hasBeenStable ||= isStable;
    }),
  );
  const isStarting = (): boolean => {
    begunAt ??= asyncScheduler.now();
    return !hasBeenStable && asyncScheduler.now() < begunAt + startMs;
  };
  const turn = (isPoll: boolean): Observable<unknown> => {
    if (open$.value === 0) return moment$;
    // of several at a time, only the first gives way; but by turns polls would keep the application from ever being stable
    if (!isPoll || !isStarting()) return of(true);
    const allOver$ = open$.pipe(filter((open) => open === 0));
    return race(allOver$, timer(longestMsGivingWay)).pipe(
      take(1),
      concatMap(() => moment$),
    );
  };
  return (isPoll, source) =>
    defer(() => turn(isPoll)).pipe(
      concatMap(() => {
        open$.next(open$.value + 1);
        return source.pipe(
          finalize(() => {
            open$.next(open$.value - 1);
          }),
        );
      }),
    );
}

/** Within which an application is stable that has nothing to do but to render, in milliseconds. */
const longestMs = 50;

/** Emits once, when an application is stable, or is not for a while: whether it is. */
const whenStable = (app: ApplicationRef): Observable<boolean> =>
  // others that wait for it are told first
  race(app.isStable.pipe(filter(Boolean), observeOn(asapScheduler)), timer(longestMs).pipe(map(() => false))).pipe(
    take(1),
  );

/** The answer as the library has it, from what Angular makes of one. */
const responseOf = (response: AngularResponse<unknown> | HttpErrorResponse): HttpResponse => {
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

/** What HttpClient takes for an error is an answer of another status, unless there was none, or it was not read. */
function answerOf(error: unknown, path: string): Observable<HttpResponse> {
  if (!(error instanceof HttpErrorResponse)) return throwError(() => error);
  if (isWhole(error)) return of(responseOf(error));
  const maxBytes = bodyLimitOf(error.error);
  return throwError(() => (maxBytes === undefined ? error : new AnswerTooLargeError(path, maxBytes)));
}

/** An answer that broke off has the status that it began with, and an error in place of its text. */
const isWhole = ({ status, error }: HttpErrorResponse): boolean =>
  status > 0 && (typeof error === 'string' || error === null);

/** Of Angular 22 for a body that is larger than it reads; negative where its site has a page on it. */
const tooLarge = 2825;

/** What it reads on a server by default, in bytes. It says how much only where it is built for development. */
const byDefault = 2 ** 20;

/** How much Angular reads of a body, if that is what an answer was too large for. */
function bodyLimitOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || Math.abs(Number(error.code)) !== tooLarge) return undefined;
  const [, bytes = byDefault] = /\((\d+) bytes\)/.exec(error.message) ?? [];
  return Number(bytes);
}
