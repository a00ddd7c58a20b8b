import type { DestroyRef } from '@angular/core';
import { Observable, type MonoTypeOperatorFunction } from 'rxjs';

/**
 * Unsubscribes from the source when an injector is destroyed. It does not complete then: whoever waits for the end of a feed
 * would take a part of it for all of it. Subscribed later, it errors with Angular's NG0205.
 */
export const untilDestroyed =
  <A>(destroyRef: DestroyRef): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) => {
      const forget = destroyRef.onDestroy(() => {
        subscriber.unsubscribe();
      });
      subscriber.add(forget);
      return source.subscribe(subscriber);
    });
