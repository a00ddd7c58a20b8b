import { isPlatformServer } from '@angular/common';
import {
  DestroyRef,
  type EnvironmentProviders,
  inject,
  InjectionToken,
  makeEnvironmentProviders,
  NgZone,
  PLATFORM_ID,
  type Provider,
} from '@angular/core';
import type { HttpPort } from '../http/HttpPort.js';
import { createLedger } from '../ledger/createLedger.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { LedgerOptions } from '../ledger/LedgerOptions.js';
import { httpClientPort } from './httpClientPort.js';
import { ledgerInZone } from './zone.js';

/** What {@link provideLedger} is told beside its options; made by functions that begin with `with`. */
export interface LedgerFeature {
  /** What the feature is made of. */
  readonly providers: readonly Provider[];
}

/** The port that a feature brings, if one does. */
const PORT = new InjectionToken<HttpPort | undefined>('HttpPort of canton-rx');

/** Whether feeds are read where pages are rendered. */
const SERVER_FEEDS = new InjectionToken<boolean>('server feeds of canton-rx');

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

/**
 * What the ledger of {@link provideLedger} is injected by; `injectLedger()` is shorter. In tests another ledger may be
 * provided under it.
 *
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import type { Provider } from '@angular/core';
 * import { LEDGER } from 'canton-rx/angular';
 * import { createLedger } from 'canton-rx';
 * import { of } from 'rxjs';
 *
 * const port = () => of({ status: 200, headers: {}, text: '{"offset":42}' });
 * const provider: Provider = { provide: LEDGER, useValue: createLedger({ baseUrl: 'http://ledger.example', port }) };
 * ```
 */
export const LEDGER = new InjectionToken<Ledger>('LEDGER of canton-rx');

/**
 * The ledger that {@link provideLedger} provides. To be called where `inject()` can be: in a constructor, in the
 * initializer of a field, in a factory.
 *
 * @throws Angular's error NG0201 where none is provided, and NG0203 where nothing can be injected
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { toSignal } from '@angular/core/rxjs-interop';
 * import { injectLedger } from 'canton-rx/angular';
 *
 * class Status {
 *   readonly end = toSignal(injectLedger().ledgerEnd());
 * }
 * ```
 */
export const injectLedger = (): Ledger => inject(LEDGER);

/**
 * Sends the ledger's requests through Angular's `HttpClient`, which must be provided with `provideHttpClient()`: its
 * interceptors see them, and `HttpTestingController` can answer them. An interceptor sees each request of a feed, also those
 * that are repeated; one that retries by itself, or shows every failure, had better let them pass.
 *
 * `fetch` and `maxAnswerBytes` of the options have no effect beside it, and `port` goes before it. What Angular 22 does not read
 * on a server, beyond 1 MiB by default, is an `AnswerTooLargeError`. Answers are never put
 * into the transfer cache. Redirects are refused by fetch from Angular 20 on; XMLHttpRequest, and fetch before that, follow
 * them.
 *
 * `HttpClient` keeps an application unstable while a request is under way. A feed gives way between two polls, so that
 * `whenStable` resolves after an idle timeout of the feed at most. Polls of several feeds wait for one another to that end until
 * the application has been stable once, and come by turns from then on. Without this feature a feed does not count at all.
 *
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { provideHttpClient, withFetch } from '@angular/common/http';
 * import { provideLedger, withAngularHttp } from 'canton-rx/angular';
 *
 * const providers = [
 *   provideHttpClient(withFetch()),
 *   provideLedger({ baseUrl: 'http://127.0.0.1:7575' }, withAngularHttp()),
 * ];
 * ```
 */
export const withAngularHttp = (): LedgerFeature => ({ providers: [{ provide: PORT, useFactory: httpClientPort }] });

/**
 * Has feeds read on the server that renders pages, too, where `updates` and `process` otherwise neither emit nor complete.
 * Nothing waits for them: a page is rendered with what has come until it is stable. Over HttpClient it is stable between
 * two requests of the feed. Feeds end with the application, once the page is rendered.
 *
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { provideLedger, withServerFeeds } from 'canton-rx/angular';
 *
 * const providers = [provideLedger({ baseUrl: 'http://127.0.0.1:7575' }, withServerFeeds())];
 * ```
 */
export const withServerFeeds = (): LedgerFeature => ({ providers: [{ provide: SERVER_FEEDS, useValue: true }] });
