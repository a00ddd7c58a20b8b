/**
 * A store that saves the cursors of processors in files. Needs no other package than `canton-rx`, and runs in Node.js.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { fileStore } from 'canton-rx/file';
 * import { processFeed, updatesFeed } from 'canton-rx/process';
 * import { takeWhile } from 'rxjs';
 *
 * const store = fileStore(await mkdtemp(join(tmpdir(), 'cursors-'))); // use a folder that lasts
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * processFeed(feed, (update) => console.log(update.offset), { name: 'log', store })
 *   .pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp))
 *   .subscribe();
 * ```
 *
 * @module canton-rx/file
 */

export { fileStore } from './fileStore.js';
