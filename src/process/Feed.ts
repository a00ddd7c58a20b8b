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
 * What a feed may contain: an update, or whatever else happens at an offset.
 *
 * @category Processing
 */
export interface FeedItem {
  /** The kind of item. */
  readonly _tag: string;
  /** Its position on the ledger. */
  readonly offset: Offset;
  /** The id of the update, if it is one that has an id. */
  readonly updateId?: string | undefined;
}

/**
 * A source of updates in order, from which a processor can resume at any position: a ledger, by `updatesFeed`, or a stream
 * into which they were relayed, by `natsFeed` of `canton-rx/nats`. A feed is a description, and can be processed several
 * times.
 *
 * @typeParam A - what handlers get
 * @typeParam P - the positions of the source
 * @category Processing
 */
export interface Feed<A = Work, P extends FeedPosition = FeedPosition> {
  /** Begins a run of a processor. Sends nothing. */
  open(run: FeedRun): FeedReader<A, P>;
  /** How to retry the source, and by default the store and the handler. */
  readonly retry: CompleteRetryPolicy;
  /** The offset at which the source ends now, read at each subscription; for the lag of a processor. */
  readonly end$: Observable<Offset>;
  /** Reports what the source and its processors do. Hot, and never completes. */
  readonly diagnostics$: Observable<Diagnostic>;
  /** Whether a processor needs a store, since the source keeps no place for it. By default it may begin again each time. */
  readonly needsStore?: boolean;
  /** Whether nothing may be left out: a handler that fails for good ends the processor. By default it may skip or park. */
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
  /** The offset of the ledger up to which everything is read. */
  readonly offset: Offset;
}

/**
 * What a feed needs to know of a run.
 *
 * @category Processing
 */
export interface FeedRun {
  /** Whether the processor has a store. Without one, the place of the source itself is used, if it keeps one. */
  readonly hasStore: boolean;
  /** Whether an update that does not decode is an entry of a page, rather than the end of the feed with an error. */
  readonly emitInvalid: boolean;
}

/** A run of a processor, to be wrapped. */
interface WrappedRun<A, P extends FeedPosition> {
  /** The name of the processor; `undefined` for one without a store. */
  readonly name: string | undefined;
  readonly handler: AnyHandler;
  /** Runs the processor, with another feed or another handler. */
  readonly run: (feed: Feed<A, P>, handler: AnyHandler) => Observable<Committed>;
}

/**
 * A feed as one run of a processor reads it.
 *
 * @category Processing
 */
export interface FeedReader<A, P extends FeedPosition> {
  /** Reports what the reader and its processor do. */
  readonly report: Report;
  /** The path from which the source is read, for errors. */
  readonly path: string;
  /** The maximum number of entries in a page. */
  readonly maxPageSize: number;
  /** The place that the source keeps for a processor without a store. */
  readonly place?: FeedPlace;
  /** Emits where a processor without a cursor begins, once. */
  readonly start$: Observable<P>;
  /**
   * Where a processor begins again if the last update of its cursor is gone, because the source was replaced. Without it,
   * that is a `CursorError`.
   */
  readonly restart?: P;
  /** Emits which cursors belong to the feed, once. */
  readonly identity$: Observable<FeedIdentity>;
  /** Codec of the positions, by which stored ones are checked. They are plain JSON, and decode to themselves. */
  readonly position: t.Type<P, unknown>;
  /** The order of the positions. */
  readonly order: ord.Ord<P>;
  /** Emits whether an update is still at its place, once; `true` if that cannot be found out. */
  hasUpdate(update: LastUpdate, at: P): Observable<boolean>;
  /** The pages after a position. Requests the first, and the next after each, when `ready$` emits. */
  pages(after: P, ready$: Observable<unknown>): Observable<FeedPage<A, P>>;
  /** The record times of an entry, by synchronizer. */
  readonly timesOf: (content: A | OffsetCheckpoint) => readonly SynchronizerTime[];
}

/**
 * Which cursors belong to a feed.
 *
 * @category Processing
 */
export interface FeedIdentity {
  /** The participant to which the offsets belong; absent if it is not known. */
  readonly participantId?: string | undefined;
  /** What the feed selects of its source. */
  readonly selection: string;
}

/**
 * Some entries of a source, in order.
 *
 * @category Processing
 */
export interface FeedPage<A, P extends FeedPosition> {
  /** The entries, each after the one before it. */
  readonly entries: readonly FeedEntry<A, P>[];
  /** How far the source is read after them. */
  readonly reached: P;
  /** Whether that is all that the source was known to have. */
  readonly isCaughtUp: boolean;
  /** Whether the feed ends after them. */
  readonly isLast?: boolean;
}

/**
 * One entry of a source. Handlers get neither checkpoints nor what does not decode.
 *
 * @category Processing
 */
export interface FeedEntry<A, P extends FeedPosition> {
  /** The position after it. */
  readonly position: P;
  /** What it contains. */
  readonly content: A | OffsetCheckpoint | InvalidUpdate;
}

/**
 * The place that a source keeps for a processor, and for all others of its name.
 *
 * @category Processing
 */
export interface FeedPlace {
  /** The name of the place, for errors. */
  readonly name: string;
  /** Waits until no other processor has the place, then emits, once. Errors when it is lost, and releases it when unsubscribed. */
  hold(): Observable<unknown>;
  /** Emits the record that was saved last, or `undefined`. */
  load(): Observable<unknown>;
  /** Saves a cursor, and completes when that is durable. */
  save(cursor: Cursor): Observable<unknown>;
}

/** Whether an entry is a checkpoint. */
export const isCheckpoint = (content: { readonly _tag: string }): content is OffsetCheckpoint =>
  content._tag === 'OffsetCheckpoint';

/** Whether an entry is an update that does not decode. */
export const isInvalid = (content: { readonly _tag: string }): content is InvalidUpdate =>
  content._tag === 'InvalidUpdate';

/** The order of positions by a number that each of them has. */
export const orderBy = <P>(toNumber: (position: P) => number): ord.Ord<P> => ({
  equals: (a, b) => toNumber(a) === toNumber(b),
  compare: (a, b) => {
    const difference = toNumber(a) - toNumber(b);
    if (difference === 0) return 0;
    return difference < 0 ? -1 : 1;
  },
});
