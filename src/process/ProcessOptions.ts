import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { RetryPolicy } from '../http/retry.js';
import type { CheckpointStore, TransactionalStore } from './CheckpointStore.js';

/** How a processor works. */
export interface ProcessOptions<Tx = void> extends Omit<UpdatesOptions, 'parallelRanges' | 'onInvalid' | 'transport'> {
  /** By which the store knows the processor. Needed beside `store`, and goes with it. */
  readonly name?: string | undefined;
  /** Where the processor keeps its place. Default: nowhere; each subscription begins at the request's `beginExclusive`. */
  readonly store?: CheckpointStore | TransactionalStore<Tx> | undefined;
  /** Which updates concern the handler. Default: all. The place moves on over those that do not. */
  readonly select?: ((update: Work) => boolean) | undefined;
  /**
   * After how much work the place is saved, and a transaction committed: behind so many updates, or behind the one that is
   * handled when so many milliseconds are over. A page that ends is saved in any case.
   *
   * @defaultValue a page, and 1000 ms
   */
  readonly commitEvery?: CommitEvery | undefined;
  /** Of {@link BatchProcessOptions} alone. */
  readonly batch?: undefined;
  /**
   * How often a handler that fails is tried again. `giveUpAfterMs` counts its attempts and the waits between them.
   *
   * @defaultValue the ledger's, for at most 60000 ms
   */
  readonly handlerRetry?: RetryPolicy | undefined;
  /**
   * What an update does that cannot be handled: `'stop'` ends with a `HandlerError`; `'skip'` goes on without it; `'park'`
   * puts it aside in the store, and goes on. With the latter two, so do updates that do not decode.
   *
   * @defaultValue 'stop'
   */
  readonly onPoison?: 'stop' | 'skip' | 'park' | undefined;
  /** Stops the processor, which completes once the handler that runs is done and the place is saved. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the running handler, and the saving behind it, may go on once the processor is stopped or unsubscribed, in
   * milliseconds. Then they are abandoned.
   *
   * @defaultValue 10000
   */
  readonly stopWithinMs?: number | undefined;
  /**
   * How long the store may take for one call, in milliseconds, before it is taken for failed, and asked again.
   *
   * @defaultValue 30000
   */
  readonly storeTimeoutMs?: number | undefined;
}

/** How a processor works whose handler takes several updates at once. */
export interface BatchProcessOptions<Tx = void> extends Omit<ProcessOptions<Tx>, 'batch' | 'commitEvery'> {
  /**
   * Hands updates over in arrays of `size`, or of fewer `withinMs` after the first of them came. A batch is committed as a
   * whole; one that fails is handed over once more, one update at a time.
   */
  readonly batch: BatchOptions;
  /** Not beside `batch`. */
  readonly commitEvery?: undefined;
}

/** Either of the two, with whatever transactions. */
export type AnyProcessOptions = ProcessOptions<unknown> | BatchProcessOptions<unknown>;

/** How much work there is between two commits. */
export interface CommitEvery {
  /** The most updates. Default: a page. */
  readonly updates?: number | undefined;
  /** After how many milliseconds the update that is handled is the last. Default: 1000. */
  readonly ms?: number | undefined;
}

/** How updates are put together. */
export interface BatchOptions {
  /** The most updates in a batch. */
  readonly size: number;
  /** How long the first update of a batch waits for others at most, in milliseconds. */
  readonly withinMs: number;
}

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

/** How far a processor has come: what is at or before the offset has been handled, and the store knows. */
export interface Committed {
  /** Everything up to here has been handled, or does not concern the processor. */
  readonly offset: Offset;
  /** The latest record time of each synchronizer, by its id. */
  readonly recordTimes: Readonly<Record<string, Timestamp>>;
  /** How many updates were handled since the commit before; 0 where only the place has moved, and in the first that tells where it begins. */
  readonly handled: number;
  /** Whether everything has been handled that the ledger was seen to have. */
  readonly isCaughtUp: boolean;
}
