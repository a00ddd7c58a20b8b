import { NgZone } from '@angular/core';
import { concatMap, dematerialize, materialize, Observable, type MonoTypeOperatorFunction } from 'rxjs';

/** Emits within Angular's zone, wherever the source emits. */
export const insideZone =
  <A>(zone: NgZone): MonoTypeOperatorFunction<A> =>
  (source) =>
    source.pipe(
      materialize(),
      concatMap((told) => entering(zone, told)),
      dematerialize(),
    );

const entering = <A>(zone: NgZone, value: A): Observable<A> =>
  new Observable((subscriber) => {
    zone.run(() => {
      // what comes at once is rendered at once: a zone with a microtask to do renders behind it, and not on each leave
      if (NgZone.isInAngularZone()) queueMicrotask(nothing);
      subscriber.next(value);
      subscriber.complete();
    });
  });

const nothing = (): void => undefined;
