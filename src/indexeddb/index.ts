/**
 * Saves the cursors of processors in the IndexedDB of a browser. Needs `idb` in addition to `canton-rx`.
 *
 * @module canton-rx/indexeddb
 */

export { indexedDbStore } from './indexedDbStore.js';
export type { IndexedDbOptions } from './indexedDbStore.js';
