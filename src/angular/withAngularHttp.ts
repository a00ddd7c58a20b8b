import { httpClientPort } from './httpClientPort.js';
import type { LedgerFeature } from './LedgerFeature.js';
import { PORT } from './PORT.js';

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
