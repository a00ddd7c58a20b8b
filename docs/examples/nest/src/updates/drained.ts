import type { Response } from 'express';
import { defer, fromEvent, of, switchMap, take, timer, type Observable } from 'rxjs';

/** Emits once, when what was sent to a client is on its way: a slow one gets its next page only then. */
export const drained = (response: Response): Observable<unknown> =>
  // a turn of the loop later: until then, Nest has not handed on what it was given
  timer(1).pipe(
    switchMap(() =>
      defer(() => (response.writableNeedDrain ? fromEvent(response, 'drain').pipe(take(1)) : of(undefined))),
    ),
  );
