import type { ord } from 'fp-ts';
import type * as t from 'io-ts';
import type { Observable } from 'rxjs';
import type { OffsetCheckpoint, SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Diagnostic, Report } from '../diagnostics/Diagnostic.js';
import type { InvalidUpdate } from '../feed/UpdatesOptions.js';
import type { CompleteRetryPolicy } from '../http/retry.js';
import type { AnyHandler } from '../ledger/connection.js';
import type { Cursor, LastUpdate } from './Cursor.js';
import type { Committed, Work } from './ProcessOptions.js';

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
 * `contractsFeed`), or a stream to which its updates are relayed (`natsFeed` of `canton-rx/nats`). A feed is a
 * description, and can be processed several times.
 *
 * @typeParam A - the input of handlers
 * @typeParam P - the positions in the source
 * @category Processing
 */
export interface Feed<A = Work, P extends FeedPosition = FeedPosition> {
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
   * Whether a processor requires a store, because the source does not save its cursor. Default: it may start over each
   * time.
   */
  readonly needsStore?: boolean;
  /**
   * Whether no item may be left out: if a handler fails permanently, the processor ends. Default: it may skip or park
   * an item.
   */
  readonly mustHandleAll?: boolean;
  /**
   * Wraps the runs of processors, for telemetry and for Angular's zone.
   *
   * @internal
   */
  wrapRun?(run: WrappedRun<A, P>): Observable<Committed>;
}

/**
 * A position in a source.
 *
 * @category Processing
 */
export interface FeedPosition {
  /** The ledger offset up to which everything has been read. */
  readonly offset: Offset;
}

/**
 * The properties of a run that a feed depends on.
 *
 * @category Processing
 */
export interface FeedRun {
  /** Whether the processor has a store. If not, the source saves its cursor, provided it can. */
  readonly hasStore: boolean;
  /** Whether an update that cannot be decoded becomes an entry of a page. If not, it ends the feed with an error. */
  readonly emitInvalid: boolean;
}

/** A run of a processor, as a wrapper receives it. */
interface WrappedRun<A, P extends FeedPosition> {
  /** The name of the processor; `undefined` for one without a store. */
  readonly name: string | undefined;
  readonly handler: AnyHandler;
  /** Runs the processor with another feed or another handler. */
  readonly run: (feed: Feed<A, P>, handler: AnyHandler) => Observable<Committed>;
}

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
  /** The maximum number of entries in a page. */
  readonly maxPageSize: number;
  /** Saves the cursor for a processor without a store, if the source can. */
  readonly place?: FeedPlace;
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
  readonly position: t.Type<P, unknown>;
  /** The order of the positions. */
  readonly order: ord.Ord<P>;
  /** Emits once whether an update is still at its position; `true` if that cannot be determined. */
  hasUpdate(update: LastUpdate, at: P): Observable<boolean>;
  /**
   * Emits the pages after a position. Requests the first page, and the next one after each page, when `ready$` emits.
   */
  pages(after: P, ready$: Observable<unknown>): Observable<FeedPage<A, P>>;
  /** Returns the record times of an entry, by synchronizer. */
  readonly timesOf: (content: A | OffsetCheckpoint) => readonly SynchronizerTime[];
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
 * Consecutive entries of a source.
 *
 * @category Processing
 */
export interface FeedPage<A, P extends FeedPosition> {
  /** The entries, in order. */
  readonly entries: readonly FeedEntry<A, P>[];
  /** The position up to which the source has been read with them. */
  readonly reached: P;
  /** Whether the source was not known to have more. */
  readonly isCaughtUp: boolean;
  /** Whether the feed ends with this page. */
  readonly isLast?: boolean;
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
  readonly content: A | OffsetCheckpoint | InvalidUpdate;
}

/**
 * The cursor that a source saves for all processors of a name, one of which works at a time.
 *
 * @category Processing
 */
export interface FeedPlace {
  /** The name of the place, for error messages. */
  readonly name: string;
  /**
   * Waits until no other processor holds the place, then emits once. Errors if the place is lost; unsubscribing
   * releases it.
   */
  hold(): Observable<unknown>;
  /** Emits the record that was last saved, or `undefined`. */
  load(): Observable<unknown>;
  /** Saves a cursor, and completes when it is durable. */
  save(cursor: Cursor): Observable<unknown>;
}

/** Whether an entry is a checkpoint. */
export const isCheckpoint = (content: { readonly _tag: string }): content is OffsetCheckpoint =>
  content._tag === 'OffsetCheckpoint';

/** Whether an entry is an update that cannot be decoded. */
export const isInvalid = (content: { readonly _tag: string }): content is InvalidUpdate =>
  content._tag === 'InvalidUpdate';

/** Orders positions by a number that each of them has. */
export const orderBy = <P>(toNumber: (position: P) => number): ord.Ord<P> => ({
  equals: (a, b) => toNumber(a) === toNumber(b),
  compare: (a, b) => {
    const difference = toNumber(a) - toNumber(b);
    if (difference === 0) return 0;
    return difference < 0 ? -1 : 1;
  },
});
