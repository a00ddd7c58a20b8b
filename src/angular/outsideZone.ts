import type { NgZone } from '@angular/core';
import { Observable, type MonoTypeOperatorFunction } from 'rxjs';

/** Subscribes outside Angular's zone: what the source schedules neither renders nor keeps the application unstable. */
export const outsideZone =
  <A>(zone: NgZone): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) => zone.runOutsideAngular(() => source.subscribe(subscriber)));
