/**
 * A store that saves the cursors of processors in IndexedDB. Needs the package `idb` in addition to `canton-rx`, and runs
 * in the pages and workers of browsers.
 *
 * @example
 * ```ts
 * import 'fake-indexeddb/auto'; // outside browsers
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { indexedDbStore } from 'canton-rx/indexeddb';
 * import { processFeed, updatesFeed } from 'canton-rx/process';
 * import { takeWhile } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * processFeed(feed, (update) => console.log(update.offset), { name: 'log', store: indexedDbStore() })
 *   .pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp))
 *   .subscribe();
 * ```
 *
 * @module canton-rx/indexeddb
 */

export { indexedDbStore } from './indexedDbStore.js';
export type { IndexedDbOptions } from './indexedDbStore.js';
