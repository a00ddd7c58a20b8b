import type { DestroyRef } from '@angular/core';
import { Observable, takeUntil, type MonoTypeOperatorFunction } from 'rxjs';

/**
 * Completes when an injector is destroyed; subscribed later, it errors with Angular's NG0205. As `takeUntilDestroyed` does it,
 * which Angular 17 and 18 have on trial only.
 */
export const untilDestroyed = <A>(destroyRef: DestroyRef): MonoTypeOperatorFunction<A> =>
  takeUntil(
    new Observable<void>((subscriber) =>
      destroyRef.onDestroy(() => {
        subscriber.next();
      }),
    ),
  );
