import type * as t from 'io-ts';
import type { Observable } from 'rxjs';
import type { Client } from '../client/Client.js';
import type { FeedCall } from '../client/Interceptor.js';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Diagnostic, Report } from '../diagnostics/Diagnostic.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import type { CompleteRetryPolicy } from '../http/retry.js';
import type { LastUpdate, LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Batch } from '../history/positions.js';
import type { CheckpointStore, FeedPosition } from './CheckpointStore.js';
import type { Work } from './ProcessOptions.js';

/**
 * An item of a feed: an update, or another event at an offset.
 *
 * @category Processing
 */
export interface FeedItem {
  /** The kind of the item. */
  readonly _tag: string;
  /** Its offset on the ledger. */
  readonly offset: Offset;
  /** The ID of the update, if the item is an update that has one. */
  readonly updateId?: string | undefined;
}

/**
 * A source of updates in order, from which a processor can resume at any position: a ledger (`updatesFeed`,
 * `contractsFeed`), or a stream to which its updates are relayed (`natsFeed` of `canton-rx/nats`). It describes what a
 * processor reads, and can be processed several times. Unlike the feed of `ledger.updates()`, it is not an Observable, and
 * reads nothing by itself.
 *
 * @typeParam A - the input of handlers
 * @typeParam P - the positions in the source
 * @typeParam M - `true` if no item may be left out
 * @category Processing
 */
export interface Feed<A = Work, P extends FeedPosition = FeedPosition, M extends boolean = boolean> {
  /** Begins a run of a processor. Sends no requests. */
  open(run: FeedRun): FeedReader<A, P>;
  /** How to retry the source and, by default, the store and the handler. */
  readonly retry: CompleteRetryPolicy;
  /**
   * Emits the offset at which the source ends, read at each subscription, from which the lag of a processor is
   * computed.
   */
  readonly end$: Observable<Offset>;
  /** Reports what the source and its processors do. Hot; never completes. */
  readonly diagnostics$: Observable<Diagnostic>;
  /**
   * The store of processors whose options have none, and the name under which it saves their cursor. Default: such a
   * processor starts over each time.
   */
  readonly defaultStore?: {
    /** The name of the processor in the store. */
    readonly name: string;
    /** The store. */
    readonly store: CheckpointStore;
  };
  /**
   * Whether no item may be left out: if a handler fails permanently, the processor ends. Default: it may skip or park
   * an item.
   */
  readonly mustHandleAll?: M;
  /**
   * The client whose interceptors see the runs of processors, and what they see. Absent if the source is not a ledger.
   *
   * @internal
   */
  readonly intercepted?: { readonly client: Client; readonly call: Omit<FeedCall, 'processor'> };
}

/**
 * The properties of a run that a feed depends on.
 *
 * @category Processing
 */
export interface FeedRun {
  /** The name of the processor, for diagnostics; absent if it has none. */
  readonly name?: string | undefined;
  /** Whether an update that cannot be decoded becomes an entry of a batch. If not, it ends the feed with an error. */
  readonly emitUndecoded: boolean;
  /**
   * The client whose requests belong to the run. Default: that of the ledger.
   *
   * @internal
   */
  readonly client?: Client | undefined;
}

/** A feed of unknown items and positions. */
export type AnyFeed = Feed<FeedItem>;

/** A reader of such a feed. */
export type AnyReader = FeedReader<FeedItem, FeedPosition>;

/** An entry of such a feed. */
export type AnyEntry = FeedEntry<FeedItem, FeedPosition>;

/** A batch of such a feed. */
export type AnyBatch = Batch<AnyEntry, FeedPosition>;

/**
 * Reads a feed for one run of a processor.
 *
 * @category Processing
 */
export interface FeedReader<A, P extends FeedPosition> {
  /** Reports what the reader and its processor do. */
  readonly report: Report;
  /** The path from which the source is read, for error messages. */
  readonly path: string;
  /** The maximum number of entries in a batch. */
  readonly maxPageSize: number;
  /** Emits once where a processor without a cursor begins. */
  readonly start$: Observable<P>;
  /**
   * Where a processor starts over if the last update of its cursor no longer exists because the source was replaced. If
   * absent, that is a `CursorError`.
   */
  readonly restart?: P;
  /** Emits once which cursors belong to the feed. */
  readonly identity$: Observable<FeedIdentity>;
  /** Codec of the positions, to check stored ones. They are plain JSON and decode to themselves. */
  readonly position: t.Decoder<unknown, P>;
  /** The order of the positions: negative if the first one is before the second, 0 if they are the same. */
  compare(a: P, b: P): number;
  /**
   * Emits once whether an update is still at its position; `true` if that cannot be determined. Absent if the batches prove
   * that themselves.
   */
  hasUpdate?(update: LastUpdate, at: P): Observable<boolean>;
  /**
   * Emits once the ledger is known to be that of a position; fails with a `LedgerResetError` if it is another one. Absent if the
   * batches prove that themselves.
   */
  prove?(position: LedgerPosition): Observable<unknown>;
  /**
   * Returns where the feed continues after a cursor that was saved with another selection, or the cursor itself if the batches
   * begin with the difference; `undefined` if it cannot continue. Default: such a cursor is rejected.
   */
  continueAfter?(cursor: P): P | undefined;
  /** Whether the feed continues at another participant that has the same history. Default: such a cursor is rejected. */
  readonly mayRelocate?: boolean;
  /**
   * Emits the batches after a position. Requests the first one, and each next one, when `ready$` emits.
   *
   * @param after - the position, and what the cursor knows of the ledger
   */
  batches(after: P & Partial<LedgerPosition>, ready$: Observable<unknown>): Observable<Batch<FeedEntry<A, P>, P>>;
}

/**
 * Identifies the cursors that belong to a feed.
 *
 * @category Processing
 */
export interface FeedIdentity {
  /** The participant to which the offsets belong; absent if it is not known. */
  readonly participantId?: string | undefined;
  /** Identifies what the feed selects from its source. */
  readonly selection: string;
}

/**
 * One entry of a source. Handlers do not receive checkpoints or updates that cannot be decoded.
 *
 * @category Processing
 */
export interface FeedEntry<A, P extends FeedPosition> {
  /** The position after it. */
  readonly position: P;
  /** The content of the entry. */
  readonly content: A | OffsetCheckpoint | UndecodedUpdate;
}
