import type { NgZone } from '@angular/core';
import { isObservable, Observable } from 'rxjs';

/** A handler that works within Angular's zone, also with the Observable that it returns. */
export const handlingInside =
  <Work, Tx>(zone: NgZone, handle: (work: Work, tx: Tx) => unknown) =>
  (work: Work, tx: Tx): unknown => {
    const result = zone.run(() => handle(work, tx));
    if (!isObservable(result)) return result;
    return new Observable((subscriber) => zone.run(() => result.subscribe(subscriber)));
  };
