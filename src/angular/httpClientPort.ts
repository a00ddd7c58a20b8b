import { FetchBackend, HttpBackend, HttpClient } from '@angular/common/http';
import { ApplicationRef, inject, NgZone } from '@angular/core';
import { asapScheduler, catchError, concatMap, defer, finalize, map, observeOn, of, tap, type Observable } from 'rxjs';
import type { HttpPort } from '../http/HttpPort.js';
import { pathOf } from '../http/pathOf.js';
import { answerOf } from './answerOf.js';
import { outsideZone } from './outsideZone.js';
import { responseOf } from './responseOf.js';
import { whenStable } from './whenStable.js';

/** The port of Angular's HttpClient. To be called where `inject()` can be. */
export function httpClientPort(): HttpPort {
  const client = inject(HttpClient);
  const app = inject(ApplicationRef);
  const zone = inject(NgZone);
  // XMLHttpRequest does not know it, and each request would be warned of
  const onlyHere = inject(HttpBackend) instanceof FetchBackend && ({ redirect: 'manual' } as const);
  let polls = 0;
  return ({ method, url, headers, body }) => {
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
      .pipe(map(responseOf), catchError(answerOf));
    if (!pathOf(url).includes('/v2/updates')) return answer$;
    // of several at a time, only the first gives way
    const turn$ = defer((): Observable<unknown> => (polls === 0 ? whenStable(app) : of(true)));
    const poll$ = turn$.pipe(
      tap(() => (polls += 1)),
      concatMap(() => answer$.pipe(finalize(() => (polls -= 1)))),
      // HttpClient has then ended its task
      observeOn(asapScheduler),
    );
    return poll$.pipe(outsideZone(zone));
  };
}
