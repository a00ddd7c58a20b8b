import type { ApplicationRef } from '@angular/core';
import { asapScheduler, filter, map, observeOn, race, take, timer, type Observable } from 'rxjs';

/** Within which an application is stable that has nothing to do but to render, in milliseconds. */
const longestMs = 50;

/** Emits once, when an application is stable, or is not for a while: whether it is. */
export const whenStable = (app: ApplicationRef): Observable<boolean> =>
  // others that wait for it are told first
  race(app.isStable.pipe(filter(Boolean), observeOn(asapScheduler)), timer(longestMs).pipe(map(() => false))).pipe(
    take(1),
  );
