import { computed, inject, signal, type Signal } from '@angular/core';
import { toObservable, takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { type AnyContract, conflate, liveContracts, type LiveState } from 'canton-rx/contracts';
import { catchError, EMPTY, switchMap } from 'rxjs';
import { CONNECTION } from '../connection/connection';

/** The active contracts of the connection. */
export interface LiveContracts {
  readonly value: Signal<readonly AnyContract[]>;
  /** Whether `value` is known: without that, that it is empty says nothing. */
  readonly hasValue: Signal<boolean>;
  readonly isLive: Signal<boolean>;
  readonly offset: Signal<number | undefined>;
  /** The error that ended it. */
  readonly error: Signal<Error | undefined>;
  /** Why a request is repeated. */
  readonly trouble: Signal<Error | undefined>;
  reload(): void;
}

export function injectLiveContracts(): LiveContracts {
  const ledger = injectLedger();
  const { parties } = inject(CONNECTION);
  const attempt = signal(0);
  const error = signal<Error | undefined>(undefined);
  const state = signal<LiveState | undefined>(undefined);
  toObservable(attempt)
    .pipe(
      switchMap(() =>
        conflate(liveContracts(ledger, { parties }), 'animationFrame').state$.pipe(
          catchError((thrown: unknown) => {
            error.set(thrown instanceof Error ? thrown : new Error(String(thrown)));
            return EMPTY;
          }),
        ),
      ),
      takeUntilDestroyed(),
    )
    .subscribe((next) => state.set(next));
  const known = computed(() => {
    const now = state();
    return now === undefined || now.data === 'loading' ? undefined : now;
  });
  const contracts = computed(() => known()?.contracts);
  return {
    value: computed(() => contracts()?.toArray() ?? []),
    hasValue: computed(() => known() !== undefined),
    isLive: computed(() => error() === undefined && known()?.data === 'live'),
    offset: computed(() => known()?.offset),
    error,
    trouble: computed(() => {
      const connection = state()?.connection;
      return connection?.status === 'retrying' ? connection.cause : undefined;
    }),
    reload: () => {
      error.set(undefined);
      attempt.update((count) => count + 1);
    },
  };
}
