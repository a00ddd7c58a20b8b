import { concat, defer, EMPTY, map, type Observable } from 'rxjs';
import type { FeedCall } from '../client/Interceptor.js';
import { updatesBody, UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { CursorError } from '../errors/process.js';
import { InvalidRequestError } from '../errors/request.js';
import type { FeedBatch } from '../feed/LedgerFeed.js';
import { checkOptions, createLedgerFeed, type UpdatesFeed, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { type Client, reportWithout } from '../client/Client.js';
import { updatesCall } from '../feed/progress.js';
import { placeOf } from '../feed/prove.js';
import { batches } from '../feed/updates.js';
import { advance, bareOffset, type LedgerPosition } from '../history/LedgerPosition.js';
import { readParticipantId } from '../history/participant.js';
import type { Batch } from '../history/positions.js';
import { validateRequest } from '../client/exchange.js';
import { type CompleteRetryPolicy, retryPolicy, retryTransient } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { planBackfill } from './backfill/planBackfill.js';
import { type PastFeed, readPast } from './backfill/readPast.js';
import { compareUpdates, type SeenSelection, UpdatesPosition } from './backfill/UpdatesPosition.js';
import type { FeedPosition } from './CheckpointStore.js';
import type { Feed, FeedEntry, FeedIdentity, FeedReader, FeedRun } from './Feed.js';
import type { Work } from './ProcessOptions.js';
import { selectionHash } from './selectionHash.js';

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
  /**
   * Whether the past of what a changed request adds is handled, too: the updates up to the cursor that only the new request
   * selects. They come first, in order, with `isBackfill`, and then the updates after the cursor. No update is handled twice,
   * also if the processor ends in between, or if a party goes and comes back. Requires `onSelectionChange: 'continue'`.
   *
   * The past begins after `beginExclusive`. If the ledger is pruned after that, `onGap` applies. To know what was handled, the
   * cursor has the former selections, and their updates are read again: the token needs the right to read as their parties.
   * A cursor that was saved without this option and with another request is a `CursorError`.
   *
   * @defaultValue false
   */
  readonly backfill?: boolean | undefined;
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
  const { onSelectionChange = 'fail', backfill = false } = options;
  // JavaScript callers may pass anything
  if (!['fail', 'continue'].includes(onSelectionChange))
    throw new TypeError("onSelectionChange must be 'fail' or 'continue'");
  if (backfill && onSelectionChange !== 'continue')
    throw new TypeError("backfill requires onSelectionChange: 'continue'");
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
): FeedReader<Work, UpdatesPosition> {
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
  const { backfill = false } = options;
  const format = updatesBody(range, { beginExclusive: 0 }, '/v2/updates').updateFormat ?? {};
  const own: SeenSelection = { updateFormat: format, after: range.beginExclusive };
  const start: UpdatesPosition = { ...bareOffset(range.beginExclusive), ...(backfill && { seen: [own] }) };
  const feed = feedFrom(start);
  const pastFeed: PastFeed = (updateFormat, position, endInclusive, use) =>
    createLedgerFeed(
      client,
      { updateFormat, beginExclusive: position.offset, endInclusive },
      use === 'handle' ? feedOptions : { ...feedOptions, onGap: 'fail', onUndecodable: 'emit' },
      undefined,
      reportWithout(report, 'FeedStarted', 'FeedEnded', 'CaughtUp', 'FellBehind'),
      { position, mustProve: true },
    );
  return {
    report,
    path: client.learned.updatesPath,
    maxPageSize: feed.maxPageSize,
    start$: defer(() => [start]),
    identity$: ledgerIdentity(feed),
    mayRelocate: feed.onOtherNode === 'relocate',
    onSelectionChange: options.onSelectionChange ?? 'fail',
    prove: ({ offset, lastUpdate, participantId, recordTimes }, seen) => {
      const position = { offset, lastUpdate, participantId, recordTimes };
      const shown = seen === undefined ? feed : pastFeed(seen, position, offset, 'compare');
      return placeOf(shown, position);
    },
    formerSelection: ({ seen }) => {
      // a store may return null for an absent field
      const last = Array.isArray(seen) ? (seen as readonly SeenSelection[]).at(-1) : undefined;
      return backfill && typeof last?.until !== 'number' ? last?.updateFormat : undefined;
    },
    mayContinueAfter: ({ seen }) => !backfill || Array.isArray(seen),
    position: UpdatesPosition,
    compare: backfill ? compareUpdates : (a, b) => a.offset - b.offset,
    batches: ({ offset, lastUpdate, participantId, recordTimes, seen }, ready$) =>
      defer(() => {
        const base: LedgerPosition = { offset, lastUpdate, participantId, recordTimes };
        const following$ = batches(feedFrom(base), ready$);
        // a store may return null for an absent field
        const before = Array.isArray(seen) ? (seen as readonly SeenSelection[]) : [own];
        if (!backfill) {
          if (typeof before.at(-1)?.until !== 'number') return following$.pipe(map((batch) => toBatch(batch)));
          throw new CursorError(
            'selection',
            name ?? '',
            'its backfill is not complete',
            'start it with backfill: true',
          );
        }
        const plan = planBackfill(before, own, offset);
        let known = plan.seen;
        const rest$ = following$.pipe(
          map((batch) => {
            if (batch.moved === 'elsewhere') known = known.map(asMoved);
            return toBatch(batch, known);
          }),
        );
        const past$ = plan.backfill === undefined ? EMPTY : readPast(pastFeed, plan.backfill, base, ready$);
        return concat(past$, rest$);
      }),
  };
}

/** Marks a selection of before a move to other offsets. That of the cursor moves with the feed. */
const asMoved = (seen: SeenSelection): SeenSelection => (seen.until === undefined ? seen : { ...seen, isMoved: true });

/** Adds to each update the position after it. */
function toBatch(
  { items, position, origin, isCaughtUp, isLast }: FeedBatch,
  seen?: readonly SeenSelection[],
): Batch<FeedEntry<Work, UpdatesPosition>, UpdatesPosition> {
  let reached = origin.before;
  const entries = items.map((update) => {
    reached = advance(reached, [update], origin.isAddressed);
    return { position: { ...reached, ...(seen && { seen }) }, content: update };
  });
  return { items: entries, position: { ...position, ...(seen && { seen }) }, isCaughtUp, isLast };
}

/** Reads the ID of the participant that a feed reads from, and hashes what its request selects. */
export const ledgerIdentity = (feed: UpdatesFeed): Observable<FeedIdentity> =>
  readParticipantId(feed.client).pipe(
    retryTransient(feed),
    map((participantId) => ({ participantId, selection: selectionHash(feed.request) })),
  );
