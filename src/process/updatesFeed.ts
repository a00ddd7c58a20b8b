import { defer, map, type Observable } from 'rxjs';
import type { FeedCall } from '../client/Interceptor.js';
import { isRecord } from '../codecs/internal/Codec.js';
import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { InvalidRequestError } from '../errors/request.js';
import type { FeedBatch } from '../feed/LedgerFeed.js';
import { checkOptions, createLedgerFeed, type UpdatesFeed, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { type Client, reportWithout } from '../client/Client.js';
import { updatesCall } from '../feed/progress.js';
import { placeOf } from '../feed/prove.js';
import { batches } from '../feed/updates.js';
import { advance, bareOffset, LedgerPosition } from '../history/LedgerPosition.js';
import { readParticipantId } from '../history/participant.js';
import type { Batch } from '../history/positions.js';
import { validateRequest } from '../client/exchange.js';
import { type CompleteRetryPolicy, retryPolicy, retryTransient } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { FeedPosition } from './CheckpointStore.js';
import type { Feed, FeedEntry, FeedIdentity, FeedReader, FeedRun } from './Feed.js';
import type { Work } from './ProcessOptions.js';

/**
 * Options of {@link updatesFeed}.
 *
 * @category Processing
 */
export interface UpdatesFeedOptions extends Omit<UpdatesOptions, 'parallelRanges' | 'onUndecodable' | 'transport'> {
  /**
   * The reaction to a cursor that was saved for a request with other parties, filters or transaction shapes. `'fail'` ends the
   * processor with a `CursorError`: a log of updates would lack those before the cursor that only the new request selects, and
   * nothing would show it. `'continue'` reports a `SelectionChanged` diagnostic, and continues with the new request after the
   * cursor. Then only the ID of the participant shows that the ledger is still the same.
   *
   * @defaultValue 'fail'
   */
  readonly onSelectionChange?: 'fail' | 'continue' | undefined;
}

/**
 * The updates that {@link updatesFeed} reads, and where it begins without a cursor. A cursor is the offset up to which all is
 * committed, so the order is always ascending.
 *
 * @category Processing
 */
export type UpdatesFeedRequest = UpdatesRequest & {
  /** Only ascending. */
  readonly descendingOrder?: false | null | undefined;
};

/**
 * Returns the updates of a ledger as a feed for {@link processFeed}: a description of what to read, and not an Observable
 * as `ledger.updates()` is. It polls over HTTP, and requests a page only while
 * at most one is waiting: pushed or prefetched updates would pile up in memory if the handler is slow.
 *
 * A cursor belongs to the participant and to what the request selects. The order of its parties and filters does not
 * matter, nor do `verbose` and other flags. After a restart and after an outage, the feed checks that the last update is
 * still at its offset.
 *
 * The processor fails with the errors of `ledger.updates`, and with a `CursorError` if its cursor belongs to another
 * ledger or request.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader` or `injectLedger`, or a copy
 * @param request - the updates to process, in ascending order, and where to begin without a cursor
 * @param options - the page size, the idle timeout, what to do about a gap, and the retry policy
 * @throws TypeError for invalid options, and if the `updates` of the ledger were replaced
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * const committed$ = processFeed(feed, (update) => console.log(update.offset), { name: 'log', store: memoryStore() });
 * ```
 *
 * @category Processing
 */
export function updatesFeed(
  ledger: LedgerReader,
  request: UpdatesFeedRequest,
  options: UpdatesFeedOptions = {},
): Feed<Work, LedgerPosition> {
  checkOptions(options);
  const { onSelectionChange = 'fail' } = options;
  // JavaScript callers may pass anything
  if (!['fail', 'continue'].includes(onSelectionChange))
    throw new TypeError("onSelectionChange must be 'fail' or 'continue'");
  const retry = retryPolicy(clientOf(ledger).retry, options.retry);
  // a processor begins where it ended
  const { kind, isEndless } = updatesCall(request);
  return ledgerFeed(ledger, { kind, isEndless }, retry, (client, run) =>
    openReader(client, request, { ...options, retry }, run),
  );
}

/**
 * Returns a feed of a ledger, whose interceptors see the runs of processors.
 *
 * @throws TypeError if the `updates` of the ledger were replaced
 */
export function ledgerFeed<A, P extends FeedPosition>(
  ledger: LedgerReader,
  call: Omit<FeedCall, 'processor'>,
  retry: CompleteRetryPolicy,
  open: (client: Client, run: FeedRun) => FeedReader<A, P>,
): Feed<A, P> {
  const own = clientOf(ledger);
  return {
    retry,
    end$: defer(() => ledger.ledgerEnd()),
    diagnostics$: ledger.diagnostics$,
    open: (run) => open(run.client ?? own, run),
    intercepted: { client: own, call },
  };
}

function openReader(
  client: Client,
  request: UpdatesRequest,
  options: UpdatesFeedOptions,
  { name, emitUndecoded }: FeedRun,
): FeedReader<Work, LedgerPosition> {
  const range = validateRequest(UpdatesRequest, request);
  if (range.descendingOrder === true)
    throw new InvalidRequestError([{ path: 'descendingOrder', expected: 'false for a processor' }]);
  const feedOptions = {
    ...options,
    transport: 'http',
    parallelRanges: 1,
    onUndecodable: emitUndecoded ? 'emit' : 'fail',
  } as const;
  const report = client.reportForNewFeed(name);
  const feedFrom = (position: LedgerPosition) => {
    const { endInclusive } = range;
    const { offset: beginExclusive } = position;
    const rest = {
      ...range,
      beginExclusive,
      ...(typeof endInclusive === 'number' && { endInclusive: Math.max(endInclusive, beginExclusive) }),
    };
    const known = { position, mustProve: true };
    // the processor reports the end of the run
    return createLedgerFeed(client, rest, feedOptions, undefined, reportWithout(report, 'FeedEnded'), known);
  };
  const start = bareOffset(range.beginExclusive);
  const feed = feedFrom(start);
  return {
    report,
    path: client.learned.updatesPath,
    maxPageSize: feed.maxPageSize,
    start$: defer(() => [start]),
    identity$: ledgerIdentity(feed),
    mayRelocate: feed.onOtherNode === 'relocate',
    onSelectionChange: options.onSelectionChange ?? 'fail',
    prove: ({ offset, lastUpdate, participantId, recordTimes }) =>
      placeOf(feed, { offset, lastUpdate, participantId, recordTimes }),
    position: LedgerPosition,
    compare: (a, b) => a.offset - b.offset,
    batches: ({ offset, lastUpdate, participantId, recordTimes }, ready$) =>
      batches(feedFrom({ offset, lastUpdate, participantId, recordTimes }), ready$).pipe(map(toBatch)),
  };
}

/** Adds to each update the position after it. */
function toBatch({ items, position, origin, isCaughtUp, isLast }: FeedBatch): Batch<FeedEntry<Work, LedgerPosition>> {
  let reached = origin.before;
  const entries = items.map((update) => {
    reached = advance(reached, [update], origin.isAddressed);
    return { position: reached, content: update };
  });
  return { items: entries, position, isCaughtUp, isLast };
}

/** Reads the ID of the participant that a feed reads from, and hashes what its request selects. */
export const ledgerIdentity = (feed: UpdatesFeed): Observable<FeedIdentity> =>
  readParticipantId(feed.client).pipe(
    retryTransient(feed),
    map((participantId) => ({ participantId, selection: selectionHash(feed.request) })),
  );

/**
 * Returns a hash of what a request selects. It does not depend on the order of parties and filters. It is FNV-1a with 64
 * bits, because pages over plain HTTP have no cryptographic hashes, and a cursor need not be protected from its owner.
 */
export function selectionHash({ updateFormat, filter }: Pick<UpdatesRequest, 'updateFormat' | 'filter'>): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(canonicalJson({ updateFormat, filter })))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `fnv1a:${hash.toString(16).padStart(16, '0')}`;
}

/**
 * Returns JSON with sorted keys and sorted lists. Flags are left out, because they select the content of an update but
 * not the updates. So is `null`, which means the same as an absent field.
 */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).sort().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(
    ([, content]) => content !== undefined && content !== null && typeof content !== 'boolean',
  );
  return `{${entries
    .map(([key, content]) => `${JSON.stringify(key)}:${canonicalJson(content)}`)
    .sort()
    .join()}}`;
}
