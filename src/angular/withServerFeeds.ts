import type { LedgerFeature } from './LedgerFeature.js';
import { SERVER_FEEDS } from './SERVER_FEEDS.js';

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
