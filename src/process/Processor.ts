import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { checkPositive, type CompleteRetryPolicy, retryPolicy } from '../http/retry.js';
import type { Transactions } from './CheckpointStore.js';
import type { Cursor } from './Cursor.js';
import type { Feed, FeedEntry, FeedItem, FeedPosition, FeedReader } from './Feed.js';
import type { AnyProcessOptions, CommitEvery } from './ProcessOptions.js';

/** A processor that holds its name: its handler, its store and its settings. */
export interface Processor extends Stop, ProcessorSettings {
  readonly reader: AnyReader;
  /** Handles one item, or several if it takes batches. */
  readonly handle: (work: FeedItem | readonly FeedItem[], tx: unknown) => unknown;
  readonly transactions: Transactions<unknown>;
  /** Whether the effects of a handler are rolled back when it fails. */
  readonly isTransactional: boolean;
  readonly load$: Observable<unknown>;
  readonly save: (cursor: Cursor, tx: unknown) => Observable<unknown>;
  readonly park: (offset: Offset, parked: unknown, tx: unknown) => Observable<unknown>;
}

/** A feed of unknown items and positions. */
export type AnyFeed = Feed<FeedItem>;

/** A reader of such a feed. */
export type AnyReader = FeedReader<FeedItem, FeedPosition>;

/** An entry of such a feed. */
export type AnyEntry = FeedEntry<FeedItem, FeedPosition>;

/** Whether a processor must stop. */
export interface Stop {
  /** Emits when the processor must stop. */
  readonly stop$: Observable<unknown>;
  readonly isStopped: () => boolean;
}

/** The options that the work of a processor depends on, with their defaults. */
interface ProcessorSettings {
  readonly select: (item: FeedItem) => boolean;
  readonly takesBatches: boolean;
  readonly commitEveryMs: number;
  readonly commitEveryUpdates: number;
  readonly storeRetry: CompleteRetryPolicy;
  readonly handlerRetry: CompleteRetryPolicy;
  readonly onPoison: 'stop' | 'skip' | 'park';
}

/** The default time limit of a handler's retries, in milliseconds: a failure that lasts must become visible. */
const handlerGiveUpAfterMs = 60_000;

/** Returns the settings of a processor. Throws a TypeError for options that are invalid or cannot be combined. */
export function processorSettings(
  options: AnyProcessOptions,
  { retry, needsStore = false, mustHandleAll = false }: AnyFeed,
): ProcessorSettings {
  const { name, store, batch, onPoison = 'stop', stopWithinMs, storeTimeoutMs = 1 } = options;
  // JavaScript callers may pass both batch and commitEvery, which the types exclude
  const every: CommitEvery | undefined = options.commitEvery;
  const { ms = 1_000, updates = Infinity } = every ?? {};
  checkPositive({ storeTimeoutMs, stopWithinMs: (stopWithinMs ?? 0) + 1, commitEveryMs: ms });
  checkPositive({ size: batch?.size ?? 1, commitEveryUpdates: every?.updates ?? 1 }, true);
  checkPositive({ withinMs: (batch?.withinMs ?? 0) + 1 });
  if (store === undefined && needsStore) throw new TypeError('store is required: this feed does not save its cursor');
  if (store === undefined && name !== undefined) throw new TypeError('store is required if name is set');
  if (store !== undefined && (name === undefined || name === ''))
    throw new TypeError('name is required if store is set');
  if (batch !== undefined && every !== undefined) throw new TypeError('commitEvery is not allowed with batch');
  if (onPoison !== 'stop' && mustHandleAll) throw new TypeError("onPoison must be 'stop' with this feed");
  if (onPoison === 'park' && store?.park === undefined)
    throw new TypeError("onPoison: 'park' requires a store with park");
  return {
    select: (options.select as ProcessorSettings['select'] | undefined) ?? (() => true),
    takesBatches: batch !== undefined,
    commitEveryMs: ms,
    commitEveryUpdates: batch?.size ?? updates,
    storeRetry: retryPolicy(retry, options.retry),
    handlerRetry: retryPolicy(
      { ...retry, giveUpAfterMs: Math.min(retry.giveUpAfterMs, handlerGiveUpAfterMs) },
      options.handlerRetry,
    ),
    onPoison,
  };
}
