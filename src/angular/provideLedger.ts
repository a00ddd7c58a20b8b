import { isPlatformServer } from '@angular/common';
import {
  DestroyRef,
  inject,
  makeEnvironmentProviders,
  NgZone,
  PLATFORM_ID,
  type EnvironmentProviders,
} from '@angular/core';
import { createLedger } from '../ledger/createLedger.js';
import type { LedgerOptions } from '../ledger/LedgerOptions.js';
import { LEDGER } from './LEDGER.js';
import type { LedgerFeature } from './LedgerFeature.js';
import { ledgerInZone } from './ledgerInZone.js';
import { PORT } from './PORT.js';
import { SERVER_FEEDS } from './SERVER_FEEDS.js';

/**
 * Provides a ledger to an application, or to a route. It is created when it is first injected, once, and sends nothing by
 * itself.
 *
 * Feeds, of `updates` and of `process`, run outside Angular's zone and emit within it, as handlers work within it: a feed does
 * not keep an application from being stable, with zone.js or without. Whatever else the options have called, a token
 * provider, a store or `onGap`, is called outside. On a server that renders pages feeds neither emit nor complete, unless
 * {@link withServerFeeds} says otherwise; all else works there.
 *
 * A feed that nobody has unsubscribed is unsubscribed when the injector is destroyed that provides the ledger, and says
 * nothing more.
 *
 * @param options - as of `createLedger`, or a function that returns them and may call `inject()`
 * @param features - {@link withAngularHttp}, {@link withServerFeeds}
 * @throws TypeError when the ledger is first injected, for options that make no sense
 *
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { inject, Injectable } from '@angular/core';
 * import { provideLedger } from 'canton-rx/angular';
 *
 * class Login {
 *   token = (): Promise<string> => Promise.resolve('a-token-of-a-few-minutes');
 * }
 *
 * const providers = [
 *   { provide: Login },
 *   provideLedger(() => ({ baseUrl: 'https://participant.example', token: inject(Login).token })),
 * ];
 * ```
 */
export const provideLedger = (
  options: LedgerOptions | (() => LedgerOptions),
  ...features: readonly LedgerFeature[]
): EnvironmentProviders =>
  makeEnvironmentProviders([
    // its own features alone: not those of an injector above, nor of a ledger that this one replaces
    { provide: PORT, useValue: undefined },
    { provide: SERVER_FEEDS, useValue: false },
    features.map(({ providers }) => [...providers]),
    {
      provide: LEDGER,
      useFactory: () => {
        const port = inject(PORT);
        const given = typeof options === 'function' ? options() : options;
        const isServer = isPlatformServer(inject(PLATFORM_ID));
        const hasFeeds = !isServer || inject(SERVER_FEEDS);
        const ledger = createLedger({ ...given, port: given.port ?? port });
        return ledgerInZone(ledger, { zone: inject(NgZone), destroyRef: inject(DestroyRef), isServer, hasFeeds });
      },
    },
  ]);
