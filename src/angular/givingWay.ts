import type { ApplicationRef } from '@angular/core';
import {
  asyncScheduler,
  BehaviorSubject,
  concatMap,
  defer,
  filter,
  finalize,
  of,
  race,
  take,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { whenStable } from './whenStable.js';

/** How long polls wait for one another at most, and for how long they do so from the first on, in milliseconds. */
const longestMs = 15_000;
const startMs = 30_000;

/** Has requests wait for their turn, so that those of feeds, which have no end, let an application be stable between them. */
export function givingWay(app: ApplicationRef): <A>(isPoll: boolean, source: Observable<A>) => Observable<A> {
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
    return race(allOver$, timer(longestMs)).pipe(
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
