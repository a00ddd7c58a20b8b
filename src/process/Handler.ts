import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Update } from '../codecs/Update.js';

/** What a handler gets: any update; a checkpoint only moves the processor's place. */
export type Work = Exclude<Update, OffsetCheckpoint>;

/**
 * Handles one update. What it returns is awaited: an Observable until it completes, a Promise until it is fulfilled. `tx`
 * is the open transaction of a {@link TransactionalStore}; handlers leave it open. One that uses it is a
 * `Handler<PoolClient>`, say, and needs such a store.
 */
export type Handler<Tx = unknown> = (update: Work, tx: Tx) => unknown;

/** Handles several updates at once, in order; at least one. To be awaited, many Promises are one: `Promise.all(…)`. */
export type BatchHandler<Tx = unknown> = (updates: readonly Work[], tx: Tx) => unknown;
