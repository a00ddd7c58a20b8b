/**
 * Processors: they call a handler with each update of a feed, save the cursor in a store, and resume from it after a
 * restart. Needs no other package than `canton-rx`, and runs in browsers and in Node.js.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
 * import { takeWhile } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * processFeed(feed, (update) => console.log(update.offset), { name: 'log', store: memoryStore() })
 *   .pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp))
 *   .subscribe();
 * ```
 *
 * @module canton-rx/process
 */

export { processFeed } from './processFeed.js';
export { updatesFeed } from './updatesFeed.js';
export type { UpdatesFeedOptions, UpdatesFeedRequest } from './updatesReader.js';
export { contractsFeed, type ContractsFeedOptions, type ContractsFeedQuery } from './contractsFeed.js';
export type { ContractsWork, ResetBatch } from './ContractsWork.js';
export type { ContractsPosition } from './ContractsPosition.js';
export type { Batch } from '../history/positions.js';
export type { Feed, FeedEntry, FeedIdentity, FeedItem } from './Feed.js';
export type { FeedReader, FeedRun } from './Feed.js';
export type { Report } from '../diagnostics/Diagnostic.js';
export type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
export type { CompleteRetryPolicy } from '../http/retry.js';
export type { BatchOptions, BatchProcessOptions, CommitEvery, ProcessOptions } from './ProcessOptions.js';
export type { FailureOptions, StoreOptions, WorkOptions } from './ProcessOptions.js';
export type { BatchHandler, Committed, Handler, HandlerResult, Work } from './ProcessOptions.js';
export type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
export { memoryStore } from './memoryStore.js';
export { Cursor, type FeedPosition } from './CheckpointStore.js';
export { handleParked, Parked, type Unparked } from './Parked.js';
export { isReady, type Processor, type ProcessStatus, type ReadyOptions } from './ProcessStatus.js';
