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
  type ProviderToken,
} from '@angular/core';
import { Subject } from 'rxjs';
import type { HttpPort } from '../http/HttpPort.js';
import { createLedger } from '../ledger/createLedger.js';
import type { Ledger, LedgerReader } from '../ledger/Ledger.js';
import type { LedgerOptions } from '../ledger/LedgerOptions.js';
import { httpClientPort } from './httpClientPort.js';
import { UntrackedInterceptor } from './UntrackedInterceptor.js';
import { insideZone, type PendingTaskList, ZoneInterceptor } from './zone.js';

/**
 * A feature of {@link provideLedger}, created by a function whose name begins with `with`.
 *
 * @category Angular
 */
export interface LedgerFeature {
  /** The providers of the feature. */
  readonly providers: readonly Provider[];
}

/**
 * Provides a ledger to an application or to a route. The ledger is created once, when it is first injected, and sends
 * no requests until it is used.
 *
 * Feeds (`updates` and `processFeed`) run outside Angular's zone. They emit and call handlers within it, so a feed does
 * not keep an application unstable, with or without zone.js. Other callbacks of the options, such as a token provider,
 * a store or `onGap`, are called outside the zone. On a server that renders pages, feeds neither emit nor complete
 * unless {@link withServerFeeds} is given; everything else works there.
 *
 * When the injector that provides the ledger is destroyed, its feeds are unsubscribed. After that they neither emit nor
 * complete.
 *
 * @param options - the options of `createLedger`, or a function that returns them and may call `inject()`
 * @param features - {@link withAngularHttp}, {@link withServerFeeds}
 * @returns the providers, for `providers` of an application or of a route
 * @throws TypeError for invalid options, when the ledger is first injected
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
 *
 * @category Angular
 */
export const provideLedger = (
  options: LedgerOptions | (() => LedgerOptions),
  ...features: readonly LedgerFeature[]
): EnvironmentProviders =>
  makeEnvironmentProviders([
    // defaults, so that features of a parent injector or of a replaced ledger do not affect this one
    { provide: PORT, useValue: undefined },
    { provide: SERVER_FEEDS, useValue: false },
    { provide: PENDING_TASKS, useValue: undefined },
    features.map(({ providers }) => [...providers]),
    {
      provide: LEDGER,
      useFactory: () => {
        const port = inject(PORT);
        const ledgerOptions = typeof options === 'function' ? options() : options;
        const { interceptors = [] } = ledgerOptions;
        const isServer = isPlatformServer(inject(PLATFORM_ID));
        const hasFeeds = !isServer || inject(SERVER_FEEDS);
        const zone = inject(NgZone);
        const inZone = new ZoneInterceptor({
          zone,
          destroyRef: inject(DestroyRef),
          isServer,
          hasFeeds,
          pendingTasks: inject(PENDING_TASKS),
        });
        const ledger = createLedger({
          ...ledgerOptions,
          port: ledgerOptions.port ?? port,
          interceptors: [inZone, ...interceptors.map((each) => new UntrackedInterceptor(each))],
        });
        return { ...ledger, diagnostics$: ledger.diagnostics$.pipe(insideZone(zone)) };
      },
    },
  ]);

/**
 * The injection token of the ledger that {@link provideLedger} provides. `injectLedger()` is shorter. Tests may provide
 * another ledger for it.
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
 *
 * @category Angular
 */
export const LEDGER = new InjectionToken<Ledger>('LEDGER of canton-rx, which provideLedger provides');

/**
 * Injects the ledger that {@link provideLedger} provides. Must be called in an injection context: in a constructor, in
 * a field initializer or in a factory.
 *
 * @returns the ledger
 * @throws Angular's error NG0201 if no ledger is provided, and NG0203 outside an injection context
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
 *
 * @category Angular
 */
export const injectLedger = (): Ledger => inject(LEDGER);

/**
 * Emits a ledger whose user has left: what its submissions show is of that user.
 *
 * @internal
 */
export const LEFT = new InjectionToken<Subject<LedgerReader | null>>('users of canton-rx who have left', {
  providedIn: 'root',
  factory: () => new Subject(),
});

/**
 * Sends the requests of the ledger through Angular's `HttpClient`, which must be provided with `provideHttpClient()`.
 * Interceptors then see the requests, and `HttpTestingController` can answer them. An interceptor sees each request of
 * a feed, including retries; an interceptor that retries, or shows every error to the user, should exclude them.
 *
 * With this feature the options `fetch` and `maxResponseBytes` have no effect, and the option `port` replaces the
 * feature. On a server, Angular 22 limits the size of a body, to 1 MiB by default; a larger body is an
 * `ResponseTooLargeError`. Responses are never put into the transfer cache. Fetch rejects redirects in Angular 20 and
 * later; XMLHttpRequest, and fetch in earlier versions, follow them.
 *
 * `HttpClient` keeps an application unstable while a request is open. A feed therefore pauses between two polls, so
 * that `whenStable` resolves after at most one idle timeout of the feed. To make this possible, the polls of several
 * feeds wait for each other until the application has been stable once; after that they take turns. Without this
 * feature, feeds do not affect stability.
 *
 * @returns the feature, for {@link provideLedger}
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
 *
 * @category Angular
 */
export const withAngularHttp = (): LedgerFeature => ({ providers: [{ provide: PORT, useFactory: httpClientPort }] });

/** The port of {@link withAngularHttp}, if that is given. */
const PORT = new InjectionToken<HttpPort | undefined>('HttpPort of canton-rx');

/**
 * Enables feeds on a server that renders pages. Without it, `updates` and `processFeed` neither emit nor complete
 * there. The rendering does not wait for them: a page shows what feeds have emitted by the time the application is
 * stable. With {@link withAngularHttp} it becomes stable between two requests of a feed. Feeds end with the application
 * when the page has been rendered.
 *
 * @returns the feature, for {@link provideLedger}
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { provideLedger, withServerFeeds } from 'canton-rx/angular';
 *
 * const providers = [provideLedger({ baseUrl: 'http://127.0.0.1:7575' }, withServerFeeds())];
 * ```
 *
 * @category Angular
 */
export const withServerFeeds = (): LedgerFeature => ({ providers: [{ provide: SERVER_FEEDS, useValue: true }] });

/** Whether feeds emit on a server that renders pages. */
const SERVER_FEEDS = new InjectionToken<boolean>('server feeds of canton-rx');

/**
 * Makes a server that renders pages without zone.js wait for single responses of the ledger, such as `ledgerEnd`,
 * `submit` and the contracts of `injectContracts`. With zone.js the server waits without this feature, and
 * {@link withAngularHttp} makes it wait for all requests.
 *
 * @param tasks - `PendingTasks` of `@angular/core` in version 19 and later; `ExperimentalPendingTasks` in version 18
 * @returns the feature, for {@link provideLedger}
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { PendingTasks } from '@angular/core';
 * import { provideLedger, withPendingTasks } from 'canton-rx/angular';
 *
 * const providers = [provideLedger({ baseUrl: 'http://127.0.0.1:7575' }, withPendingTasks(PendingTasks))];
 * ```
 *
 * @category Angular
 */
export const withPendingTasks = (tasks: ProviderToken<PendingTaskList>): LedgerFeature => ({
  providers: [{ provide: PENDING_TASKS, useExisting: tasks }],
});

/**
 * Angular's pending tasks, if {@link withPendingTasks} provides them.
 *
 * @internal
 */
export const PENDING_TASKS = new InjectionToken<PendingTaskList | undefined>('pending tasks of canton-rx');
