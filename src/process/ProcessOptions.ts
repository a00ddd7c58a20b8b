import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { RetryPolicy } from '../http/retry.js';
import type { CheckpointStore, TransactionalStore } from './CheckpointStore.js';

/**
 * Options of a processor.
 *
 * @category Processing
 */
export interface ProcessOptions<Tx = void, A = Work> {
  /** The name under which the store knows the processor. Required with `store`, and a TypeError without it. */
  readonly name?: string | undefined;
  /**
   * Where the processor saves its cursor. Without a transaction, an update is handled again after a restart if its cursor
   * was not saved: because the process was killed, or because the store failed until the time to stop was over.
   *
   * @defaultValue the place that the source itself keeps, as `natsFeed` does with a durable; otherwise each subscription
   * begins at the start of the feed
   */
  readonly store?: CheckpointStore | TransactionalStore<Tx> | undefined;
  /**
   * Selects the updates that the handler gets. The cursor moves past the others.
   *
   * @defaultValue all updates
   */
  readonly select?: ((update: A) => boolean) | undefined;
  /**
   * How often the cursor is saved, and a transaction committed: after so many updates, or after the update that is being
   * handled when so many milliseconds have passed. The end of a page always commits.
   *
   * @defaultValue after a page, and after 1000 ms
   */
  readonly commitEvery?: CommitEvery | undefined;
  /**
   * How to retry after a transient failure of the store.
   *
   * @defaultValue the policy of the feed
   */
  readonly retry?: RetryPolicy | undefined;
  /** Only in {@link BatchProcessOptions}. */
  readonly batch?: undefined;
  /**
   * How often a handler that fails is retried. `giveUpAfterMs` limits the time of its attempts and of the waits between
   * them.
   *
   * @defaultValue the policy of the feed, for at most 60000 ms
   */
  readonly handlerRetry?: RetryPolicy | undefined;
  /**
   * What happens when an update cannot be handled. `'stop'` ends the processor with a `HandlerError`; `'skip'` continues
   * without the update; `'park'` saves the update in the store and continues. A feed of contracts only allows `'stop'`.
   * `'skip'` and `'park'` apply to updates that do not decode, too; with `'stop'` these end the processor with a
   * `DecodeError`.
   *
   * @defaultValue 'stop'
   */
  readonly onPoison?: 'stop' | 'skip' | 'park' | undefined;
  /** Stops the processor. It completes after the running handler is done and the cursor is saved. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the running handler, and then the commit with its retries, may take after the processor is stopped or
   * unsubscribed, in milliseconds. After that they are abandoned; updates that were handled but not committed are handled
   * again after a restart.
   *
   * @defaultValue 10000
   */
  readonly stopWithinMs?: number | undefined;
  /**
   * How long one call of the store may take, in milliseconds. After that the call has failed, and is retried.
   *
   * @defaultValue 30000
   */
  readonly storeTimeoutMs?: number | undefined;
}

/**
 * Options of a processor whose handler takes several updates at once.
 *
 * @category Processing
 */
export interface BatchProcessOptions<Tx = void, A = Work> extends Omit<ProcessOptions<Tx, A>, 'batch' | 'commitEvery'> {
  /**
   * Calls the handler with arrays of `size` updates, or with fewer `withinMs` milliseconds after the first of them arrived.
   * A batch is committed as a whole. After a batch fails, its updates are handled one at a time.
   */
  readonly batch: BatchOptions;
  /** Not allowed with `batch`, which is also the unit of a commit. */
  readonly commitEvery?: undefined;
}

/** Options of any processor, with any kind of transaction. */
export type AnyProcessOptions = ProcessOptions<unknown> | BatchProcessOptions<unknown>;

/**
 * How many updates, and how much time, there is between two commits.
 *
 * @category Processing
 */
export interface CommitEvery {
  /**
   * The maximum number of updates.
   *
   * @defaultValue a page
   */
  readonly updates?: number | undefined;
  /**
   * The time in milliseconds after which the update that is being handled is the last one before the commit.
   *
   * @defaultValue 1000
   */
  readonly ms?: number | undefined;
}

/**
 * How updates are grouped.
 *
 * @category Processing
 */
export interface BatchOptions {
  /** The maximum number of updates in a batch. */
  readonly size: number;
  /** How long the first update of a batch waits for others at most, in milliseconds. */
  readonly withinMs: number;
}

/**
 * An update that a handler gets: any but a checkpoint, which only moves the cursor.
 *
 * @category Processing
 */
export type Work = Exclude<Update, OffsetCheckpoint>;

/**
 * Handles one update. The processor waits for the result: for an Observable until it completes, for a Promise until it is
 * fulfilled. An error, or a rejection, is a failure, and is retried.
 *
 * `tx` is the open transaction of a {@link TransactionalStore}, which the processor commits; the handler must not end it. A
 * handler that uses it is, for example, a `Handler<PoolClient>`, and needs such a store.
 *
 * @category Processing
 */
export type Handler<Tx = unknown, A = Work> = (update: A, tx: Tx) => unknown;

/**
 * Handles one or more updates, in order. Several Promises must be returned as one: `Promise.all(…)`.
 *
 * @category Processing
 */
export type BatchHandler<Tx = unknown, A = Work> = (updates: readonly A[], tx: Tx) => unknown;

/**
 * A commit: the updates at or before the offset are handled, and the store has saved that.
 *
 * @category Processing
 */
export interface Committed {
  /** Every update up to here has been handled, or does not concern the processor. */
  readonly offset: Offset;
  /** The latest record time of each synchronizer, by the synchronizer's id. */
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /** The number of updates handled since the last commit; 0 if only the cursor moved, and in the first commit, which has the offset where the processor begins. */
  readonly handled: number;
  /** Whether everything has been handled that the ledger was known to have. */
  readonly isCaughtUp: boolean;
}
