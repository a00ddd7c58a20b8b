import { concat, defer, map, type Observable, tap } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { updatesBody, UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { CursorError } from '../errors/process.js';
import { InvalidRequestError } from '../errors/request.js';
import type { FeedBatch } from '../feed/LedgerFeed.js';
import { createLedgerFeed, type UpdatesFeed, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { type Client, reportWithout } from '../client/Client.js';
import { placeOf } from '../feed/prove.js';
import { batches } from '../feed/updates.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance, joinTimes, type Batch } from '../history/positions.js';
import { readParticipantId } from '../history/participant.js';
import { validateRequest } from '../client/exchange.js';
import { retryTransient } from '../http/retry.js';
import { continueAfter, planBackfill } from './backfill/planBackfill.js';
import { type Proof, provenBy, proofsIn } from './backfill/provenBy.js';
import { type PastFeed, readPast } from './backfill/readPast.js';
import { compareUpdates, type SeenSelection, UpdatesPosition, withoutNulls } from './backfill/UpdatesPosition.js';
import type { FeedEntry, FeedIdentity, FeedReader, FeedRun } from './Feed.js';
import type { Work } from './ProcessOptions.js';
import { selectionHash } from './selectionHash.js';

/** Reads the updates of a ledger for one run of a processor, in ascending order, by polls. */
export function openUpdatesReader(
  client: Client,
  request: UpdatesRequest,
  options: UpdatesFeedOptions,
  { name, emitUndecoded }: FeedRun,
): FeedReader<Work, UpdatesPosition> {
  const range = validateRequest(UpdatesRequest, request);
  if (range.descendingOrder === true)
    throw new InvalidRequestError([{ path: 'descendingOrder', expected: 'false for a processor' }]);
  const { backfill = false } = options;
  const feedOptions = {
    ...options,
    transport: 'http',
    parallelRanges: 1,
    onUndecodable: emitUndecoded ? 'emit' : 'fail',
  } as const;
  const report = client.reportForNewFeed(name);
  const feedFrom = (position: LedgerPosition, completeAfter?: Offset) => {
    const { endInclusive } = range;
    const { offset: beginExclusive } = position;
    const rest = {
      ...range,
      beginExclusive,
      ...(typeof endInclusive === 'number' && { endInclusive: Math.max(endInclusive, beginExclusive) }),
    };
    // the processor reports the end of the run
    const ownReport = reportWithout(report, 'FeedEnded');
    const known = { position, mustProve: true, ...(completeAfter !== undefined && { completeAfter }) };
    return createLedgerFeed(client, rest, feedOptions, undefined, ownReport, known);
  };
  const pastFeed: PastFeed = (updateFormat, position, endInclusive, use) =>
    createLedgerFeed(
      client,
      { updateFormat, beginExclusive: position.offset, endInclusive },
      use === 'handle' ? feedOptions : { ...feedOptions, onGap: 'fail', onUndecodable: 'emit' },
      undefined,
      reportWithout(report, 'FeedStarted', 'FeedEnded', 'CaughtUp', 'FellBehind'),
      // offsets say what was handled, so a past is not read again from an earlier one
      { position, mustProve: true, completeAfter: Infinity },
    );
  const updateFormat = updatesBody(range, { beginExclusive: 0 }, '/v2/updates').updateFormat ?? {};
  const own: SeenSelection = { updateFormat, after: range.beginExclusive };
  const start: UpdatesPosition = { ...bareOffset(range.beginExclusive), ...(backfill && { seen: [own] }) };
  // it proves positions that another selection may have read
  const feed = feedFrom(start, Infinity);
  const prove = ({ position, updateFormat: by }: Proof) =>
    placeOf(by === undefined ? feed : pastFeed(by, position, position.offset, 'compare'), position);
  /** Reads what is after a position, of which the past is complete. */
  const follow = (base: UpdatesPosition, ready$: Observable<unknown>) => {
    const { offset, lastUpdate, participantId, rewoundFrom } = base;
    const before = base.seen ?? [own];
    const plan = backfill ? planBackfill(before, own, offset) : undefined;
    let seen = plan?.seen;
    /** Adds what was seen, and what shows that the ledger is the same until an update does. */
    const positionOf = (position: LedgerPosition): UpdatesPosition =>
      position.lastUpdate === undefined
        ? { ...position, ...(rewoundFrom && { rewoundFrom }), ...(plan && { seen: plan.withProof }) }
        : { ...position, ...(seen && { seen }) };
    const recordTimes = joinTimes(base.recordTimes, before.at(-1)?.recordTimes ?? {});
    const batch$ = batches(feedFrom({ offset, lastUpdate, participantId, recordTimes }), ready$).pipe(
      map((batch) => {
        if (batch.moved === 'elsewhere') seen = seen?.map(asMoved);
        return toBatch(batch, positionOf);
      }),
    );
    const proofs = lastUpdate ? [] : proofsIn({ ...base, seen: plan?.withProof });
    return batch$.pipe(provenBy(proofs, prove, ({ lastUpdate }) => lastUpdate !== undefined));
  };
  return {
    report,
    path: client.learned.updatesPath,
    maxPageSize: feed.maxPageSize,
    start$: defer(() => [start]),
    identity$: ledgerIdentity(feed),
    mayRelocate: feed.onOtherNode === 'relocate',
    ...(options.onSelectionChange === 'continue' && {
      continueAfter: (cursor) => continueAfter(withoutNulls(cursor), backfill ? updateFormat : undefined),
    }),
    prove: ({ offset, lastUpdate, participantId, recordTimes }) =>
      prove({ position: { offset, lastUpdate, participantId, recordTimes } }),
    position: UpdatesPosition,
    compare: backfill ? compareUpdates : (a, b) => a.offset - b.offset,
    batches: (cursor, ready$) =>
      defer(() => {
        const { offset, lastUpdate, participantId, recordTimes, rewoundFrom, seen } = withoutNulls(cursor);
        const base: UpdatesPosition = { offset, lastUpdate, participantId, recordTimes, rewoundFrom, seen };
        // nothing before the last update would be read again, whoever has set the offset back
        if (lastUpdate !== undefined && lastUpdate.offset > offset)
          throw new CursorError(
            'unreadable',
            name ?? '',
            `its last update, at offset ${lastUpdate.offset}, is after its offset ${offset}`,
            'set the offset back to that of before; `canton-rx processors rewind` moves a cursor back',
          );
        if (!backfill) {
          if (seen?.at(-1)?.until === undefined) return follow(base, ready$);
          throw new CursorError(
            'selection',
            name ?? '',
            'its backfill is not complete',
            'start it with backfill: true',
          );
        }
        const { backfill: past } = planBackfill(seen ?? [own], own, offset);
        if (past === undefined) return follow(base, ready$);
        let reached = base;
        const past$ = readPast(pastFeed, past, base, ready$).pipe(
          tap(({ position }) => {
            reached = position;
          }),
          provenBy(proofsIn(base), prove),
        );
        return concat(
          past$,
          defer(() => follow(reached, ready$)),
        );
      }),
  };
}

/** Marks a selection of before a move to other offsets. That of the cursor moves with the feed. */
const asMoved = (seen: SeenSelection): SeenSelection => (seen.until === undefined ? seen : { ...seen, isMoved: true });

/** Adds to each update the position after it. */
function toBatch(
  { items, position, origin, isCaughtUp, isLast }: FeedBatch,
  positionOf: (position: LedgerPosition) => UpdatesPosition,
): Batch<FeedEntry<Work, UpdatesPosition>, UpdatesPosition> {
  let reached = origin.before;
  const entries = items.map((update) => {
    reached = advance(reached, [update], origin.isAddressed);
    return { position: positionOf(reached), content: update };
  });
  return { items: entries, position: positionOf(position), isCaughtUp, isLast };
}

/** Reads the ID of the participant that a feed reads from, and hashes what its request selects. */
export const ledgerIdentity = (feed: UpdatesFeed): Observable<FeedIdentity> =>
  readParticipantId(feed.client).pipe(
    retryTransient(feed),
    map((participantId) => ({ participantId, selection: selectionHash(feed.request) })),
  );

/**
 * Options of `updatesFeed`.
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
 * The updates that `updatesFeed` reads, and where it begins without a cursor. A cursor is the offset up to which all is
 * committed, so the order is always ascending.
 *
 * @category Processing
 */
export type UpdatesFeedRequest = UpdatesRequest & {
  /** Only ascending. */
  readonly descendingOrder?: false | null | undefined;
};
