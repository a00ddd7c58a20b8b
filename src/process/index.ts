/**
 * Processes a feed of updates: calls a handler with each, saves how far it has come, and resumes from there.
 *
 * @module canton-rx/process
 */

export { processFeed } from './processFeed.js';
export { updatesFeed, type UpdatesFeedOptions } from './updatesFeed.js';
export { contractsFeed, type ContractsFeedOptions, type ContractsFeedQuery } from './contractsFeed.js';
export type { ContractsPosition, ContractsWork, ResetBatch } from './ContractsWork.js';
export type { Feed, FeedEntry, FeedIdentity, FeedItem, FeedPage, FeedPlace } from './Feed.js';
export type { FeedPosition, FeedReader, FeedRun } from './Feed.js';
export type { Report } from '../diagnostics/Diagnostic.js';
export type { CompleteRetryPolicy } from '../http/retry.js';
export type { BatchOptions, BatchProcessOptions, CommitEvery, ProcessOptions } from './ProcessOptions.js';
export type { BatchHandler, Committed, Handler, Work } from './ProcessOptions.js';
export type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
export { memoryStore } from './memoryStore.js';
export { Cursor, type LastUpdate } from './Cursor.js';
export { handleParked, Parked, type Unparked } from './Parked.js';
export { isReady, type ProcessStatus, type ReadyOptions, toStatus } from './ProcessStatus.js';
