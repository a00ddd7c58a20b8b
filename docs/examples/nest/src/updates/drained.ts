import type { Response } from 'express';
import { defer, fromEvent, of, switchMap, take, timer, type Observable } from 'rxjs';

/** Emits once, when the response can take more data, so that a slow client gets its next page only then. */
export const drained = (response: Response): Observable<unknown> =>
  // one turn of the event loop later, when Nest has written the messages to the response
  timer(1).pipe(
    switchMap(() =>
      defer(() => (response.writableNeedDrain ? fromEvent(response, 'drain').pipe(take(1)) : of(undefined))),
    ),
  );
