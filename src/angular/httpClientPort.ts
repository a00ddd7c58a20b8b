import { FetchBackend, HttpBackend, HttpClient } from '@angular/common/http';
import { ApplicationRef, inject, NgZone } from '@angular/core';
import { asapScheduler, catchError, map, observeOn } from 'rxjs';
import type { HttpPort } from '../http/HttpPort.js';
import { pathOf } from '../http/pathOf.js';
import { answerOf } from './answerOf.js';
import { givingWay } from './givingWay.js';
import { outsideZone } from './outsideZone.js';
import { responseOf } from './responseOf.js';

/** The port of Angular's HttpClient. To be called where `inject()` can be. */
export function httpClientPort(): HttpPort {
  const client = inject(HttpClient);
  const inTurn = givingWay(inject(ApplicationRef));
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
