import type { Observable, ObservableInput } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import type { RetryPolicy } from '../http/retry.js';
import type { CheckpointStore, TransactionalStore } from './CheckpointStore.js';

/**
 * Where a processor saves its cursor: a store and a name in it, or neither.
 *
 * @category Processing
 */
export type StoreOptions<Tx = void> =
  | {
      /**
       * The name under which the store saves the cursor. Of several processors with the same name and store, one works,
       * and the next one waits until it has ended.
       */
      readonly name: string;
      /**
       * Where the processor saves its cursor. Without transactions, an update is handled again after a restart if its
       * cursor was not saved because the process was killed, or because the store failed until `stopWithinMs` was over.
       *
       * @defaultValue that of the feed, if it has one, as `natsFeed` does with a durable; otherwise each subscription
       * starts at the beginning of the feed
       */
      readonly store: CheckpointStore | TransactionalStore<Tx>;
    }
  | {
      /** Not without a store. */
      readonly name?: undefined;
      /** Absent: nothing is saved. */
      readonly store?: undefined;
    };

/**
 * Options of a processor.
 *
 * @category Processing
 */
export type ProcessOptions<Tx = void, A = Work> = StoreOptions<Tx> &
  WorkOptions<A> & {
    /**
     * How often the cursor is saved and a transaction is committed: after a number of updates, or after the update that
     * is being handled when a time has passed. The end of a page always commits.
     *
     * @defaultValue after each page, and after 1000 ms
     */
    readonly commitEvery?: CommitEvery | undefined;
    /** Only available in {@link BatchProcessOptions}. */
    readonly batch?: undefined;
  };

/**
 * Options of a processor whose handler receives several updates at once.
 *
 * @category Processing
 */
export type BatchProcessOptions<Tx = void, A = Work> = StoreOptions<Tx> &
  WorkOptions<A> & {
    /**
     * Calls the handler with an array of `size` updates, or with fewer when `withinMs` milliseconds have passed since
     * the first of them arrived. A batch is committed as a unit. If a batch fails, its updates are handled one at a
     * time.
     */
    readonly batch: BatchOptions;
    /** Not allowed with `batch`, because each batch is a commit. */
    readonly commitEvery?: undefined;
  };

/**
 * Options of any processor, whatever its store and its handler.
 *
 * @category Processing
 */
export interface WorkOptions<A = Work> {
  /**
   * Selects the updates that the handler receives. The cursor moves past the others.
   *
   * @defaultValue all updates
   */
  readonly select?: ((update: A) => boolean) | undefined;
  /**
   * How to retry after a transient failure of the store.
   *
   * @defaultValue the policy of the feed
   */
  readonly storeRetry?: RetryPolicy | undefined;
  /**
   * How to retry a handler that fails. `giveUpAfterMs` limits the time of its attempts and of the delays between them, from the
   * first failure for an update on. A `TypeError` or `ReferenceError`, which a retry would repeat, is not retried, unless it is that of a `fetch` without a response,
   * or `onHandlerFailure` is `'skip'`.
   *
   * @defaultValue the policy of the feed, limited to 60000 ms
   */
  readonly handlerRetry?: RetryPolicy | undefined;
  /**
   * What to do if an update cannot be handled. `'stop'` ends the processor with a `HandlerError`. `'skip'` continues
   * without the update. `'park'` saves the update in the store and continues. With a feed of contracts only `'stop'` is
   * allowed. `'skip'` and `'park'` also apply to updates that cannot be decoded; with `'stop'` these end the processor
   * with a `DecodeError`. It differs from `onUndecodable` of `ledger.updates()`, which only says whether an update that
   * cannot be decoded is an error or an element, because a processor must also decide about a handler that fails.
   *
   * @defaultValue 'stop'
   */
  readonly onHandlerFailure?: 'stop' | 'skip' | 'park' | undefined;
  /** Stops the processor. It completes after the running handler has finished and the cursor is saved. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the running handler, and then the commit with its retries, may take after the processor is stopped or
   * unsubscribed, in milliseconds. After that time they are abandoned, and updates that were handled but not committed
   * are handled again after a restart. A handler that returned a Promise cannot be interrupted: the next processor of the
   * name waits until it has settled, unless the store is a {@link TransactionalStore}.
   *
   * @defaultValue 10000
   */
  readonly stopWithinMs?: number | undefined;
  /**
   * How long one call of the handler may take, in milliseconds. After that time, the processor ends with a `HandlerError`
   * and releases its name, whatever `onHandlerFailure` is: the transaction is rolled back, and another replica continues after the
   * last commit. A Promise cannot be interrupted, so without transactions the call may still work while another replica
   * does. The time for which the process is stopped, or its thread is blocked, does not count.
   *
   * @defaultValue Infinity
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * How long one call of the store may take, in milliseconds. A call that takes longer has failed, and is retried.
   *
   * @defaultValue 30000
   */
  readonly storeTimeoutMs?: number | undefined;
}

/**
 * What the options of a processor may say about failures: only `'stop'` if no item of its feed may be left out, as in a
 * `contractsFeed`.
 *
 * @typeParam M - whether no item may be left out
 * @category Processing
 */
export type FailureOptions<M extends boolean> = [M] extends [true]
  ? {
      /** Only to stop: without one of its items, all that follow would be wrong. */
      readonly onHandlerFailure?: 'stop' | undefined;
    }
  : unknown;

/** Options of any processor, also those that the types exclude and a caller in JavaScript may pass. */
export interface AnyProcessOptions extends WorkOptions {
  readonly name?: string | undefined;
  readonly store?: CheckpointStore | TransactionalStore<unknown> | undefined;
  readonly commitEvery?: CommitEvery | undefined;
  readonly batch?: BatchOptions | undefined;
}

/**
 * The number of updates and the time between two commits.
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
   * The time in milliseconds after which the update being handled is the last one before the commit.
   *
   * @defaultValue 1000
   */
  readonly ms?: number | undefined;
}

/**
 * How updates are grouped into batches.
 *
 * @category Processing
 */
export interface BatchOptions {
  /** The maximum number of updates in a batch. */
  readonly size: number;
  /** The maximum time that the first update of a batch waits for others, in milliseconds. */
  readonly withinMs: number;
}

/**
 * An update that a handler receives: any update except a checkpoint, which only moves the cursor.
 *
 * @category Processing
 */
export type Work = Exclude<Update, OffsetCheckpoint> & {
  /**
   * Set for an update of the past that the request has selected only since it was changed: see `backfill` of `updatesFeed`. Its
   * offset may be lower than that of an update before it.
   */
  readonly isBackfill?: true;
};

/**
 * What a handler may return: nothing, or what the processor waits for. An error or a rejection is a failure, and is
 * retried.
 *
 * @category Processing
 */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a handler without a result
export type HandlerResult = void | Observable<unknown> | PromiseLike<unknown> | AsyncIterable<unknown>;

/**
 * Handles one update. The processor waits until a returned Observable completes or a returned Promise is fulfilled.
 *
 * `tx` is the open transaction of a {@link TransactionalStore}. The processor commits it; the handler must not end it.
 * A handler that uses it has a type such as `Handler<PoolClient>`, and requires such a store. `report` adds to the
 * diagnostics of the feed.
 *
 * @category Processing
 */
export interface Handler<Tx = unknown, A = Work> extends Preparation {
  (update: A, tx: Tx, report?: Report): HandlerResult;
}

/**
 * Handles one or more updates, in order. To return several Promises, combine them: `Promise.all(…)`.
 *
 * @category Processing
 */
export interface BatchHandler<Tx = unknown, A = Work> extends Preparation {
  (updates: readonly A[], tx: Tx, report?: Report): HandlerResult;
}

/**
 * What a handler may have in addition.
 *
 * @inline
 */
interface Preparation {
  /**
   * Creates or checks what the handler needs, such as its tables. The processor waits for it before it holds or awaits its
   * name, so that a standby which could not work is not ready. A failure is retried like one of the store, unless the error
   * has a property `endsProcessor` that is `true`.
   */
  readonly prepare?: (() => ObservableInput<unknown>) | undefined;
}

/**
 * A commit: the updates at or before the offset have been handled, and the store has saved that. A processor also emits where
 * it is when its role changes.
 *
 * @category Processing
 */
export interface Committed {
  /** The offset up to which every update has been handled or does not concern the processor. */
  readonly offset: Offset;
  /** The latest record time of each synchronizer, by synchronizer ID. */
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /**
   * The number of updates handled since the last commit; 0 if only the cursor moved, and in the first commit, whose
   * offset is where the processor begins.
   */
  readonly handled: number;
  /**
   * Set if the processor does not hold its name, and so has committed nothing: `'standby'` when it begins to wait for another
   * processor, with the cursor that the store has; `'starting'` when it has lost its store. Absent for a commit.
   */
  readonly role?: Exclude<ProcessorRole, 'leader'>;
  /** Set if it waits because its name is paused: it commits nothing until `canton-rx processors resume`. */
  readonly isPaused?: true;
  /** Whether everything that the ledger was known to have has been handled. */
  readonly isCaughtUp: boolean;
}
