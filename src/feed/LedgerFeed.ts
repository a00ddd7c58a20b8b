import type { Observable, ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { LedgerResetError, PrunedError } from '../errors/feed.js';
import type { CompleteRetryPolicy } from '../http/retry.js';
import type { HistoryRange } from '../history/HistoryReader.js';
import type { Batch, Origin } from '../history/positions.js';
import type { ReaderHistory } from '../history/ReaderHistory.js';
import type { ElementForm, FeedElement, Page, PageSize, Range, UndecodedUpdate } from './Page.js';
import type { Client } from '../client/Client.js';
import type { FeedPath } from '../client/Learned.js';

/** One subscription of a feed: its service, its validated request, its options with their defaults, and its ledger. */
export interface LedgerFeed<A extends FeedElement = Update> {
  readonly client: Client;
  readonly source: FeedSource<A>;
  /** The range to read. */
  readonly request: UpdatesRange;
  readonly maxPageSize: number;
  /** The idle timeout of a poll, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The idle timeout after polls without an update, in milliseconds. */
  readonly quietTimeoutMs: number;
  /** `undefined`: as many as the latency of the participant makes worthwhile. */
  readonly parallelRanges: number | undefined;
  readonly onUndecodable: 'fail' | 'emit';
  readonly onGap: 'fail' | ((gap: Gap) => ObservableInput<Offset>);
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
  readonly success$: Observable<unknown>;
  /** What to do if another participant answers that has the same history. */
  readonly onOtherNode: 'fail' | 'relocate';
  /** What was read, and whether the ledger is still the same. */
  readonly history: ReaderHistory;
}

/** A feed of updates, or of completions. */
export type AnyFeed = LedgerFeed<FeedElement>;

/** What a feed reads, and how: the endpoint, the form of its elements, and the ways to request them. */
export interface FeedSource<A extends FeedElement> extends ElementForm<A> {
  path(client: Client): FeedPath;
  /** Returns the body of a request. */
  body(range: Range, path: FeedPath): object;
  /**
   * Returns the body of a request that looks up an update by its ID. Absent if the elements are not updates: then what was read
   * cannot be searched, and no request begins with the last element to prove itself.
   */
  lookUp?(updateId: string): object;
  /** Requests what is in a range. The `last` of the page is the offset up to which it has everything. */
  readRange(feed: LedgerFeed<A>, range: HistoryRange, size: PageSize): Observable<Page<A>>;
  /** Reads a page between the cursor and the target, of which some ranges are already requested. */
  catchUp(feed: LedgerFeed<A>, position: Position, prefetched: readonly PrefetchedRange[]): Observable<Step<A>>;
  /** Waits for what the ledger does not have yet. */
  follow(feed: LedgerFeed<A>, position: Position): Observable<Step<A>>;
}

/** The state of a feed between two requests. */
export interface Position {
  /** What the feed does next. */
  readonly phase: Phase;
  /**
   * The feed has emitted everything up to here that matches the request. In descending order: everything from here on.
   */
  readonly cursor: Offset;
  /** Where pages end: at the last known ledger end, or at the end of the request. */
  readonly target: Offset;
  /** When the feed last read the ledger end, in milliseconds. */
  readonly ledgerEndReadAt: number;
  /** Whether the feed has emitted everything up to the ledger end, and has not lagged by a page since. */
  readonly hasCaughtUp: boolean;
  readonly pages: RecentPages;
  readonly polls: RecentPolls;
}

/** What a feed does next, with what only that needs. */
export type Phase =
  | { readonly _tag: 'ReadLedgerEnd' }
  | CatchUp
  /** Reads a page before the cursor, in descending order, down to the exclusive end of the feed. */
  | { readonly _tag: 'ReadDownward'; readonly floor: Offset }
  /** Waits for an update. */
  | { readonly _tag: 'Follow' }
  /** The source emits the next step without a request. */
  | { readonly _tag: 'Pushed' }
  | { readonly _tag: 'End' };

/** Reads a page between the cursor and the target. */
interface CatchUp {
  readonly _tag: 'CatchUp';
  /** The ranges after the cursor that are already requested, in order. */
  readonly prefetched: readonly PrefetchedRange[];
}

/** What the recent pages of a feed show of its ledger. */
interface RecentPages {
  /** The number of their elements: a moving sum in which older pages weigh less. */
  readonly elements: number;
  /** The number of offsets that they spanned: the same kind of sum. */
  readonly offsets: number;
  /** How many ranges to read at the same time. */
  readonly parallelRanges: number;
  /**
   * The shortest duration of a page request since the feed read the ledger end, in milliseconds: an estimate of the
   * latency.
   */
  readonly fastestMs: number;
}

/** What the recent polls of a feed show of its ledger. */
export interface RecentPolls {
  /** The limit of the next poll. */
  readonly limit: number;
  /** The minimum time between the start of the last poll and that of the next on a quiet ledger, in milliseconds. */
  readonly intervalMs: number;
  /** The number of polls with a checkpoint; `-Infinity` once one has lasted and got none. */
  readonly checkpointStreak: number;
  /** When the feed sent the last poll, in milliseconds. */
  readonly sentAt: number;
  /** The number of consecutive polls without an update. */
  readonly idle: number;
}

/** What a feed emits after each request: the updates that were not read before. */
export interface FeedBatch<A extends FeedElement = Update> extends Batch<A | UndecodedUpdate> {
  /** Up to where the participant that answers was read. It goes back if the feed does. */
  readonly cursor: Offset;
  /** Where the items are in the history of the ledger. */
  readonly origin: Origin;
  /** What was received; absent if no updates were requested. */
  readonly page?: Page<A> | undefined;
  /** Set if the feed continues elsewhere: back at its last update, or at other offsets of the same history. */
  readonly moved?: Step['moved'];
}

/** The result of one request: the position after it, and a page if there is one. */
export interface Step<A extends FeedElement = Update> {
  readonly position: Position;
  readonly page?: Page<A>;
  /** Set if the feed continues elsewhere: back at its last update, or at other offsets of the same history. */
  readonly moved?: 'back' | 'elsewhere';
  /** Whether the page is the first one of a transport, which another participant may have opened. */
  readonly isFirst?: boolean;
}

/**
 * A range that the feed is reading. Its request is sent once for all subscribers, and repeated only after a failure.
 */
export interface PrefetchedRange {
  readonly beginExclusive: Offset;
  readonly endInclusive: Offset;
  readonly result$: Observable<RangeResult>;
  /** Sends the request before the range is due, and ignores its result. Unsubscribing aborts it. */
  readonly prefetch$: Observable<never>;
}

/** The result of reading a range. */
export interface RangeResult {
  /** Its `last` is the offset up to which it has everything. */
  readonly page: Page;
  /** The number of requests, sent one after the other. */
  readonly requests: number;
}

/**
 * A point at which a feed cannot continue without a gap.
 *
 * @category Ledger
 */
export interface Gap {
  /** The cursor of the feed: it has emitted everything up to here that matches the request. */
  readonly cursor: Offset;
  /** The reason. A `PrunedError` contains the first available offset, a `LedgerResetError` how it was noticed. */
  readonly error: PrunedError | LedgerResetError;
}

/**
 * A way for a feed that has caught up to receive new updates without polls. `webSocketTransport()` from `canton-rx/ws`
 * creates one; it is a separate entry, so that programs that only poll do not load it.
 *
 * @example
 * ```ts
 * import { createLedger, type Transport } from 'canton-rx';
 * import { webSocketTransport } from 'canton-rx/ws';
 *
 * const transport: Transport = webSocketTransport();
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', transport });
 * ```
 * @category HTTP
 */
export interface Transport {
  /** The discriminant. */
  readonly _tag: 'Transport';
  /**
   * Returns a source that reads the same, and follows the ledger over the transport.
   *
   * @internal
   */
  readonly over: <A extends FeedElement>(source: FeedSource<A>) => FeedSource<A>;
  /**
   * Reads a finite list, such as a snapshot of the active contracts. Emits the JSON of its elements, undecoded, as they
   * arrive. Completes only if the participant has sent all elements, and otherwise fails with a `LedgerError`.
   *
   * @internal
   */
  readonly readList: (client: Client, path: string, body: object) => Observable<unknown>;
}
