import { isPlatformServer } from '@angular/common';
import {
  DestroyRef,
  type EnvironmentProviders,
  inject,
  InjectionToken,
  Injector,
  makeEnvironmentProviders,
  PLATFORM_ID,
  TransferState,
  untracked,
} from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { filter } from 'rxjs';
import { conflate } from '../contracts/conflate.js';
import { toLiveContracts } from '../contracts/liveContracts.js';
import { shareContracts, type SharedContracts } from '../contracts/shareContracts.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { LEDGER, LEFT } from './provideLedger.js';
import { pageContracts } from './transferredContracts.js';
import { destroyRefOf } from './zone.js';

/**
 * Returns the views of a ledger, which change at most once per frame, and which equal queries share. They end with the
 * injector of the ledger. Tests replace it.
 *
 * @internal
 */
export const SHARED_CONTRACTS = new InjectionToken<(ledger: LedgerReader) => SharedContracts>('views of canton-rx', {
  providedIn: 'root',
  factory: () => viewsOfLedgers(),
});

/** Returns the views of each ledger. Must be called in an injection context. */
function viewsOfLedgers(): (ledger: LedgerReader) => SharedContracts {
  const sharedBy = new WeakMap<LedgerReader, SharedContracts>();
  const rootDestroyRef = inject(DestroyRef);
  // nothing may remain open after a page was rendered
  const options = isPlatformServer(inject(PLATFORM_ID)) ? { keepMs: 0 } : {};
  return (ledger) => {
    const shared =
      sharedBy.get(ledger) ?? perFrame(shareContracts(ledger, options), destroyRefOf(ledger) ?? rootDestroyRef);
    sharedBy.set(ledger, shared);
    return shared;
  };
}

/**
 * What stands for a ledger where {@link provideContracts} provides contracts without one.
 *
 * @internal
 */
export const NO_LEDGER = new InjectionToken<LedgerReader>('contracts without a ledger of canton-rx');

/**
 * Provides the contracts of {@link injectContracts} from another source than a ledger: those that a server sends, from
 * `shareRemoteContracts` of `canton-rx/sse`. `injectContracts` then needs no `provideLedger`. The views end with the injector.
 *
 * @param contracts - the views, or a function that returns them and may call `inject()`
 * @returns the providers, for `providers` of an application or of a route
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { inject } from '@angular/core';
 * import { provideContracts } from 'canton-rx/angular';
 * import { shareRemoteContracts } from 'canton-rx/sse';
 *
 * class Login {
 *   token = (): Promise<string> => Promise.resolve('a-token-of-a-few-minutes');
 * }
 *
 * const providers = [
 *   { provide: Login },
 *   provideContracts(() => shareRemoteContracts('https://app.example/contracts', { token: inject(Login).token })),
 * ];
 * ```
 *
 * @category Angular
 */
export const provideContracts = (contracts: SharedContracts | (() => SharedContracts)): EnvironmentProviders =>
  makeEnvironmentProviders([
    { provide: NO_LEDGER, useFactory: () => ({}) },
    {
      provide: SHARED_CONTRACTS,
      useFactory: () => {
        const shared = perFrame(typeof contracts === 'function' ? contracts() : contracts, inject(DestroyRef));
        const source = inject(NO_LEDGER);
        // a resource may name a ledger
        const sharedOf = inject(SHARED_CONTRACTS, { skipSelf: true, optional: true }) ?? viewsOfLedgers();
        return (ledger: LedgerReader) => (ledger === source ? shared : sharedOf(ledger));
      },
    },
  ]);

/** The views that end with an injector: their `clear` is not one of the application. */
const ending = new WeakSet<SharedContracts>();

/** The views that have ended with their injector. */
const ended = new WeakSet<SharedContracts>();

/**
 * Whether views have ended with the injector of their ledger: nothing reads them again.
 *
 * @internal
 */
export const haveEnded = (shared: SharedContracts): boolean => ended.has(shared);

function perFrame(shared: SharedContracts, destroyRef: DestroyRef): SharedContracts {
  destroyRef.onDestroy(() => {
    ended.add(conflated);
    ending.add(shared);
    shared.clear();
    ending.delete(shared);
  });
  const conflated: SharedContracts = {
    ...shared,
    view: (query, options) => {
      const view = shared.view(query, options);
      const { view$ } = conflate(view, 'animationFrame');
      return { ...view, ...toLiveContracts(view$.pipe(takeUntilDestroyed(destroyRef))) };
    },
    // at the end, a resource that shows contracts keeps the last ones
    clears$: shared.clears$.pipe(filter(() => !ending.has(shared))),
  };
  return conflated;
}

/**
 * Returns a function that forgets all contracts of the ledger that `provideLedger` provides, for example when a user logs
 * out. Each `injectContracts` of this ledger is then `'loading'` and without contracts immediately. It reads them again, with
 * the token that the ledger is given from then on: change the user before the call. Each `injectSubmit` of this ledger forgets its
 * outcome, and what `retry` would submit. Must be called in an injection context.
 *
 * @throws Angular's error NG0203 outside an injection context. The returned function throws NG0201 if no ledger is provided
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { injectClearContracts } from 'canton-rx/angular';
 *
 * class Login {
 *   private readonly clearContracts = injectClearContracts();
 *   token: string | undefined;
 *
 *   logOut(): void {
 *     this.token = undefined;
 *     this.clearContracts();
 *   }
 * }
 * ```
 *
 * @category Angular
 */
export function injectClearContracts(): () => void {
  const sharedOf = inject(SHARED_CONTRACTS);
  const state = inject(TransferState);
  const left$ = inject(LEFT);
  // later, because the options of the ledger may inject the service that calls this
  const injector = inject(Injector);
  return () => {
    // also those of queries that are not shown yet
    state.remove(pageContracts);
    untracked(() => {
      sharedOf(injector.get(NO_LEDGER, null) ?? injector.get(LEDGER)).clear();
      left$.next(injector.get(LEDGER, null));
    });
  };
}
