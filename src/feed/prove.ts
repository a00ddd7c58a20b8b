import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  ignoreElements,
  map,
  type Observable,
  of,
  type OperatorFunction,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import { UpdateElement } from '../codecs/Update.js';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import type { HistoryReader } from '../history/HistoryReader.js';
import { advance, idOf, type LedgerPosition } from '../history/LedgerPosition.js';
import { locate, type Place } from '../history/locate.js';
import { isUnavailable, readParticipantId } from '../history/participant.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { jitter, retryTransient } from '../http/retry.js';
import type { AnyFeed, Position, Step } from './LedgerFeed.js';
import type { FeedElement, Page, Range } from './Page.js';
import { catchUpOrPoll, ledgerEnd, unknownDensity } from './ledgerEnd.js';
import { isEndBeforeCursor, isProofNear, noteOutage, requestPage, resetIfBeyondEnd } from './pageRequest.js';
import { reportWithout } from './Service.js';

/**
 * Emits each step of a feed that is certainly of its ledger. After an outage, or if a page does not begin with the last
 * update, first finds the position of the feed on the participant that answers now, and goes on from there. Nothing of another
 * ledger is emitted: fails with a `LedgerResetError`, also if that one is pruned.
 */
export const proveSteps =
  <A extends FeedElement>(feed: AnyFeed, position: Position): OperatorFunction<Step<A>, Step<A>> =>
  (source) =>
    source.pipe(
      concatMap((step) => proveStep(feed, position, step)),
      catchError((error: unknown) => {
        const { history } = feed;
        const isEnd = isEndBeforeCursor(error);
        if (isEnd) history.interrupted();
        if (!isEnd && !(history.isDoubtful && isLedgerError(error, 'PrunedError'))) throw error;
        return findPlace(feed).pipe(
          concatMap((place): Observable<Step<A>> => {
            const resumed = resumeAt(feed, position, place);
            if (resumed !== undefined) return afterMove(feed, resumed);
            return isEnd ? askAgain(feed, position) : throwError(() => error);
          }),
        );
      }),
    );

function proveStep<A extends FeedElement>(feed: AnyFeed, position: Position, step: Step<A>): Observable<Step<A>> {
  const { history } = feed;
  const proves = step.page?.proves;
  if (proves === 'yes') history.confirmed();
  if (proves === 'no') history.interrupted();
  if (!history.isDoubtful) return of(step);
  return findPlace(feed).pipe(
    concatMap((place) => {
      // a page that begins with the last update has everything after it
      const isComplete = proves === 'yes' && place._tag === 'Here' && history.isAddressed;
      const resumed = isComplete ? undefined : resumeAt(feed, position, place);
      if (resumed !== undefined) return afterMove(feed, resumed);
      return proves === 'no' ? askAgain(feed, position) : of(step);
    }),
  );
}

/** Finds the position of a feed on the participant that answers. Waits for a ledger that ends before it. */
const findPlace = (feed: AnyFeed): Observable<Place> =>
  defer(() => {
    const { history } = feed;
    const { outages } = history;
    return locate(historyOf(feed), history.position, feed.onOtherNode === 'relocate').pipe(
      map((place) => {
        history.proven(outages);
        if (place._tag === 'Here') history.leaveOutRead();
        if (place._tag === 'Here' && !place.isProven && history.unproven())
          feed.report(() => ({ _tag: 'LedgerUnproven', cursor: history.cursor }));
        return place;
      }),
    );
  }).pipe(retryTransient(feed));

/** Returns a step from where the feed goes on; `undefined` if that is its cursor. */
function resumeAt(feed: AnyFeed, position: Position, place: Place): Step<never> | undefined {
  const { history, request, report } = feed;
  const { cursor } = position;
  const { participantId } = history.position;
  const isBounded = typeof request.endInclusive === 'number';
  if (place._tag === 'Here') {
    const { after = history.position.offset } = place;
    // a completion that was rejected has no ID, and would be emitted again
    const isAhead = after < cursor && request.descendingOrder !== true && feed.source.hasEnd;
    if (!isAhead && history.isAddressed) return undefined;
    // back from other offsets, before what was read had been passed there
    const moved = history.isAddressed ? 'back' : 'elsewhere';
    history.goOnAfter(after);
    const to = addressOf(after, participantId);
    report(() => ({ _tag: 'PositionMoved', reason: 'outage', from: addressOf(cursor, participantId), to }));
    return startAgain(feed, position, after, moved);
  }
  // its end is an offset of before
  if (isBounded) throw new LedgerResetError(cursor, undefined, 'its updates are at other offsets now');
  history.moveTo(place);
  const reason = participantId === place.participantId ? 'restored' : 'relocated';
  const to = addressOf(place.start, place.participantId);
  report(() => ({ _tag: 'PositionMoved', reason, from: addressOf(cursor, participantId), to }));
  return startAgain(feed, position, place.start, 'elsewhere');
}

const addressOf = (offset: Offset, participantId: string | undefined): DiagnosticOf<'PositionMoved'>['from'] => ({
  offset,
  ...(participantId !== undefined && { participantId }),
});

const startAgain = (feed: AnyFeed, position: Position, cursor: Offset, moved: Step['moved']): Step<never> => ({
  position: {
    ...position,
    ...unknownDensity,
    cursor,
    next: catchUpOrPoll(feed),
    target: feed.request.endInclusive ?? cursor,
    prefetched: [],
    ledgerEndReadAt: 0,
  },
  ...(moved !== undefined && { moved }),
});

/** The shortest delay before a request whose answer contradicts the ledger is sent again, in milliseconds. */
const minDelayMs = 50;

/** Sends a request again whose answer contradicts what the ledger has just proven. */
const askAgain = (feed: AnyFeed, position: Position): Observable<Step<never>> =>
  timer(delayAfterContradiction(feed, 0)).pipe(map(() => ({ position: { ...position, prefetched: [] } })));

/** Emits a step at other offsets: at once, unless the feed has just come from others. */
const afterMove = (feed: AnyFeed, step: Step<never>): Observable<Step<never>> => {
  if (step.moved !== 'elsewhere') return of(step);
  const delayMs = delayAfterContradiction(feed, 1);
  return delayMs === 0 ? of(step) : timer(delayMs).pipe(map(() => step));
};

/**
 * Returns how long to wait after an answer that contradicts the ones before, in milliseconds: several participants may answer
 * in turn. Fails when that has lasted too long.
 *
 * @param free - how many in a row cause no delay
 */
function delayAfterContradiction({ history, retry }: AnyFeed, free: number): number {
  const { count, forMs } = history.contradicted();
  if (forMs > retry.giveUpAfterMs)
    throw new LedgerResetError(history.position.offset, undefined, 'several participants answer in turn');
  return count <= free ? 0 : minDelayMs + jitter(count, retry);
}

/** Emits whether the ledger has the update of a contract at its offset; `undefined` if it is pruned, or if there is no contract. */
export const hasContract = (
  feed: AnyFeed,
  contract: { readonly offset: Offset; readonly contractId: string } | undefined,
): Observable<boolean | undefined> =>
  contract === undefined
    ? of(undefined)
    : historyOf(feed)
        .read(contract.offset - 1, contract.offset, 1)
        .pipe(
          map((read) =>
            read.some(({ _tag }) => _tag === 'UndecodedUpdate') ? undefined : read.some(concerns(contract.contractId)),
          ),
          retryTransient(feed, (error) => !isEndBeforeCursor(error)),
          catchError((error: unknown) => {
            if (isLedgerError(error, 'PrunedError')) return of(undefined);
            if (isEndBeforeCursor(error)) return of(false);
            throw error;
          }),
        );

/** Whether an update creates or assigns a contract. */
const concerns =
  (contractId: string) =>
  (update: object): boolean =>
    'events' in update &&
    Array.isArray(update.events) &&
    update.events.some((event: object) => {
      const created: object = 'createdEvent' in event ? (event.createdEvent as object) : event;
      return 'contractId' in created && created.contractId === contractId;
    });

/** Emits whether the ledger has the last update of a page at its offset. Without such an update, that is unknown. */
export const hasLastOf = (feed: AnyFeed, { updates }: Page<FeedElement>): Observable<boolean> => {
  const last = updates.findLast((update) => idOf(update) !== undefined);
  if (last === undefined) return of(false);
  return historyOf(feed)
    .read(last.offset - 1, last.offset, 1)
    .pipe(
      map((read) => read.some((update) => idOf(update) === idOf(last))),
      catchError((error: unknown) => {
        if (isEndBeforeCursor(error) || isLedgerError(error, 'PrunedError')) return of(false);
        throw error;
      }),
    );
};

/**
 * Finds a position on the participant that answers, before a feed begins there. Waits for a ledger that ends before it.
 *
 * @param feed - any feed with the same request
 */
export const placeOf = (feed: AnyFeed, position: LedgerPosition): Observable<Place> =>
  locate(historyOf(feed), position, feed.onOtherNode === 'relocate').pipe(retryTransient(feed));

/** In how many updates before an offset the last one of each synchronizer is looked for. */
const maxLastUpdates = 50;

/** How many pages are read up to an offset where a participant cannot read downward. */
const maxPagesUp = 10;

/** The offset of a snapshot, and an offset before the last update that is known to be in it. */
interface SnapshotOffset extends Pick<LedgerPosition, 'offset' | 'participantId'> {
  readonly begin: Offset;
}

/**
 * Emits the position at an offset of a ledger of which nothing was read so far: with the last updates of the request, as far as
 * the participant can show them.
 */
export const positionAt = (
  feed: AnyFeed,
  { offset, participantId, begin }: SnapshotOffset,
): Observable<LedgerPosition> => {
  const none: LedgerPosition = { offset, participantId, recordTimes: {}, lastUpdate: undefined };
  const report = reportWithout(feed.report, 'PollSent', 'PageReceived');
  const readPage = (range: Range, limit: number): Observable<Page<FeedElement>> => {
    const request = { ...feed.request, ...range } as AnyFeed['request'];
    return requestPage({ ...feed, request, report, onUndecodable: 'emit' }, range, { limit, isProof: true });
  };
  const limit = Math.min(maxLastUpdates, Math.max(2, feed.maxPageSize));
  const down = (beginExclusive: Offset): Observable<LedgerPosition> =>
    readPage({ beginExclusive, endInclusive: offset, descendingOrder: true }, limit).pipe(
      concatMap(({ updates, failure }) =>
        failure === undefined ? of({ ...advance(none, [...updates].reverse()), offset }) : up(),
      ),
    );
  // a participant before 3.5 ignores the order
  const up = (): Observable<LedgerPosition> => {
    const next = (beginExclusive: Offset) =>
      readPage({ beginExclusive, endInclusive: offset }, feed.maxPageSize).pipe(
        map((page) => ({ page, isLast: page.count === 0 || page.last >= offset || page.failure !== undefined })),
      );
    return next(begin).pipe(
      expand(({ page, isLast }, index) => (isLast || index === maxPagesUp ? EMPTY : next(page.last))),
      toArray(),
      map((pages) =>
        pages.at(-1)?.isLast === true && pages.every(({ page }) => page.failure === undefined)
          ? {
              ...advance(
                none,
                pages.flatMap(({ page }) => page.updates),
              ),
              offset,
            }
          : none,
      ),
    );
  };
  if (offset === 0) return of(none);
  return down(0).pipe(
    catchError((error: unknown) => {
      const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
      if (earliest === undefined || earliest >= offset) throw error;
      return down(earliest);
    }),
    retryTransient(feed),
    catchError((error: unknown) => {
      // pruned, or an order that the participant refuses, or two updates are too large for a page
      const isUnreadable = isLedgerError(error, 'PrunedError', 'PageLimitError');
      if (isUnreadable || (isLedgerError(error, 'ApiError') && !isTransient(error))) return of(none);
      throw error;
    }),
  );
};

/** What the participant shows of its history to the requests of a feed. */
function historyOf(feed: AnyFeed): HistoryReader {
  const { service, source, history } = feed;
  const report = reportWithout(feed.report, 'PollSent', 'PageReceived');
  return {
    isSearchable: source.hasEnd,
    participantId$: readParticipantId(service.link),
    ledgerEnd$: ledgerEnd(service.link).pipe(
      catchError((error: unknown) => {
        if (isUnavailable(error)) return of(undefined);
        throw error;
      }),
    ),
    read: (beginExclusive, endInclusive, limit) => {
      // the range may be after the end of the request; a participant that was upgraded may send what does not decode
      const request = { ...feed.request, endInclusive, descendingOrder: false };
      const range = { beginExclusive, endInclusive };
      return requestPage({ ...feed, request, report, onUndecodable: 'emit' }, range, { limit, isProof: true }).pipe(
        map(({ updates, failure }) => {
          if (failure !== undefined) throw failure;
          return updates;
        }),
        resetIfBeyondEnd(history.position.offset),
      );
    },
    offsetOf: (updateId) => {
      if (source.lookUp === undefined) return of(undefined);
      const path = '/v2/updates/update-by-id';
      const body = source.lookUp(updateId);
      return exchange(service.link, { method: 'POST', path, body }, decodeWith(path, UpdateElement)).pipe(
        map(({ offset }) => offset),
        catchError((error: unknown) => {
          // unknown, not visible or pruned; or the participant does not serve the path
          if (isLedgerError(error) && !isTransient(error)) return of(undefined);
          throw error;
        }),
      );
    },
  };
}

/** How long a feed waits for the ID of the participant before a poll, in milliseconds. */
const participantTimeoutMs = 5_000;

/**
 * Reads the ID of the participant before a poll, if it is not known; and from time to time, if the poll cannot begin with the
 * last update. If it has changed, the feed is in doubt.
 */
export const learnParticipant = (feed: AnyFeed): Observable<never> =>
  defer(() => {
    const { service, history } = feed;
    if (history.isDoubtful || !history.mustReadParticipant(isProofNear(feed))) return EMPTY;
    return readParticipantId(service.link, participantTimeoutMs).pipe(
      noteOutage(feed),
      map((participantId) => {
        history.participantIs(participantId);
      }),
      ignoreElements(),
      catchError((error: unknown) => {
        // after a passing failure, the next poll tries again, unless it would wait again; a gateway may block the path
        const isPassing = isLedgerError(error) && isTransient(error) && error._tag !== 'RequestTimeoutError';
        if (!isPassing) history.participantIs(undefined);
        return EMPTY;
      }),
    );
  });
